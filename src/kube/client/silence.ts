import type { Clock } from '../../base/clock.ts';
import { NetworkError } from './api-error.ts';

/**
 * Transports over sockets watch for silence too. This one also sees what happens around them: an answer that never
 * begins, a transport in this process, one that swallows chunks. Ends a stream on which nothing comes: `signal` aborts with a NetworkError when for `silenceMs` no byte came while
 * somebody waited for one, and with the reason of the caller's signal when that aborts (I8, reliability P22). The time
 * until the first byte counts too. Disposing frees the timer and the listener.
 */
export class SilenceWatch implements Disposable {
  readonly #clock: Clock;
  readonly #silenceMs: number | undefined;
  readonly #outer: AbortSignal | undefined;
  readonly #controller = new AbortController();
  #isWaiting = true;
  #sinceMs = 0;
  #timer: Disposable | undefined;

  constructor(clock: Clock, silenceMs: number | undefined, outer: AbortSignal | undefined) {
    this.#clock = clock;
    this.#silenceMs = silenceMs;
    this.#outer = outer;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  start(): this {
    this.#outer?.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#outer?.aborted === true) this.#onAbort();
    this.#sinceMs = this.#clock.monotonicMs();
    if (this.#silenceMs !== undefined) this.#arm(this.#silenceMs);
    return this;
  }

  /** The chunks, watched. */
  async *watched(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    this.#sinceMs = this.#clock.monotonicMs();
    for await (const chunk of stream) {
      // A reader that takes its time is not a silent server.
      this.#isWaiting = false;
      yield chunk;
      this.#isWaiting = true;
      this.#sinceMs = this.#clock.monotonicMs();
    }
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#outer?.removeEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => this.#controller.abort(this.#outer?.reason);

  /** One timer per silence, not one per chunk: when it fires too early it is set again for the rest. */
  #arm(ms: number): void {
    this.#timer = this.#clock.timer(ms, () => this.#check());
  }

  #check(): void {
    const silenceMs = this.#silenceMs ?? 0;
    const leftMs = this.#isWaiting ? silenceMs - (this.#clock.monotonicMs() - this.#sinceMs) : silenceMs;
    if (leftMs > 0) return this.#arm(leftMs);
    const message = `the watch was silent for ${silenceMs} ms; the connection is given up`;
    this.#controller.abort(new NetworkError(message, { mayHaveHappened: false }));
  }
}
