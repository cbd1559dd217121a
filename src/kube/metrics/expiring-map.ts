import type { Clock } from '../../base/clock.ts';

/** Values that are good for a time. Holds at most `size`; the oldest go first. Those who ask at once wait for one answer. */
export class ExpiringMap<Value> {
  readonly #clock: Clock;
  readonly #size: number;
  readonly #entries = new Map<string, { readonly value: Value; readonly untilMs: number }>();
  readonly #making = new Map<string, Promise<Value>>();

  constructor(clock: Clock, size: number) {
    this.#clock = clock;
    this.#size = size;
  }

  /** The value kept, or a new one with the time it is good for. A failure is not kept. */
  async getOrMake(key: string, make: () => Promise<readonly [Value, number]>): Promise<Value> {
    const kept = this.#entries.get(key);
    if (kept !== undefined && this.#clock.monotonicMs() < kept.untilMs) return kept.value;
    const making = this.#making.get(key) ?? this.#make(key, make);
    return making;
  }

  #make(key: string, make: () => Promise<readonly [Value, number]>): Promise<Value> {
    const making = this.#keep(key, make).finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return making;
  }

  async #keep(key: string, make: () => Promise<readonly [Value, number]>): Promise<Value> {
    const [value, forMs] = await make();
    this.#entries.delete(key);
    this.#entries.set(key, { value, untilMs: this.#clock.monotonicMs() + forMs });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#size) break;
      this.#entries.delete(oldest);
    }
    return value;
  }
}
