import type { Socket } from 'node:net';
import { reset } from './reset.ts';

/**
 * Carries bytes between two connections, both ways, until both are closed; then resolves, and never rejects. Each way
 * ends by itself (half-close), a slow reader slows the writer on the other side, and a connection that breaks takes the
 * other one with it as a reset. Nothing of either may have been read before.
 */
export async function splice(client: Socket, backend: Socket): Promise<void> {
  const closed = Promise.all([passOnEnd(client, backend), passOnEnd(backend, client)]);
  for (const side of [client, backend]) side.allowHalfOpen = true;
  // Streams of Node hold at most 64 KiB each way; the rest waits in the kernel, and then at whoever sends it.
  client.pipe(backend);
  backend.pipe(client);
  await closed;
}

/** Resolves when `side` is closed, and has told `other` how. */
function passOnEnd(side: Socket, other: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const onClose = () => {
    const isInOrder = side.readableEnded && side.writableFinished;
    if (!isInOrder && !other.destroyed) reset(other);
    resolve();
  };
  // What went wrong shows in how it was closed.
  side.on('error', () => {});
  if (side.closed) onClose();
  else side.once('close', onClose);
  return promise;
}
