import type { Changeset } from './log-line.ts';

type Values = ReadonlyMap<string, object>;
const NONE: Values = new Map();

/** Everything that the cloud knows: values by table and key. Bounded by quotas and by what expires. */
export class Tables {
  readonly #tables = new Map<string, Map<string, object>>();

  get(table: string, key: string): object | undefined {
    return this.#tables.get(table)?.get(key);
  }

  /** In the order in which they were written. */
  all(table: string): Values {
    return this.#tables.get(table) ?? NONE;
  }

  apply({ put, del }: Changeset): void {
    for (const [table, values] of Object.entries(put)) {
      const target = this.#tables.get(table) ?? new Map<string, object>();
      this.#tables.set(table, target);
      for (const [key, value] of Object.entries(values)) {
        // What was written last comes last: old things are found at the front.
        target.delete(key);
        target.set(key, value);
      }
    }
    for (const [table, keys] of Object.entries(del)) {
      for (const key of keys) this.#tables.get(table)?.delete(key);
    }
  }

  /** Applied to empty tables in this order, they give these. */
  *snapshot(): Generator<Changeset> {
    for (const [table, values] of this.#tables) {
      for (const [key, value] of values) yield { put: { [table]: { [key]: value } }, del: {} };
    }
  }
}

/** Writes that have not happened yet, over tables that do not change meanwhile. */
export class Overlay {
  readonly #base: Pick<Tables, 'get' | 'all'>;
  /** Undefined: it is taken away. */
  readonly #writes = new Map<string, Map<string, object | undefined>>();

  constructor(base: Pick<Tables, 'get' | 'all'>) {
    this.#base = base;
  }

  get(table: string, key: string): object | undefined {
    const writes = this.#writes.get(table);
    return writes?.has(key) === true ? writes.get(key) : this.#base.get(table, key);
  }

  all(table: string): Values {
    const writes = this.#writes.get(table);
    if (writes === undefined) return this.#base.all(table);
    const merged = new Map(this.#base.all(table));
    for (const [key, value] of writes) {
      merged.delete(key);
      if (value !== undefined) merged.set(key, value);
    }
    return merged;
  }

  put(table: string, key: string, value: object): void {
    this.#write(table, key, value);
  }

  delete(table: string, key: string): void {
    this.#write(table, key, undefined);
  }

  get isEmpty(): boolean {
    return this.#writes.size === 0;
  }

  changeset(): Changeset {
    const put: Record<string, Record<string, object>> = {};
    const del: Record<string, string[]> = {};
    for (const [table, writes] of this.#writes) {
      for (const [key, value] of writes) {
        if (value === undefined) (del[table] ??= []).push(key);
        else (put[table] ??= {})[key] = value;
      }
    }
    return { put, del };
  }

  #write(table: string, key: string, value: object | undefined): void {
    const writes = this.#writes.get(table) ?? new Map<string, object | undefined>();
    this.#writes.set(table, writes);
    writes.set(key, value);
  }
}
