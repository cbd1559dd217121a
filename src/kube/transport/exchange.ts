import type { Clock } from '../../base/clock.ts';
import { humanDuration } from '../../base/duration.ts';
import { NetworkError } from '../client/api-error.ts';
import { networkFailure, timeout } from './network-failure.ts';
import type { TransportRequest } from './transport.ts';

/** N4: what nobody gave a deadline gets this one, in milliseconds. */
const DEFAULT_TIMEOUT_MS = 30_000;

type BreakOff = (error: Error) => void;

/**
 * One request from being asked for to its last byte: knows its deadline and its signal, and breaks off whatever carries
 * it at the moment. Ends once; what comes later is ignored.
 */
export class Exchange {
  readonly request: TransportRequest;
  readonly clock: Clock;
  readonly #host: string;
  #deadlineMs: number | undefined;
  #breakOff: BreakOff | undefined;
  #failure: Error | undefined;
  #timer: Disposable | undefined;
  #isEnded = false;
  #isSent = false;

  constructor(request: TransportRequest, { clock, host }: { readonly clock: Clock; readonly host: string }) {
    this.request = request;
    this.clock = clock;
    this.#host = host;
  }

  /** The deadline runs and the signal is heard from here on; throws the signal's reason when it has aborted before. */
  begin(): void {
    const { signal, timeoutMs = DEFAULT_TIMEOUT_MS } = this.request;
    signal?.throwIfAborted();
    signal?.addEventListener('abort', this.#onAbort);
    if (!Number.isFinite(timeoutMs)) return;
    const nowMs = this.clock.monotonicMs();
    this.#deadlineMs ??= nowMs + timeoutMs;
    this.#timer = this.clock.timer(Math.max(0, this.#deadlineMs - nowMs), this.#onDeadline);
  }

  /** The same request once more, until the same deadline. What becomes of the sockets of this one does not touch it. */
  repeated(): Exchange {
    this.end();
    const next = new Exchange(this.request, { clock: this.clock, host: this.#host });
    next.#deadlineMs = this.#deadlineMs;
    return next;
  }

  /** Why it was broken off, if it was. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /** From here on the server may act on it. Throws what `beforeSend` throws: then nothing is sent. */
  sending(): void {
    this.request.beforeSend?.();
    this.#isSent = true;
  }

  /** It was not taken after all, so that sending again is safe. */
  wasRefused(): void {
    this.#isSent = false;
  }

  /** Breaking off now means calling this. */
  carriedBy(breakOff: BreakOff): void {
    this.#breakOff = breakOff;
    if (this.#failure !== undefined) breakOff(this.#failure);
  }

  /** The result of something that knows neither deadline nor signal; `dropped` gets one that comes too late. */
  until<T>(work: Promise<T>, dropped?: (late: T) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.carriedBy(reject);
      work.then((result) => {
        if (this.#failure !== undefined) dropped?.(result);
        resolve(result);
      }, reject);
    });
  }

  /** The headers of a stream are there: what follows has no deadline. */
  endDeadline(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  /** All is read, or nobody wants to read on. */
  end(): void {
    this.#isEnded = true;
    this.#breakOff = undefined;
    this.endDeadline();
    this.request.signal?.removeEventListener('abort', this.#onAbort);
  }

  /** Breaks off with this error, unless all is over. */
  fail(error: Error): void {
    if (this.#isEnded || this.#failure !== undefined) return;
    this.#failure = error;
    this.#breakOff?.(error);
  }

  /** Breaks off because the other side is silent. */
  failSilent(silentMs: number): void {
    this.fail(this.#error(`${this.#host} sent nothing for ${humanDuration(silentMs)} on ${this.#what}`));
  }

  /** What the caller is told about a failure: the reason of breaking off where there is one. */
  translated(thrown: unknown, isRefused = false): Error {
    return (
      this.#failure ?? networkFailure(thrown, { host: this.#host, mayHaveHappened: this.#isSent && !isRefused })
    );
  }

  /** The answer ended before it was whole. */
  truncated(): Error {
    return this.#failure ?? this.#error(`${this.#host} broke off its answer to ${this.#what}`);
  }

  get #what(): string {
    const { method, target } = this.request;
    // Queries may hold what is nobody's business.
    return `${method} ${target.split('?', 1)[0]}`;
  }

  #error(message: string, cause?: Error): NetworkError {
    return new NetworkError(message, { mayHaveHappened: this.#isSent, cause });
  }

  readonly #onAbort = (): void => {
    const reason: unknown = this.request.signal?.reason;
    this.fail(reason instanceof Error ? reason : new Error('aborted', { cause: reason }));
  };

  readonly #onDeadline = (): void => {
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.request;
    this.fail(
      this.#error(`${this.#host} did not answer ${this.#what} within ${humanDuration(timeoutMs)}`, timeout()),
    );
  };
}
