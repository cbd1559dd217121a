import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Carries bytes between a program and a server; a test makes it the network that fails. */
export interface Relay extends AsyncDisposable {
  readonly url: string;
  /** Connections that were made so far. */
  readonly accepted: () => number;
  /** Connections that are open now. */
  readonly open: () => number;
  /** Ends every connection and takes no new ones: the server is out of reach. */
  cut(): void;
  /** Ends every connection; new ones are taken. */
  reset(): void;
  /** Keeps every connection open and carries nothing over those there are now. */
  freeze(): void;
  /** The network works again, for new connections. */
  heal(): void;
}

export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const pairs = new Set<Pair>();
  let isCut = false;
  let accepted = 0;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    accepted++;
    const pair = new Pair(near, connect(Number(port || '443'), hostname));
    pairs.add(pair);
    near.on('close', () => pairs.delete(pair));
  });
  const reset = (): void => {
    for (const pair of pairs) pair.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${own}`,
    accepted: () => accepted,
    open: () => pairs.size,
    cut: () => {
      isCut = true;
      reset();
    },
    reset,
    freeze: () => {
      for (const pair of pairs) pair.isFrozen = true;
    },
    heal: () => void (isCut = false),
    [Symbol.asyncDispose]: async () => {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The two halves of a connection. */
class Pair {
  readonly #near: Socket;
  readonly #far: Socket;
  isFrozen = false;

  constructor(near: Socket, far: Socket) {
    this.#near = near;
    this.#far = far;
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => {});
      from.on('data', (bytes) => this.isFrozen || to.write(bytes));
      from.on('close', () => to.destroy());
    }
  }

  destroy(): void {
    this.#near.destroy();
    this.#far.destroy();
  }
}
