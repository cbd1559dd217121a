import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { userError } from '../base/errors.ts';

/**
 * Removes a socket at which nobody listens any more, as a killed program leaves it. Rejects with a user error when
 * somebody listens there, and when something else is there, which is never removed.
 */
export async function removeAbandonedSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(whenMissing);
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw userError('SocketPathTaken', `${path} is there and is no socket; remove it, or choose another path`);
  }
  if (await isAnswered(path)) {
    throw userError('SocketPathTaken', `another program listens at ${path}; stop it, or choose another path`);
  }
  await unlink(path).catch(whenMissing);
}

/** A connection to a Unix socket succeeds or fails at once: there is nothing to wait for. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      const code = codeOf(error);
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve(false);
      // Somebody is behind with accepting.
      else if (code === 'EAGAIN') resolve(true);
      else reject(error);
    });
  });
}

function whenMissing(error: unknown): undefined {
  if (codeOf(error) === 'ENOENT') return undefined;
  throw error;
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
