import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import type { AddressPlan, Endpoint } from '../../address/address-plan.ts';
import { errorCode } from '../../address/listening.ts';
import { forwarder } from './forwarder.ts';
import { LONGEST_QUERY_BYTES } from './query.ts';
import { Responder } from './responder.ts';
import { framed, framesOf } from './tcp-frames.ts';
import type { Zone } from './zone.ts';

export interface DnsOptions {
  readonly network: Pick<AddressPlan, 'listen'>;
  /** Of the lab, such as `10.L.0.53`. */
  readonly address: string;
  /** 5353, and 53 where that can be bound, unless told otherwise (C23). */
  readonly ports?: readonly number[];
  /** Those of the cloud, of the clusters, of their Services; asked for every question, with where it came from. */
  readonly zones: (asker: string) => readonly Zone[];
  /** Where questions about other names go; refused without. */
  readonly forward?: readonly Endpoint[];
  /** For connections that hang, and for servers outside (T6). */
  readonly real: Clock;
  readonly log: Log;
}

export interface Dns extends AsyncDisposable {
  /** Where it really listens, over UDP and TCP alike, in the order of `ports`. */
  readonly endpoints: readonly Endpoint[];
}

const USUAL_PORTS = [5353, 53];
const MOST_CONNECTIONS = 128;
const IDLE_MS = 10_000;
/** With port 0 the kernel chooses one that is free for TCP; UDP may need another try. */
const MOST_TRIES = 20;

/** Answers questions about the zones of the lab (C23–C27) until disposed. */
export async function startDns(options: DnsOptions): Promise<Dns> {
  const { ports = USUAL_PORTS, zones, forward = [], real, log } = options;
  await using started = new AsyncDisposableStack();
  const stop = new AbortController();
  const passOn =
    forward.length === 0 ? undefined : forwarder({ servers: forward, real, log, signal: stop.signal });
  const responder = new Responder({ zones, log, ...(passOn !== undefined && { forward: passOn }) });
  const places: DnsPlace[] = [];
  for (const port of ports) places.push(started.use(await openPlace({ ...options, responder }, port)));
  // First of all, so that nothing is sent by what is closed.
  started.defer(() => stop.abort());
  const kept = started.move();
  return {
    endpoints: places.map(({ endpoint }) => endpoint),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

interface PlaceOptions extends Pick<DnsOptions, 'network' | 'address' | 'real' | 'log'> {
  readonly responder: Responder;
}

async function openPlace(options: PlaceOptions, port: number): Promise<DnsPlace> {
  for (let tries = 1; ; tries++) {
    const place = new DnsPlace(options);
    try {
      await place.open(port);
      return place;
    } catch (error) {
      await place[Symbol.asyncDispose]();
      if (port !== 0 || errorCode(error) !== 'EADDRINUSE' || tries === MOST_TRIES) throw error;
    }
  }
}

/** One port, for both transports. */
class DnsPlace implements AsyncDisposable {
  readonly #options: PlaceOptions;
  readonly #tcp: Server;
  readonly #udp: UdpSocket;
  /** At most `MOST_CONNECTIONS`; each leaves when it is closed. */
  readonly #connections = new Set<Socket>();
  #endpoint: Endpoint | undefined;

  constructor(options: PlaceOptions) {
    this.#options = options;
    this.#tcp = createServer({ allowHalfOpen: true });
    this.#tcp.maxConnections = MOST_CONNECTIONS;
    this.#udp = createSocket('udp4');
  }

  get endpoint(): Endpoint {
    if (this.#endpoint === undefined) throw new Error('the name server has not been opened');
    return this.#endpoint;
  }

  async open(port: number): Promise<void> {
    const { network, address, log } = this.#options;
    this.#tcp.on('connection', (socket) => void this.#converse(socket));
    await network.listen(this.#tcp, { host: address, port });
    this.#tcp.on('error', (err) => log.warn({ err }, 'Name server failed to accept a connection'));
    const told = this.#tcp.address();
    if (told === null || typeof told === 'string') throw new Error(`${address} has no port`);
    this.#udp.on('message', (packet, from) => void this.#reply(packet, from));
    this.#udp.bind({ address: told.address, port: told.port, exclusive: true });
    await once(this.#udp, 'listening');
    this.#udp.on('error', (err) => log.warn({ err }, 'Name server failed to receive a packet'));
    this.#endpoint = { host: told.address, port: told.port };
  }

  async #reply(packet: Buffer, { address, port }: RemoteInfo): Promise<void> {
    const reply = await this.#options.responder.respond(packet, 'udp', address);
    if (reply === undefined || !this.#tcp.listening) return;
    // Nobody waits any more, or never did: UDP does not care.
    this.#udp.send(reply, port, address, () => undefined);
  }

  /** Question by question; who sends faster than it reads waits. */
  async #converse(socket: Socket): Promise<void> {
    const closed = new AbortController();
    let timer = this.#idleTimer(socket);
    this.#connections.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      timer[Symbol.dispose]();
      this.#connections.delete(socket);
      closed.abort();
    });
    try {
      for await (const packet of framesOf(socket.iterator({ destroyOnReturn: false }), LONGEST_QUERY_BYTES)) {
        if (socket.destroyed) return;
        timer[Symbol.dispose]();
        timer = this.#idleTimer(socket);
        const reply = await this.#options.responder.respond(packet, 'tcp', socket.remoteAddress);
        if (reply !== undefined && !socket.write(framed(reply)))
          await once(socket, 'drain', { signal: closed.signal });
      }
      socket.destroySoon();
    } catch {
      // The client is gone.
      socket.destroy();
    }
  }

  #idleTimer(socket: Socket): Disposable {
    return this.#options.real.timer(IDLE_MS, () => socket.destroy());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#connections) socket.destroy();
    if (this.#endpoint !== undefined) await this.#udp[Symbol.asyncDispose]();
    else this.#udp.close();
    if (this.#tcp.listening) await this.#tcp[Symbol.asyncDispose]();
  }
}
