/** What was last said under each name, so that logs tell changes and not states (O4). */
export class ChangeMemory {
  // Bounded by `#limit`: the oldest goes first, and at worst something is said once more.
  readonly #values = new Map<string, string | number | boolean>();
  readonly #limit: number;

  constructor(limit = 100_000) {
    this.#limit = limit;
  }

  /** Whether this is news; the next call with the same value says no. */
  isNew(name: string, value: string | number | boolean): boolean {
    if (this.#values.get(name) === value) return false;
    this.#values.delete(name);
    this.#values.set(name, value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#limit) break;
      this.#values.delete(oldest);
    }
    return true;
  }
}
