import type { Clock } from '../base/clock.ts';
import { humanDuration } from '../base/duration.ts';
import { messageOf, SlipwayError } from '../base/errors.ts';
import type { HttpAnswer, HttpCall, HttpRequest } from './http-call.ts';
import { PatientBody, within } from './patient-body.ts';
import { registryUnavailable } from './registry-failure.ts';

export interface HttpExchangeOptions {
  readonly http: HttpCall;
  readonly clock: Clock;
  /** For the answer to begin, and for each further piece of it; 30 s unless told otherwise. */
  readonly timeoutMs?: number;
  /** How often a request is sent at most; 3 unless told otherwise. */
  readonly attempts?: number;
}

const TIMEOUT_MS = 30_000;
const ATTEMPTS = 3;
const FIRST_WAIT_MS = 500;
/** A registry that wants us later than this is left to whoever asked: he has other work to do. */
const LONGEST_WAIT_MS = 10_000;

type Outcome =
  | { readonly answer: HttpAnswer; readonly failure?: undefined }
  | { readonly failure: SlipwayError; readonly answer?: undefined };

/** Requests with patience: each is sent again when the other side is busy, broken or silent, and given up in time. */
export class HttpExchange {
  readonly #http: HttpCall;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #attempts: number;

  constructor({ http, clock, timeoutMs = TIMEOUT_MS, attempts = ATTEMPTS }: HttpExchangeOptions) {
    this.#http = http;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#attempts = attempts;
  }

  /**
   * Any status is an answer, 429 and 5xx only after the last attempt. Rejects with `RegistryUnavailable` when none comes,
   * and with the reason of the signal when that aborts.
   */
  async call(request: HttpRequest): Promise<HttpAnswer> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(request);
      const waitMs = attempt < this.#attempts ? this.#waitMs(outcome, attempt) : undefined;
      if (waitMs === undefined) {
        if (outcome.failure !== undefined) throw outcome.failure;
        return outcome.answer;
      }
      if (outcome.answer !== undefined) await abandon(outcome.answer);
      await this.#clock.sleep(waitMs, request.signal);
    }
  }

  async #attempt(request: HttpRequest): Promise<Outcome> {
    const { signal } = request;
    signal?.throwIfAborted();
    const control = new AbortController();
    const patience = {
      clock: this.#clock,
      timeoutMs: this.#timeoutMs,
      control,
      ...(signal !== undefined && { signal }),
      onTimeout: () => this.#tooSlow(request),
      onFailure: (thrown: unknown) => transportFailure(request, thrown),
    };
    const ended = signal === undefined ? control.signal : AbortSignal.any([control.signal, signal]);
    try {
      const answer = await within(patience, this.#http({ ...request, signal: ended }));
      return { answer: { ...answer, body: new PatientBody(answer.body, patience) } };
    } catch (thrown) {
      signal?.throwIfAborted();
      if (!(thrown instanceof SlipwayError)) throw thrown;
      return { failure: thrown };
    }
  }

  /** Undefined: there is nothing to wait for. */
  #waitMs({ answer }: Outcome, attempt: number): number | undefined {
    const ownMs = FIRST_WAIT_MS * 2 ** (attempt - 1);
    if (answer === undefined) return ownMs;
    if (answer.status !== 429 && answer.status < 500) return undefined;
    const waitMs = Math.max(ownMs, retryAfterMs(answer, this.#clock) ?? 0);
    return waitMs > LONGEST_WAIT_MS ? undefined : waitMs;
  }

  #tooSlow({ url }: HttpRequest): SlipwayError {
    const limit = humanDuration(this.#timeoutMs);
    return registryUnavailable(
      `${hostOf(url)} is too slow: nothing came within ${limit}; check the way to it and its proxy`,
    );
  }
}

/** When the other side wants us back, in milliseconds from now; undefined when it does not say (RFC 9110, 10.2.3). */
export function retryAfterMs({ headers }: HttpAnswer, clock: Clock): number | undefined {
  const text = headers['retry-after'] ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - clock.now().getTime());
}

/** Frees the connection of an answer that nobody reads. */
export async function abandon({ body }: HttpAnswer): Promise<void> {
  await body[Symbol.asyncIterator]().return?.();
}

/** `host:port` for messages; a URL may hold secrets behind it. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : 'the address');

/** What was foreseen has a sentence already, with the way on. */
function transportFailure({ url }: HttpRequest, thrown: unknown): SlipwayError {
  if (thrown instanceof SlipwayError && thrown.reason === 'RegistryUnavailable') return thrown;
  if (thrown instanceof SlipwayError) return registryUnavailable(thrown.message, { cause: thrown });
  return registryUnavailable(
    `${hostOf(url)} gave no answer: ${messageOf(thrown)}; check the way to it and its proxy`,
    {
      cause: thrown,
    },
  );
}
