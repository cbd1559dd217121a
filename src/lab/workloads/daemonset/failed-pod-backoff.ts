const FIRST_MS = 1_000;
const LONGEST_MS = 15 * 60_000;
/** So long without a failure: it begins anew. */
const FORGET_MS = 2 * LONGEST_MS;

interface Entry {
  readonly delayMs: number;
  readonly sinceMs: number;
}

/**
 * How long a failed pod stays before the next one is tried: a node that refuses every pod must not be asked without end
 * (W23). Kept in memory, as upstream does: a restart tries once more at once. Holds one entry for each place with
 * failures in the last half hour.
 */
export class FailedPodBackoff {
  readonly #entries = new Map<string, Entry>();

  /** 0: it may go now. */
  leftMs(place: string, now: Date): number {
    const entry = this.#entries.get(place);
    return entry === undefined ? 0 : Math.max(0, entry.sinceMs + entry.delayMs - now.getTime());
  }

  /** A failed pod goes now: the next one waits twice as long as this one did. */
  failed(place: string, now: Date): void {
    const nowMs = now.getTime();
    for (const [key, { sinceMs }] of this.#entries) {
      if (nowMs - sinceMs > FORGET_MS) this.#entries.delete(key);
    }
    const { delayMs } = this.#entries.get(place) ?? {};
    const nextMs = delayMs === undefined ? FIRST_MS : Math.min(2 * delayMs, LONGEST_MS);
    this.#entries.set(place, { delayMs: nextMs, sinceMs: nowMs });
  }
}
