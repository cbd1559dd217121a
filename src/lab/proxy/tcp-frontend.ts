import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { AddressPlan } from '../address/address-plan.ts';
import { dial } from '../tcp/dial.ts';
import { reset } from '../tcp/reset.ts';
import { splice } from '../tcp/splice.ts';
import { BackendChoice } from './backend-choice.ts';
import type { Listening } from './listener-set.ts';
import type { Frontend } from './service-frontends.ts';

/** A backend that does not take a connection within so much real time does not take it at all. */
const CONNECT_MS = 10_000;
/** Connections of one place at once; further ones are closed. Each takes two sockets of this process. */
const MOST_CONNECTIONS = 4096;

export interface FrontendTools {
  readonly plan: AddressPlan;
  /** Lab time. */
  readonly clock: Clock;
  readonly real: Clock;
  readonly log: Log;
  /** The node of whoever has this address, if anybody. */
  readonly nodeAt: (wire: string) => string | undefined;
  /** All connections, for the end. Each leaves it when it is closed. */
  readonly sockets: Set<Socket>;
  readonly signal: AbortSignal;
}

/** One place of a service over TCP. Connections go on when it is closed, or led elsewhere: a network forgets none. */
export class TcpFrontend implements Listening<Frontend> {
  readonly #tools: FrontendTools;
  readonly #server: Server;
  readonly #choice: BackendChoice;
  #frontend: Frontend;

  private constructor(frontend: Frontend, tools: FrontendTools) {
    this.#frontend = frontend;
    this.#tools = tools;
    this.#choice = new BackendChoice(tools.clock);
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true });
    this.#server.maxConnections = MOST_CONNECTIONS;
    this.#server.on('connection', (socket) => void this.#serve(socket));
  }

  static async open(frontend: Frontend, tools: FrontendTools): Promise<TcpFrontend> {
    const opened = new TcpFrontend(frontend, tools);
    await tools.plan.listen(opened.#server, frontend.at);
    opened.#server.on('error', (error) => tools.log.warn({ err: error }, 'A listener of a service failed'));
    return opened;
  }

  update(frontend: Frontend): void {
    this.#frontend = frontend;
  }

  /** No new connections. Does not wait for those that are open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
  }

  async #serve(client: Socket): Promise<void> {
    this.#track(client);
    const backend = await this.#dial(client);
    if (backend === undefined) {
      if (!client.destroyed) reset(client);
      return;
    }
    this.#track(backend);
    await splice(client, backend);
  }

  async #dial(client: Socket): Promise<Socket | undefined> {
    const { plan, real, signal, log, nodeAt } = this.#tools;
    const { remoteAddress: address = '' } = client;
    const frontend = this.#frontend;
    const backend = this.#choice.choose(frontend, { address, node: nodeAt(address) });
    if (backend === undefined) return undefined;
    try {
      const target = plan.target(backend);
      return await dial(target, { real, timeoutMs: CONNECT_MS, signal, ...sourceOf(frontend, address, plan) });
    } catch (error) {
      const { service } = frontend;
      log.debug(
        { service, backend: `${backend.host}:${backend.port}`, err: messageOf(error) },
        'Lost a connection',
      );
      return undefined;
    }
  }

  #track(socket: Socket): void {
    const { sockets } = this.#tools;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  }
}

/** Whom the backend sees: the client itself, or the node that anybody may come in by. */
function sourceOf(
  { node, isLocal }: Frontend,
  client: string,
  plan: AddressPlan,
): { readonly localAddress?: string } {
  // There all addresses are one.
  if (plan.mode === 'ports') return {};
  const source = node === undefined || isLocal ? client : node.address.wire;
  return plan.owns(source) || source.startsWith('127.') ? { localAddress: source } : {};
}
