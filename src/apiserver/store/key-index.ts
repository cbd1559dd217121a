import type { Entry } from './store.ts';

const MOST_PER_CHUNK = 512;
const SURROGATE = /[\ud800-\udfff]/;

/**
 * Entries in byte order of their keys: a list of sorted chunks, so that an insert moves a few hundred pointers and not
 * a hundred thousand.
 */
export class KeyIndex {
  readonly #chunks: Entry[][] = [];
  #size = 0;
  /** Strings of JavaScript order like UTF-8 bytes, except where surrogates take part; those are rare enough to pay. */
  #hasSurrogates = false;

  get size(): number {
    return this.#size;
  }

  /** Adds the entry, or puts it in the place of the one with the same key. */
  set(entry: Entry): void {
    if (!this.#hasSurrogates && SURROGATE.test(entry.key)) this.#hasSurrogates = true;
    const at = this.#chunkOf(entry.key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) {
      this.#append(entry);
      return;
    }
    const position = this.#positionIn(chunk, entry.key);
    if (chunk[position]?.key === entry.key) {
      chunk[position] = entry;
      return;
    }
    chunk.splice(position, 0, entry);
    this.#size++;
    if (chunk.length > MOST_PER_CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(chunk.length >>> 1));
  }

  delete(key: string): void {
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    const position = this.#positionIn(chunk, key);
    if (chunk[position]?.key !== key) return;
    chunk.splice(position, 1);
    this.#size--;
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  /** Entries whose keys begin with `prefix`, from `start` on. */
  *below(prefix: string, start = prefix): Generator<Entry, undefined> {
    const first = this.compare(start, prefix) < 0 ? prefix : start;
    let at = this.#chunkOf(first);
    let position = this.#positionIn(this.#chunks[at] ?? [], first);
    for (let chunk = this.#chunks[at]; chunk !== undefined; chunk = this.#chunks[++at]) {
      for (; position < chunk.length; position++) {
        const entry = chunk[position];
        if (entry === undefined || !entry.key.startsWith(prefix)) return undefined;
        yield entry;
      }
      position = 0;
    }
    return undefined;
  }

  /** How many keys begin with `prefix`. */
  count(prefix: string): number {
    return this.#rank(successor(prefix)) - this.#rank(prefix);
  }

  compare(a: string, b: string): number {
    if (a === b) return 0;
    return this.#hasSurrogates || SURROGATE.test(a) ? comparePoints(a, b) : a < b ? -1 : 1;
  }

  /** New keys often come in ascending order; a full last chunk then stays full instead of being split. */
  #append(entry: Entry): void {
    const last = this.#chunks.at(-1);
    if (last === undefined || last.length >= MOST_PER_CHUNK) this.#chunks.push([entry]);
    else last.push(entry);
    this.#size++;
  }

  /** The first chunk whose last key is not before `key`. */
  #chunkOf(key: string): number {
    const order = this.#order(key);
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const last = this.#chunks[middle]?.at(-1);
      if (last !== undefined && order(last.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The place of the first key that is not before `key`. */
  #positionIn(chunk: readonly Entry[], key: string): number {
    const order = this.#order(key);
    let low = 0;
    let high = chunk.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const entry = chunk[middle];
      if (entry !== undefined && order(entry.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** How many keys are before `key`. */
  #rank(key: string): number {
    const at = this.#chunkOf(key);
    let before = this.#positionIn(this.#chunks[at] ?? [], key);
    for (let chunk = 0; chunk < at; chunk++) before += this.#chunks[chunk]?.length ?? 0;
    return before;
  }

  #order(key: string): (a: string, b: string) => number {
    return this.#hasSurrogates || SURROGATE.test(key) ? comparePoints : compareUnits;
  }
}

/** The least string after all that begin with `prefix`; prefixes end in a slash, never in the last code unit. */
const successor = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

const compareUnits = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** By code points, which is the order of the UTF-8 bytes. */
function comparePoints(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at++) {
    const [left, right] = [a.codePointAt(at) ?? 0, b.codePointAt(at) ?? 0];
    if (left !== right) return left - right;
  }
  return a.length - b.length;
}
