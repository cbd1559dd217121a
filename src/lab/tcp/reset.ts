import type { Socket } from 'node:net';

/**
 * Breaks a connection off, so that the other side sees that it did not end in order. One whose end is just being sent is
 * closed instead: Node cannot reset that, and would leave it open for ever.
 */
export function reset(socket: Socket): void {
  const isEnding = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isEnding) socket.destroy();
  else socket.resetAndDestroy();
}

/** Resets a connection, and resolves when it is closed: nobody should wait for an answer that does not come. */
export function brokenOff(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (socket.closed) resolve();
  else socket.once('close', () => resolve());
  reset(socket);
  return promise;
}
