import type { KubeObject } from '../../../api/object.ts';

/** What became of an object: absent before, or absent now. */
export interface Change<T extends KubeObject> {
  readonly key: string;
  readonly old: T | undefined;
  readonly now: T | undefined;
}

/** The objects of a kind at the last look, so that the next one tells what has changed. Bounded by what there is. */
export class SeenObjects<T extends KubeObject> {
  readonly #keyOf: (object: T) => string;
  #objects: ReadonlyMap<string, T> = new Map();

  constructor(keyOf: (object: T) => string) {
    this.#keyOf = keyOf;
  }

  get objects(): ReadonlyMap<string, T> {
    return this.#objects;
  }

  /** A cache hands out the same object as long as nothing changes, so looking costs a comparison per object. */
  look(objects: readonly T[]): readonly Change<T>[] {
    const before = this.#objects;
    const after = new Map<string, T>();
    const changes: Change<T>[] = [];
    for (const now of objects) {
      const key = this.#keyOf(now);
      after.set(key, now);
      const old = before.get(key);
      if (old !== now) changes.push({ key, old, now });
    }
    for (const [key, old] of before) if (!after.has(key)) changes.push({ key, old, now: undefined });
    this.#objects = after;
    return changes;
  }
}
