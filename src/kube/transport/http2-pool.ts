import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { terminalError } from '../../base/errors.ts';
import type { Dialer } from './dialer.ts';
import { Http2Channel } from './http2-channel.ts';

const PROTOCOLS = ['h2', 'http/1.1'];
/** What one process may take of a server; beyond, requests wait in the sessions. */
const MAX_SESSIONS = 8;
/** An additional session that nobody used for so long is closed. */
const SURPLUS_IDLE_MS = 60_000;
/**
 * After GOAWAY a session is opened at once (N3) for a client that is at work. An idle one would reconnect for ever to a
 * server that ends idle sessions, and a server that ends each new one would be asked in a tight loop.
 */
const RECENT_MS = 30_000;

interface PoolOptions {
  readonly dialer: Dialer;
  readonly clock: Clock;
  /** The server does not speak HTTP/2: here is the socket on which it said so. */
  readonly onHttp1: (socket: Socket) => void;
}

/** HTTP/2 sessions with one server: one, and more while many requests are on their way (N1). */
export class Http2Pool {
  readonly #options: PoolOptions;
  readonly #channels: Http2Channel[] = [];
  /** Also those that take no more requests; each closes when its last request ends. */
  readonly #open = new Set<Http2Channel>();
  #opening: Promise<void> | undefined;
  #isDestroyed = false;
  /** Grows with each renewal. */
  #generation = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** The session for the next request, or undefined: then wait for `opened` and ask again. */
  pick(): Http2Channel | undefined {
    const [first] = this.#channels;
    if (this.#channels.length > 1) this.#closeSurplus();
    if (first !== undefined && !first.isBusy) return first;
    return this.#among();
  }

  /** Resolves when a session was opened, or none is possible because the server speaks HTTP/1.1 only. */
  opened(): Promise<void> {
    this.#opening ??= this.#dialed().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** New sessions from now on; the old ones finish what they carry within this time. */
  renew(withinMs: number): void {
    this.#generation++;
    for (const channel of this.#channels.slice()) channel.drain(withinMs);
  }

  destroy(): void {
    this.#isDestroyed = true;
    for (const channel of this.#open) channel.destroy();
  }

  #among(): Http2Channel | undefined {
    const least = this.#channels.reduce<Http2Channel | undefined>(
      (best, channel) => (best === undefined || channel.active < best.active ? channel : best),
      undefined,
    );
    if (least === undefined || !least.isBusy || this.#channels.length >= MAX_SESSIONS) return least;
    // Somebody who waits hears of a failure; until then the others do.
    this.opened().catch(() => {});
    return least.isFull ? undefined : least;
  }

  #closeSurplus(): void {
    const [, ...surplus] = this.#channels;
    for (const channel of surplus) if (channel.active === 0 && channel.quietMs > SURPLUS_IDLE_MS) channel.drain(0);
  }

  async #dialed(): Promise<void> {
    const { dialer, clock, onHttp1 } = this.#options;
    const generation = this.#generation;
    const socket = await dialer.dial(PROTOCOLS);
    if (generation !== this.#generation) {
      // Opened with credentials that are old by now.
      socket.destroy();
      return this.#dialed();
    }
    if (this.#isDestroyed) {
      socket.destroy();
      throw terminalError('ConnectionClosed', `the connection to ${dialer.host} is closed`);
    }
    if (!speaksHttp2(socket)) return onHttp1(socket);
    const onLeaving = (channel: Http2Channel) => this.#leaving(channel);
    const onClosed = (channel: Http2Channel) => void this.#open.delete(channel);
    const channel = Http2Channel.open({ socket, host: dialer.host, clock, onLeaving, onClosed });
    this.#open.add(channel);
    this.#channels.push(channel);
  }

  #leaving(channel: Http2Channel): void {
    const at = this.#channels.indexOf(channel);
    if (at >= 0) this.#channels.splice(at, 1);
    if (this.#isDestroyed || this.#channels.length > 0 || !channel.wasUsedWithin(RECENT_MS)) return;
    this.opened().catch(() => {});
  }
}

const speaksHttp2 = (socket: Socket): boolean => (socket as Partial<TLSSocket>).alpnProtocol === 'h2';
