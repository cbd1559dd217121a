import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { NetworkError } from '../client/api-error.ts';
import type { AuthHeaders, ClusterAccess } from '../config/cluster-access.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { SocketAnswer } from './answer.ts';
import { Dialer } from './dialer.ts';
import { Exchange } from './exchange.ts';
import { SocketPool, sendAlone, sendPooled } from './http1.ts';
import { Http2Pool } from './http2-pool.ts';
import { measured } from './measured.ts';
import { RequestHead } from './request-head.ts';
import type { Connection, Transport } from './transport.ts';
import { type WarningHook, warned } from './warned.ts';

/** C3: sessions with an old client certificate end within this time. */
const RENEWAL_MS = 10_000;

/** Looks for a session before a request gives up; a server that ends each at once would be asked in a tight loop. */
const MAX_ROUNDS = 10;

export interface ConnectOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics?: Metrics;
  /** Sent with each request that does not bring its own (C6). */
  readonly userAgent?: string;
  /** Every warning of the server, repeated or not (N7). */
  readonly onWarning?: WarningHook;
  /** Never HTTP/2, for servers or proxies that get it wrong. */
  readonly isHttp1Only?: boolean;
}

/**
 * A connection to one API server; nothing is opened before the first request. Requests that are no streams go over a
 * pool of HTTP/2 sessions, or of HTTP/1.1 sockets where the server does not speak it; each stream has a socket of its
 * own. Requests fail with a `NetworkError` when there is no answer, with the signal's reason when aborted; a failed
 * request breaks nothing: the next one connects again. Nothing is repeated except once after a 401, with fresh
 * credentials; wrap the transport in `retrying` for more. Disposing breaks off what is on its way.
 */
export function connect(access: ClusterAccess, options: ConnectOptions): Connection {
  const sockets = new Sockets(access, options);
  const renewal = access.credentials.onCertificateChange(() => sockets.renew());
  const { clock, log, metrics, onWarning } = options;
  const { host, send } = sockets;
  const counted = metrics === undefined ? send : measured(send, { clock, host, metrics });
  return {
    transport: warned(counted, { clock, log, ...(onWarning && { onWarning }) }),
    host,
    refreshCredentials: () => access.credentials.refresh(),
    [Symbol.asyncDispose]: async () => {
      renewal[Symbol.dispose]();
      sockets.close();
    },
  };
}

/** All sockets to one server. */
class Sockets {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #dialer: Dialer;
  readonly #head: RequestHead;
  /** Of streams; as many as the caller keeps open. */
  readonly #alone = new Set<Socket>();
  #isClosed = false;
  /** Undefined when the server does not speak HTTP/2. */
  #sessions: Http2Pool | undefined;
  #pool: SocketPool;
  /** Pools from before a renewal whose sockets still carry something. */
  #oldPools: readonly SocketPool[] = [];

  constructor(access: ClusterAccess, { clock, userAgent, isHttp1Only = false }: ConnectOptions) {
    this.#access = access;
    this.#clock = clock;
    this.#dialer = new Dialer(access, clock);
    this.#head = new RequestHead(access, userAgent);
    this.#pool = new SocketPool(this.#dialer);
    if (access.server.protocol === 'https:' && !isHttp1Only) this.#sessions = this.#newSessions();
  }

  get host(): string {
    return this.#dialer.host;
  }

  readonly send: Transport = async (request) => {
    if (this.#isClosed) throw terminalError('ConnectionClosed', `the connection to ${this.host} is closed`);
    const exchange = new Exchange(request, { clock: this.#clock, host: this.host });
    const { answer, auth } = await this.#attempt(exchange);
    if (answer.status !== 401) return answer;
    // Decided before anything is done, so that any request may be sent again with what is known by then.
    answer.discard();
    this.#access.credentials.refresh(auth);
    return (await this.#attempt(exchange.repeated())).answer;
  };

  /** C3: old sessions may finish what they carry; streams never finish, so that they end spread over the same time. */
  renew(): void {
    this.#sessions?.renew(RENEWAL_MS);
    const pool = this.#pool;
    this.#pool = new SocketPool(this.#dialer);
    pool.drain(this.#clock, RENEWAL_MS);
    this.#oldPools = [...this.#oldPools, pool].filter(({ isBusy }) => isBusy);
    for (const socket of this.#alone) {
      const timer = this.#clock.timer(this.#clock.random() * RENEWAL_MS, () => void socket.destroy());
      socket.once('close', () => timer[Symbol.dispose]());
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#sessions?.destroy();
    for (const pool of [this.#pool, ...this.#oldPools]) pool.destroy();
    for (const socket of this.#alone) socket.destroy();
  }

  async #attempt(exchange: Exchange): Promise<{ readonly answer: SocketAnswer; readonly auth: AuthHeaders }> {
    const { request } = exchange;
    exchange.begin();
    try {
      const auth = await exchange.until(this.#access.credentials.headers(request.signal));
      const answer = await this.#dispatched(exchange, auth);
      if (request.isStream === true) exchange.endDeadline();
      return { answer, auth };
    } catch (thrown) {
      exchange.end();
      throw exchange.translated(thrown);
    }
  }

  async #dispatched(exchange: Exchange, auth: AuthHeaders): Promise<SocketAnswer> {
    const { request } = exchange;
    if (request.isStream === true) {
      const path = this.#head.path(request);
      return sendAlone(this.#dialer, { path, headers: this.#head.http1(request, auth) }, exchange, this.#opened);
    }
    for (let round = 0; this.#sessions !== undefined; round++) {
      if (round >= MAX_ROUNDS) throw this.#unsteady();
      const sessions = this.#sessions;
      const channel = sessions.pick();
      if (channel === undefined) await exchange.until(sessions.opened());
      else if (!channel.isQuiet || (await exchange.until(channel.isAlive()))) {
        const answer = channel.send(this.#head.http2(request, auth), exchange);
        if (answer !== undefined) return answer;
      }
    }
    const path = this.#head.path(request);
    return sendPooled(this.#pool, { path, headers: this.#head.http1(request, auth) }, exchange);
  }

  #unsteady(): NetworkError {
    return new NetworkError(`${this.host} ends each HTTP/2 session at once`, { mayHaveHappened: false });
  }

  readonly #opened = (socket: Socket): void => {
    if (this.#isClosed) return void socket.destroy();
    this.#alone.add(socket);
    socket.once('close', () => void this.#alone.delete(socket));
  };

  #newSessions(): Http2Pool {
    const onHttp1 = (socket: Socket): void => {
      this.#sessions = undefined;
      this.#pool.adopt(socket);
    };
    return new Http2Pool({ dialer: this.#dialer, clock: this.#clock, onHttp1 });
  }
}
