/** How many writes one object may cause: a burst, and one more after each pause (V4). */
const BURST = 25;
const REFILL_MS = 5 * 60_000;
const MOST_OBJECTS = 4096;

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** One bucket of tokens per key. Keeps 4,096 of them; the one that was not used for the longest time is forgotten. */
export class SpamGuard {
  readonly #buckets = new Map<string, Bucket>();

  /** Takes a token; false when there is none. */
  admits(key: string, nowMs: number): boolean {
    const found = this.#buckets.get(key) ?? { tokens: BURST, atMs: nowMs };
    const tokens = Math.min(BURST, found.tokens + (nowMs - found.atMs) / REFILL_MS);
    const isAdmitted = tokens >= 1;
    this.#buckets.delete(key);
    this.#buckets.set(key, { tokens: isAdmitted ? tokens - 1 : tokens, atMs: nowMs });
    const [oldest] = this.#buckets.size > MOST_OBJECTS ? this.#buckets.keys() : [];
    if (oldest !== undefined) this.#buckets.delete(oldest);
    return isAdmitted;
  }
}
