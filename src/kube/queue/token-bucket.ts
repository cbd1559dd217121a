import type { Clock } from '../../base/clock.ts';
import type { RateLimiter } from './rate-limiter.ts';

export interface TokenBucketOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly perSecond?: number;
  readonly burst?: number;
}

/** For all keys together: 10 retries a second, 100 at once (Q3). Later ones wait their turn; none is refused. */
export class TokenBucket implements RateLimiter {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #perSecond: number;
  readonly #burst: number;
  /** Below zero: that many wait already. */
  #tokens: number;
  #filledAtMs: number;

  constructor({ clock, perSecond = 10, burst = 100 }: TokenBucketOptions) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#filledAtMs = clock.monotonicMs();
  }

  delayMs(): number {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#filledAtMs) / 1000) * this.#perSecond);
    this.#filledAtMs = nowMs;
    this.#tokens -= 1;
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#perSecond) * 1000;
  }

  /** Time alone fills the bucket. */
  forget(): void {}
}
