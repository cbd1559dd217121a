/** How long a key that failed has to wait. */
export interface RateLimiter {
  /** Counts one more failure of the key and says how long it waits. */
  delayMs(key: string): number;
  /** The key is well again: the next failure is its first. */
  forget(key: string): void;
}

export interface ItemBackoffOptions {
  /** After the first failure; doubles with each further one. */
  readonly baseMs?: number;
  readonly maxMs?: number;
}

/** Per key: 5 ms after the first failure, doubled with each further one, at most 1,000 s (Q3). */
export class ItemBackoff implements RateLimiter {
  // Bounded by the keys that fail now: whoever stops retrying a key must forget it.
  readonly #failures = new Map<string, number>();
  readonly #baseMs: number;
  readonly #maxMs: number;

  constructor({ baseMs = 5, maxMs = 1_000_000 }: ItemBackoffOptions = {}) {
    this.#baseMs = baseMs;
    this.#maxMs = maxMs;
  }

  delayMs(key: string): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    return Math.min(this.#baseMs * 2 ** failures, this.#maxMs);
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }
}

/** The longest delay of several limiters, all of which count the failure. */
export const slowestOf = (...limiters: readonly RateLimiter[]): RateLimiter => ({
  delayMs: (key) => Math.max(0, ...limiters.map((limiter) => limiter.delayMs(key))),
  forget: (key) => {
    for (const limiter of limiters) limiter.forget(key);
  },
});
