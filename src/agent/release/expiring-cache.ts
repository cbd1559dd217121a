import type { Clock } from '../../base/clock.ts';

export interface ExpiringCacheOptions {
  readonly clock: Clock;
  readonly lifeMs: number;
  /** The oldest goes when there are more. */
  readonly mostEntries: number;
}

interface Entry<T> {
  readonly value: T;
  readonly untilMs: number;
}

/** Remembers what was found out, for a while. Failures are not remembered. */
export class ExpiringCache<T> {
  readonly #options: ExpiringCacheOptions;
  readonly #entries = new Map<string, Entry<T>>();

  constructor(options: ExpiringCacheOptions) {
    this.#options = options;
  }

  /** What is known, or what `find` finds. Two who ask at once both ask: each has a signal and a patience of its own. */
  async get(key: string, find: () => Promise<T>): Promise<T> {
    const { clock, lifeMs, mostEntries } = this.#options;
    const known = this.#entries.get(key);
    if (known !== undefined && known.untilMs > clock.monotonicMs()) return known.value;
    const value = await find();
    this.#entries.delete(key);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size >= mostEntries && oldest !== undefined) this.#entries.delete(oldest);
    this.#entries.set(key, { value, untilMs: clock.monotonicMs() + lifeMs });
    return value;
  }

  forget(key: string): void {
    this.#entries.delete(key);
  }
}
