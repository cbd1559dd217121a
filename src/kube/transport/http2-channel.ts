import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { humanDuration } from '../../base/duration.ts';
import { NetworkError } from '../client/api-error.ts';
import { SocketAnswer } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { codeOf } from './network-failure.ts';
import type { HeaderList } from './request-head.ts';
import type { TransportResponse } from './transport.ts';

/** N2: so long without a frame, then a PING; so long without its answer, then the session is dead. */
const QUIET_MS = 30_000;
const PING_MS = 15_000;
/** N1: another session from here on, or from 80 % of what the server allows. */
const MANY_STREAMS = 200;
const MANY_SHARE = 0.8;
/** Windows as Go's client has them: with Node's 64 KiB a large list waits for the network at every step. */
const STREAM_WINDOW = 4 * 2 ** 20;
const SESSION_WINDOW = 64 * 2 ** 20;
/** In MB. Node's 10 make it refuse streams while a large list is being read. */
const SESSION_MEMORY = 1024;

interface ChannelOptions {
  readonly socket: Socket;
  readonly host: string;
  readonly clock: Clock;
  /** It takes no more requests: the server said so, or it is dead. Called once. */
  readonly onLeaving: (channel: Http2Channel) => void;
  /** Nothing is left of it. Called once, after `onLeaving`. */
  readonly onClosed?: (channel: Http2Channel) => void;
}

/** One HTTP/2 session. Keeps the process alive only while a request is on its way. */
export class Http2Channel {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #clock: Clock;
  readonly #host: string;
  readonly #onLeaving: (channel: Http2Channel) => void;
  #active = 0;
  #isLeaving = false;
  #hasAnswered = false;
  #lastFrameMs: number;
  #death: NetworkError | undefined;
  #watchdog: Disposable | undefined;
  #check: Promise<boolean> | undefined;

