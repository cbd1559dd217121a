import type { Clock } from '../../../base/clock.ts';
import { CloudError } from '../cloud-error.ts';

export interface Rate {
  readonly perSecond: number;
  /** So many at once. */
  readonly burst: number;
}

export type RateClass = 'read' | 'write';
export type Rates = Readonly<Record<RateClass, Rate>>;

export const USUAL_RATES: Rates = {
  read: { perSecond: 50, burst: 100 },
  write: { perSecond: 10, burst: 20 },
};

/** Credentials of instances come and go without end. */
const MOST_BUCKETS = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** A bucket of tokens for each credential and class (C8). */
export class RateLimits {
  readonly #rates: Rates;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** In the order of the last use: the one that was idle longest goes first, and is full by then. */
  readonly #buckets = new Map<string, Bucket>();

  /** Lab time. */
  constructor(rates: Rates, clock: Pick<Clock, 'monotonicMs'>) {
    this.#rates = rates;
    this.#clock = clock;
  }

  /** Takes a token, or refuses with the time to wait. A refusal costs nothing. */
  take(clientId: string, rateClass: RateClass): void {
    const key = `${clientId} ${rateClass}`;
    const rate = this.#rates[rateClass];
    const nowMs = this.#clock.monotonicMs();
    const tokens = filled(this.#buckets.get(key), rate, nowMs);
    if (tokens < 1) throw refusal(rateClass, rate, tokens);
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: tokens - 1, atMs: nowMs });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > MOST_BUCKETS && oldest !== undefined) this.#buckets.delete(oldest);
  }
}

const filled = (bucket: Bucket | undefined, { perSecond, burst }: Rate, nowMs: number): number =>
  bucket === undefined ? burst : Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1000) * perSecond);

function refusal(rateClass: RateClass, { perSecond, burst }: Rate, tokens: number): CloudError {
  const retryAfterSeconds = Math.max(1, Math.ceil((1 - tokens) / perSecond));
  const message = `more than ${perSecond} ${rateClass} requests a second (${burst} at once); come back in ${retryAfterSeconds} s`;
  return new CloudError('RateLimited', message, { retryAfterSeconds });
}
