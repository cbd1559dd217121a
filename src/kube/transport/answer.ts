import { PassThrough, type Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gunzip } from 'node:zlib';
import { NetworkError } from '../client/api-error.ts';
import type { Exchange } from './exchange.ts';
import type { TransportResponse } from './transport.ts';

interface Received {
  readonly status: number;
  readonly headers: TransportResponse['headers'];
  readonly body: Readable;
  /** At the end of `body`: whether the server said that this is all. */
  readonly isComplete: () => boolean;
  /** Frees the socket, or tells the server to stop, when the body is not read to its end. */
  readonly cancel: () => void;
}

const unzipped = promisify(gunzip);

/** The answer that a socket brings. Its body is read once, as a whole or in chunks. */
export class SocketAnswer implements TransportResponse {
  readonly status: number;
  readonly headers: TransportResponse['headers'];
  readonly #received: Received;
  readonly #exchange: Exchange;

  constructor(received: Received, exchange: Exchange) {
    this.status = received.status;
    this.headers = received.headers;
    this.#received = received;
    this.#exchange = exchange;
    // Of a body that nobody reads this is the end.
    received.body.once('close', () => exchange.end());
  }

  /** Nobody will read the body. */
  discard(): void {
    this.#received.cancel();
  }

  async bytes(): Promise<Uint8Array> {
    const body = await this.#collected();
    return this.#isGzip ? unzipped(body).catch((cause: unknown) => this.#brokenGzip(cause)) : body;
  }

  async *stream(): AsyncGenerator<Uint8Array> {
    const { isComplete, cancel } = this.#received;
    const exchange = this.#exchange;
    let isWhole = false;
    using silence = new Silence(exchange);
    try {
      const chunks = this.#isGzip ? this.#gunzipped() : this.#chunks();
      for await (const chunk of silence.watched(chunks)) yield chunk;
      isWhole = exchange.failure === undefined && isComplete();
      if (!isWhole) throw exchange.truncated();
    } finally {
      exchange.end();
      if (!isWhole) cancel();
    }
  }

  get #isGzip(): boolean {
    return this.headers['content-encoding'] === 'gzip';
  }

  /** Listeners and not a loop: most answers are one chunk, and this is the path of every request. */
  #collected(): Promise<Uint8Array> {
    const { body, isComplete, cancel } = this.#received;
    const exchange = this.#exchange;
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let isDone = false;
      const failed = (error: Error): void => {
        isDone = true;
        exchange.end();
        cancel();
        reject(error);
      };
      exchange.carriedBy(failed);
      body.on('data', (chunk: Uint8Array) => void chunks.push(chunk));
      body.on('error', (thrown) => failed(exchange.translated(thrown)));
      body.on('end', () => {
        if (!isComplete()) return failed(exchange.truncated());
        isDone = true;
        exchange.end();
        const [first = NOTHING] = chunks;
        resolve(chunks.length > 1 ? Buffer.concat(chunks) : first);
      });
      // Before the end this is the only sign of some broken streams.
      body.on('close', () => {
        if (!isDone) failed(exchange.truncated());
      });
      if (body.destroyed && !body.readableEnded) failed(exchange.truncated());
    });
  }

  async *#chunks(): AsyncGenerator<Uint8Array> {
    const { body } = this.#received;
    try {
      // Node takes a stream of HTTP/2 that came to its end for broken, when nobody began to read it before.
      yield* body.closed && !body.destroyed ? this.#late() : body;
    } catch (thrown) {
      throw this.#exchange.translated(thrown);
    }
  }

  /** What has come already, all of it, and waits to be read. */
  #late(): AsyncIterable<Uint8Array> {
    const { body } = this.#received;
    const passed = new PassThrough();
    body.on('error', (thrown) => void passed.destroy(this.#exchange.translated(thrown)));
    body.on('close', () => body.readableEnded || passed.destroy(this.#exchange.truncated()));
    return body.pipe(passed);
  }

  async *#gunzipped(): AsyncGenerator<Uint8Array> {
    const { body } = this.#received;
    const decoder = createGunzip();
    body.on('error', (thrown) => void decoder.destroy(this.#exchange.translated(thrown)));
    body.on('close', () => body.readableEnded || decoder.destroy(this.#exchange.truncated()));
    try {
      yield* body.pipe(decoder);
    } catch (thrown) {
      throw this.#exchange.failure ?? (thrown instanceof NetworkError ? thrown : this.#brokenGzip(thrown));
    } finally {
      decoder.destroy();
    }
  }

  #brokenGzip(cause: unknown): never {
    throw this.#exchange.translated(new Error('the gzip data of the answer is broken', { cause }));
  }
}

const NOTHING = Buffer.alloc(0);

/** P22: destroys a stream on which nothing comes while somebody waits for it; a slow reader is no silence. */
class Silence implements Disposable {
  readonly #exchange: Exchange;
  readonly #limitMs: number | undefined;
  #timer: Disposable | undefined;
  /** Since when the reader waits; undefined while it is busy. */
  #waitingSinceMs: number | undefined;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#limitMs = exchange.request.silenceMs;
  }

  async *watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    if (this.#limitMs === undefined) return yield* chunks;
    const { clock } = this.#exchange;
    this.#arm(this.#limitMs, this.#limitMs);
    this.#waitingSinceMs = clock.monotonicMs();
    for await (const chunk of chunks) {
      this.#waitingSinceMs = undefined;
      yield chunk;
      this.#waitingSinceMs = clock.monotonicMs();
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
  }

  /** One timer for many chunks: it looks how long the silence was and sleeps for the rest. */
  #arm(ms: number, limitMs: number): void {
    this.#timer = this.#exchange.clock.timer(ms, () => {
      const now = this.#exchange.clock.monotonicMs();
      const silentMs = now - (this.#waitingSinceMs ?? now);
      if (silentMs >= limitMs) this.#exchange.failSilent(silentMs);
      else this.#arm(limitMs - silentMs, limitMs);
    });
  }
}
