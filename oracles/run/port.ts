import { once } from 'node:events';
import { createServer } from 'node:net';
import { StartFailure } from './process.ts';

/** Another program may take a port between our look and its start; five times in a row is no accident (oracles/P2). */
const ATTEMPTS = 5;

export type PickPort = () => Promise<number>;

/** A loopback port that was free a moment ago. */
export const freePort: PickPort = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a listening TCP server has no port');
  return address.port;
};

/** Starts something on a free port; picks another one when that was taken meanwhile. Other failures are final. */
export async function withFreePort<T>(pickPort: PickPort, start: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await pickPort());
    } catch (error) {
      if (!(error instanceof StartFailure && error.isPortTaken) || attempt === ATTEMPTS) throw error;
    }
  }
}
