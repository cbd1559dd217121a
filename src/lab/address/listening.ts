import type { Server } from 'node:net';
import type { Endpoint } from './address-plan.ts';

/** Resolves when the server listens there; rejects with what the kernel says. */
export function listening(server: Server, { host, port }: Endpoint): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      server.off('error', onError);
      server.off('listening', onListening);
      done();
    };
    const onError = (error: Error) => settle(() => reject(error));
    const onListening = () => settle(resolve);
    server.once('error', onError);
    server.once('listening', onListening);
    // Alone: a worker of a cluster would otherwise share what its primary listens on.
    server.listen({ host, port, exclusive: true });
  });
}

/** Such as EADDRINUSE. */
export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
