import type { Clock } from '../../base/clock.ts';
import { NetworkError } from '../client/api-error.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { retryCounter } from './measured.ts';
import { isPassing } from './network-failure.ts';
import { isWrite, type Transport, type TransportRequest, type TransportResponse } from './transport.ts';

const MAX_ATTEMPTS = 10;
const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5_000;
/** A server, or something in between, may say a day (reliability T2). */
const MAX_RETRY_AFTER_MS = 60_000;

interface RetryOptions {
  readonly clock: Clock;
  /** With `host`, counts repetitions (N9). */
  readonly metrics?: Metrics;
  readonly host?: string;
}

/**
 * Repeats requests that failed in passing (N5): at most 10 attempts, as late as the server says in `Retry-After` (at most
 * 60 s), else 100 ms doubled each time up to 5 s, with jitter. A write is repeated only when the server cannot have acted
 * on it or its caller marked it idempotent. The last answer or failure is the caller's. Streams are never repeated:
 * who follows one knows where to resume. The signal ends the waiting with its reason.
 */
export function retrying(transport: Transport, { clock, metrics, host = '' }: RetryOptions): Transport {
  const count = metrics === undefined ? undefined : retryCounter(metrics, host);
  return async (request) => {
    if (request.isStream === true) return transport(request);
    for (let attempt = 1; ; attempt++) {
      const outcome = await tried(transport, request);
      const isFinal = attempt >= MAX_ATTEMPTS || !isRepeatable(request, outcome, attempt);
      if (isFinal) return settled(outcome);
      count?.(codeOf(outcome), request.method);
      discard(outcome);
      await clock.sleep(delayMs(outcome, attempt, clock), request.signal);
    }
  };
}

type Outcome = { readonly answer: TransportResponse } | { readonly error: NetworkError };

/** What is no failure of the network passes through: nothing is known about repeating it. */
async function tried(transport: Transport, request: TransportRequest): Promise<Outcome> {
  try {
    return { answer: await transport(request) };
  } catch (thrown) {
    if (thrown instanceof NetworkError) return { error: thrown };
    throw thrown;
  }
}

function settled(outcome: Outcome): TransportResponse {
  if ('error' in outcome) throw outcome.error;
  return outcome.answer;
}

/** The table of N5 and §16.2. */
function isRepeatable(request: TransportRequest, outcome: Outcome, attempt: number): boolean {
  const isHarmless = !isWrite(request) || request.isIdempotent === true;
  if ('error' in outcome) return isPassing(outcome.error) && (isHarmless || !outcome.error.mayHaveHappened);
  const { status, headers } = outcome.answer;
  const hasRetryAfter = headers['retry-after'] !== undefined;
  switch (status) {
    // Without Retry-After a 429 is no load shedding: a budget that forbids an eviction says it so.
    case 429:
      return hasRetryAfter;
    case 503:
      return hasRetryAfter && isHarmless;
    case 504:
      return isHarmless;
    case 500:
      return attempt === 1 && !isWrite(request);
    default:
      return false;
  }
}

const codeOf = (outcome: Outcome): string => ('error' in outcome ? '<error>' : String(outcome.answer.status));

/** Read to the end, so that its socket can carry the next attempt; its deadline ends this if need be. */
function discard(outcome: Outcome): void {
  if ('answer' in outcome) outcome.answer.bytes().catch(() => {});
}

function delayMs(outcome: Outcome, attempt: number, clock: Clock): number {
  const told = 'answer' in outcome ? retryAfterMs(outcome.answer.headers['retry-after'], clock.now()) : 0;
  if (told > 0) return Math.min(told, MAX_RETRY_AFTER_MS);
  const fullMs = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  return fullMs * (0.5 + clock.random() / 2);
}

/** `Retry-After` as seconds or as a date; 0 when there is none, it is in the past, or it makes no sense. */
function retryAfterMs(value: string | readonly string[] | undefined, now: Date): number {
  const text = (typeof value === 'string' ? value : (value?.[0] ?? '')).trim();
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // Date.parse finds a date in almost anything, such as "-5".
  const date = /^[A-Z][a-z]+, /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now.getTime());
}
