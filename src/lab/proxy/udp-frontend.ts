import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { userError } from '../../base/errors.ts';
import { BackendChoice } from './backend-choice.ts';
import type { Listening } from './listener-set.ts';
import type { Backend, Frontend } from './service-frontends.ts';
import type { FrontendTools } from './tcp-frontend.ts';

/** A client that is silent for so much real time is forgotten, as connection tracking does it. */
const SILENCE_MS = 30_000;
/** Clients at once; the packets of further ones are dropped. */
const MOST_CLIENTS = 1024;

/** What one client and its backend say to each other. */
interface Talk {
  readonly socket: Socket;
  readonly backend: Backend;
  silence: Disposable;
}

/** One place of a service over UDP: each client gets a socket of its own, so that answers find their way. */
export class UdpFrontend implements Listening<Frontend> {
  readonly #tools: FrontendTools;
  readonly #socket = createSocket('udp4');
  readonly #choice: BackendChoice;
  /** By address and port of the client; entries end with their silence. */
  readonly #talks = new Map<string, Talk>();
  #frontend: Frontend;

  private constructor(frontend: Frontend, tools: FrontendTools) {
    this.#frontend = frontend;
    this.#tools = tools;
    this.#choice = new BackendChoice(tools.clock);
    this.#socket.on('message', (packet, from) => this.#take(packet, from));
  }

  static async open(frontend: Frontend, tools: FrontendTools): Promise<UdpFrontend> {
    const { plan, log } = tools;
    if (plan.mode === 'ports')
      throw userError('NoUdp', 'services over UDP need an address of their own, which this network does not have');
    const opened = new UdpFrontend(frontend, tools);
    const { host, port } = plan.target(frontend.at);
    opened.#socket.bind({ address: host, port, exclusive: true });
    await once(opened.#socket, 'listening').catch((error: unknown) => {
      opened.#socket.close();
      throw error;
    });
    opened.#socket.on('error', (error) => log.warn({ err: error }, 'A listener of a service failed'));
    return opened;
  }

  /** Clients of backends that serve nobody any more are led elsewhere: they notice nothing otherwise. */
  update(frontend: Frontend): void {
    this.#frontend = frontend;
    const serving = frontend.backends.filter(({ isReady, isLastResort }) => isReady || isLastResort);
    const places = new Set(serving.map(placeOf));
    for (const [client, { backend }] of this.#talks) if (!places.has(placeOf(backend))) this.#end(client);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#talks.keys()) this.#end(client);
    this.#socket.close();
  }

  #take(packet: Buffer, from: RemoteInfo): void {
    const client = `${from.address}:${from.port}`;
    const talk = this.#talks.get(client) ?? this.#begin(client, from);
    if (talk === undefined) return;
    this.#hear(client, talk);
    const { host, port } = this.#tools.plan.target(talk.backend);
    talk.socket.send(packet, port, host);
  }

  #begin(client: string, from: RemoteInfo): Talk | undefined {
    const { nodeAt, real } = this.#tools;
    const { address } = from;
    const backend = this.#choice.choose(this.#frontend, { address, node: nodeAt(address) });
    if (backend === undefined || this.#talks.size >= MOST_CLIENTS) return undefined;
    const socket = createSocket('udp4');
    const talk: Talk = { socket, backend, silence: real.timer(SILENCE_MS, () => this.#end(client)) };
    socket.on('message', (answer) => {
      this.#hear(client, talk);
      this.#socket.send(answer, from.port, from.address);
    });
    // Nobody listens there: a packet that is lost, as packets are.
    socket.on('error', () => this.#end(client));
    this.#talks.set(client, talk);
    return talk;
  }

  #hear(client: string, talk: Talk): void {
    talk.silence[Symbol.dispose]();
    talk.silence = this.#tools.real.timer(SILENCE_MS, () => this.#end(client));
  }

  #end(client: string): void {
    const talk = this.#talks.get(client);
    if (talk === undefined) return;
    this.#talks.delete(client);
    talk.silence[Symbol.dispose]();
    talk.socket.close();
  }
}

const placeOf = ({ host, port }: Backend): string => `${host}:${port}`;
