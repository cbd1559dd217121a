import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { SystemClock, VirtualClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import type { Endpoint } from '../../src/lab/address/address-plan.ts';
import { toApi, toWire } from '../../src/lab/address/address-scheme.ts';
import { listening } from '../../src/lab/address/listening.ts';
import type { BalancerConfig } from '../../src/lab/cloud/load-balancers/balancer-config.ts';
import type { BalancerSurroundings } from '../../src/lab/cloud/load-balancers/balancer-surroundings.ts';
import { type Balancers, startBalancers } from '../../src/lab/cloud/load-balancers/start-balancers.ts';
import { until } from './scratch.ts';

const SCHEME = { octet: 9, mode: 'loopback' } as const;

/** Of a lab whose octet is 9, which no lab takes. */
export const balancerNetwork: BalancerSurroundings['network'] = {
  mode: 'loopback',
  listen: (server, { host, port }) => listening(server, { host: toWire(SCHEME, host), port }),
  target: ({ host, port }) => ({ host: toWire(SCHEME, host), port }),
  toWire: (address) => toWire(SCHEME, address),
  toApi: (address) => toApi(SCHEME, address),
};

/** Balancers on a clock that the test moves; targets are named by their addresses. */
export class BalancerWorld implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly balancers: Balancers;
  readonly #holds: Set<string>;

  private constructor(clock: VirtualClock, balancers: Balancers, holds: Set<string>) {
    this.clock = clock;
    this.balancers = balancers;
    this.#holds = holds;
  }

  static async start(overrides: Partial<BalancerSurroundings> = {}): Promise<BalancerWorld> {
    const clock = new VirtualClock();
    const holds = new Set<string>();
    let number = 0;
    const hold = (reason: string) => {
      const name = `${++number} ${reason}`;
      holds.add(name);
      return { [Symbol.dispose]: () => void holds.delete(name) };
    };
    const balancers = await startBalancers({
      network: balancerNetwork,
      addressOf: (target) => target,
      clock,
      real: new SystemClock(),
      hold,
      log: SILENT_LOG,
      ...overrides,
    });
    return new BalancerWorld(clock, balancers, holds);
  }

  /** Resolves when no health check is under way. */
  async settle(): Promise<void> {
    await until(() => this.#holds.size === 0, 'no health check is under way', 10_000);
  }

  /** Lets lab time pass, second by second, each with all that it brings. */
  async pass(seconds: number): Promise<void> {
    await this.settle();
    for (let second = 0; second < seconds; second++) {
      await this.clock.advance(1000);
      await this.settle();
    }
  }

  /** Applies, and waits until healthy targets are known to be. */
  async applyAndCheck(name: string, config: BalancerConfig): Promise<void> {
    await this.balancers.apply(name, config);
    await this.pass(5);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.balancers[Symbol.asyncDispose]();
  }
}

export const balancerConfig = (
  config: Pick<BalancerConfig, 'address' | 'listeners' | 'targets'> & Partial<BalancerConfig>,
): BalancerConfig => ({
  healthCheck: {
    protocol: 'tcp',
    path: '/healthz',
    intervalSeconds: 5,
    timeoutSeconds: 2,
    healthyThreshold: 2,
    unhealthyThreshold: 2,
  },
  sourceRanges: [],
  idleTimeoutSeconds: 350,
  drainSeconds: 30,
  failOpen: false,
  ...config,
});

/** A program behind a balancer. Disposed, it is gone with all its connections. */
export class Backend implements AsyncDisposable {
  readonly #server: Server;
  readonly sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async listen(server: Server, at: Endpoint): Promise<Backend> {
    const backend = new Backend(server);
    await listening(server, at);
    return backend;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    if (this.#server.listening) await once(this.#server, 'close');
  }
}

/** Tells each client who it is, and says everything after it again. */
export const echoServer = (name: string): Server =>
  createServer({ allowHalfOpen: true }, (socket) => {
    socket.write(`${name}\n`);
    socket.pipe(socket);
  });

/** A client that has heard from its backend. */
export interface GreetedClient {
  readonly socket: Socket;
  /** The first line; undefined for a client that was turned away. */
  readonly greeting: string | undefined;
  readonly closed: Promise<unknown>;
}

/** Connects, and waits for the first line or the end. */
export async function greeted(at: Endpoint, localAddress?: string): Promise<GreetedClient> {
  const socket = connect({ ...at, noDelay: true, ...(localAddress !== undefined && { localAddress }) });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  let text = '';
  const line = new Promise<string>((resolve) => {
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString('latin1');
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
  });
  return { socket, greeting: await Promise.race([line, closed.then(() => undefined)]), closed };
}

/** Where one learns what is free; nothing listens there any more. */
export async function freePort(host: string): Promise<number> {
  await using server = createServer();
  await listening(server, { host, port: 0 });
  return (server.address() as AddressInfo).port;
}
