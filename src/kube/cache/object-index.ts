import type { KubeObject } from '../../api/object.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { IndexFunction } from './cache.ts';

const NO_VALUES: readonly string[] = [];
const NO_KEYS: ReadonlySet<string> = new Set();

/** Finds the keys of objects by a value that a function takes from them; holds only keys, as many as there are values. */
export class ObjectIndex {
  readonly #name: string;
  readonly #valuesOf: IndexFunction;
  readonly #log: Log;
  readonly #keys = new Map<string, Set<string>>();
  /** So that the function runs once per change of an object, and need not give the same answer twice. */
  readonly #values = new Map<string, readonly string[]>();

  constructor(name: string, valuesOf: IndexFunction, log: Log) {
    this.#name = name;
    this.#valuesOf = valuesOf;
    this.#log = log;
  }

  /** Files an object under its values, or under none when the function throws (I12). */
  put(key: string, object: KubeObject): void {
    const before = this.#values.get(key) ?? NO_VALUES;
    const values = this.#valuesFor(key, object);
    if (isEqual(before, values)) return;
    this.#leave(key, before);
    for (const value of values) this.#enter(key, value);
    if (values.length === 0) this.#values.delete(key);
    else this.#values.set(key, values);
  }

  remove(key: string): void {
    this.#leave(key, this.#values.get(key) ?? NO_VALUES);
    this.#values.delete(key);
  }

  keys(value: string): ReadonlySet<string> {
    return this.#keys.get(value) ?? NO_KEYS;
  }

  clear(): void {
    this.#keys.clear();
    this.#values.clear();
  }

  #valuesFor(key: string, object: KubeObject): readonly string[] {
    try {
      return this.#valuesOf(object);
    } catch (error) {
      const fields = { err: error, index: this.#name, object: key };
      this.#log.error(fields, `index function failed, object is not indexed: ${messageOf(error)}`);
      return NO_VALUES;
    }
  }

  #enter(key: string, value: string): void {
    const keys = this.#keys.get(value);
    if (keys === undefined) this.#keys.set(value, new Set([key]));
    else keys.add(key);
  }

  #leave(key: string, values: readonly string[]): void {
    for (const value of values) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
  }
}

const isEqual = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, at) => value === b[at]);