  private constructor({ socket, host, clock, onLeaving }: ChannelOptions) {
    this.#clock = clock;
    this.#socket = socket;
    this.#host = host;
    this.#onLeaving = onLeaving;
    this.#lastFrameMs = clock.monotonicMs();
    this.#session = connect(`https://${host}`, {
      createConnection: () => socket,
      maxSessionMemory: SESSION_MEMORY,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
    });
  }

  /** A session on a socket that has agreed on HTTP/2. */
  static open(options: ChannelOptions): Http2Channel {
    const channel = new Http2Channel(options);
    const session = channel.#session;
    session.on('connect', () => session.setLocalWindowSize(SESSION_WINDOW));
    // Every stream of the session fails with it; nobody else has to hear.
    session.on('error', () => {});
    session.on('goaway', channel.#leave);
    let hasEnded = false;
    const ended = (): void => {
      if (hasEnded) return;
      hasEnded = true;
      channel.#leave();
      options.onClosed?.(channel);
    };
    session.on('close', ended);
    // The session of a dead peer may never say so.
    options.socket.once('close', ended);
    session.unref();
    return channel;
  }

  get active(): number {
    return this.#active;
  }

  /** No more requests are to be given to it while others can take them. */
  get isBusy(): boolean {
    return this.#active >= Math.max(1, Math.min(MANY_STREAMS, Math.floor(this.#maxStreams * MANY_SHARE)));
  }

  /** The server takes no more requests at the moment. */
  get isFull(): boolean {
    return this.#active >= this.#maxStreams;
  }

  /** So long idle that it may have died unseen; ask `isAlive` before a request. */
  get isQuiet(): boolean {
    return this.#active === 0 && this.quietMs >= QUIET_MS;
  }

  get quietMs(): number {
    return this.#clock.monotonicMs() - this.#lastFrameMs;
  }

  /** It has answered a request, lately: worth replacing before anybody asks. */
  wasUsedWithin(ms: number): boolean {
    return this.#hasAnswered && this.quietMs <= ms;
  }

  /** Whether the server answers a PING in time; when not, the session is gone. Asking together asks once. */
  isAlive(): Promise<boolean> {
    this.#check ??= this.#checked().finally(() => {
      this.#check = undefined;
    });
    return this.#check;
  }

  #checked(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = this.#clock.timer(PING_MS, () => {
        this.#die();
        resolve(false);
      });
      this.#ping((isAnswered) => {
        timer[Symbol.dispose]();
        resolve(isAnswered && !this.#isLeaving);
      });
    });
  }

  /** Sends one request; undefined, with nothing sent, when the session cannot take it any more. */
  send(headers: HeaderList, exchange: Exchange): Promise<SocketAnswer> | undefined {
    const { body } = exchange.request;
    exchange.sending();
    const stream = this.#stream(headers, body === undefined);
    if (stream === undefined) {
      exchange.wasRefused();
      return undefined;
    }
    if (this.#active++ === 0) this.#wake();
    stream.on('close', this.#left);
    if (body !== undefined) stream.end(body);
    return this.#answered(stream, exchange);
  }

  /** No more requests; those on their way may finish, at most for so long. */
  drain(withinMs: number): void {
    this.#leave();
    if (this.#session.destroyed) return;
    this.#session.close();
    if (this.#active === 0) return;
    const timer = this.#clock.timer(withinMs, () => this.#break());
    this.#session.on('close', () => timer[Symbol.dispose]());
  }

  /** Ends at once; requests on their way fail. */
  destroy(): void {
    this.#leave();
    this.#break();
  }

  get #maxStreams(): number {
    // Before the server's settings are here, Node assumes the same.
    return this.#session.remoteSettings?.maxConcurrentStreams ?? 100;
  }

  #answered(stream: ClientHttp2Stream, exchange: Exchange): Promise<SocketAnswer> {
    return new Promise((resolve, reject) => {
      const failed = (thrown: unknown): void => {
        const { rstCode } = stream;
        exchange.end();
        stream.close(constants.NGHTTP2_CANCEL);
        const isRefused = rstCode === constants.NGHTTP2_REFUSED_STREAM || SESSION_ENDED.has(codeOf(thrown));
        reject(exchange.translated(this.#death ?? thrown, isRefused));
      };
      const closed = (): void => failed(new Unanswered());
      exchange.carriedBy(failed);
      stream.on('error', failed);
      stream.on('close', closed);
      stream.on('response', (headers) => {
        this.#seen();
        this.#hasAnswered = true;
        stream.off('error', failed);
        stream.off('close', closed);
        // Nobody may be reading when the session breaks; who reads later sees that the body is destroyed.
        stream.on('error', ignored);
        exchange.carriedBy((error) => {
          stream.close(constants.NGHTTP2_CANCEL);
          stream.destroy(error);
        });
        resolve(this.#answer(stream, headers, exchange));
      });
    });
  }

  #answer(stream: ClientHttp2Stream, headers: AnswerHeaders, exchange: Exchange): SocketAnswer {
    const received = {
      status: headers[':status'] ?? 0,
      headers,
      body: stream,
      // Node ends the body of a broken stream as if it were whole; the code tells the difference.
      isComplete: () => stream.rstCode === constants.NGHTTP2_NO_ERROR && !stream.aborted,
      cancel: () => {
        if (!stream.closed) stream.close(constants.NGHTTP2_CANCEL);
      },
    };
    return new SocketAnswer(received, exchange);
  }

  #stream(headers: HeaderList, endStream: boolean): ClientHttp2Stream | undefined {
    try {
      return this.#session.request(headers, { endStream });
    } catch (thrown) {
      if (!SESSION_ENDED.has(codeOf(thrown))) throw thrown;
      this.#leave();
      return undefined;
    }
  }

  #wake(): void {
    this.#session.ref();
    this.#watch(QUIET_MS);
  }

  readonly #left = (): void => {
    if (--this.#active > 0) return;
    this.#watchdog?.[Symbol.dispose]();
    if (!this.#session.destroyed) this.#session.unref();
  };

  readonly #seen = (): void => {
    this.#lastFrameMs = this.#clock.monotonicMs();
  };

  readonly #leave = (): void => {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    this.#onLeaving(this);
  };

  /** Runs only while something is on its way: an idle session is asked when it is needed again. */
  #watch(ms: number): void {
    this.#watchdog = this.#clock.timer(ms, () => {
      const { quietMs } = this;
      if (quietMs < QUIET_MS) return this.#watch(QUIET_MS - quietMs);
      let isHeard = false;
      this.#ping((isAnswered) => {
        isHeard = isAnswered;
      });
      this.#watchdog = this.#clock.timer(PING_MS, () => {
        if (!isHeard && this.quietMs >= PING_MS) return this.#die();
        this.#watch(QUIET_MS - this.quietMs);
      });
    });
  }

  #ping(answered: (isAnswered: boolean) => void): void {
    if (this.#session.destroyed) return answered(false);
    this.#session.ping((error) => {
      if (error === null) this.#seen();
      answered(error === null);
    });
  }

  #die(): void {
    const message = `${this.#host} did not answer an HTTP/2 PING within ${humanDuration(PING_MS)}`;
    this.#death = new NetworkError(message, { mayHaveHappened: true });
    this.#leave();
    this.#break(this.#death);
  }

  /** Node waits for what it has written before it ends the socket of a session: for ever, when the peer is frozen. */
  #break(error?: Error): void {
    this.#session.destroy(error);
    this.#socket.destroy();
  }
}

type AnswerHeaders = TransportResponse['headers'] & { readonly ':status'?: number | undefined };

/** The session ended under the request; for the caller the same as a reset connection. */
class Unanswered extends Error {
  readonly code = 'ECONNRESET';
}

const ignored = (): void => {};

/** Node's own refusals: the request never became a stream. */
const SESSION_ENDED = new Set([
  'ERR_HTTP2_GOAWAY_SESSION',
  'ERR_HTTP2_INVALID_SESSION',
  'ERR_HTTP2_OUT_OF_STREAMS',
]);
