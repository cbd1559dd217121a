import type { Json } from './json.ts';

// Below this, moving the items of a list is cheaper than keeping account of its parts.
const LONG = 4096;
const PART = 1024;

/**
 * The lists that a JSON patch changes. A patch may insert at the front of a list of a million items ten thousand times:
 * such a list is held in parts while it is changed, so that a change moves the items of one part only. The list itself is
 * stale until `settle` writes the parts back.
 */
export class PatchedLists {
  readonly #parts = new Map<Json[], Parts>();

  lengthOf(list: Json[]): number {
    return this.#parts.get(list)?.length ?? list.length;
  }

  at(list: Json[], index: number): Json | undefined {
    const parts = this.#parts.get(list);
    return parts === undefined ? list[index] : parts.at(index);
  }

  set(list: Json[], index: number, value: Json): void {
    const parts = this.#parts.get(list);
    if (parts === undefined) list[index] = value;
    else parts.set(index, value);
  }

  insert(list: Json[], index: number, value: Json): void {
    // At the end nothing has to move.
    if (!this.#parts.has(list) && index === list.length) list.push(value);
    else this.#partsOf(list).splice(index, 0, value);
  }

  remove(list: Json[], index: number): void {
    this.#partsOf(list).splice(index, 1);
  }

  /** Makes a value what it stands for, whatever lists are in it. */
  settle(value: Json | undefined): void {
    if (this.#parts.size > 0) this.#settle(value);
  }

  #settle(value: Json | undefined): void {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      this.#parts.get(value)?.writeTo(value);
      this.#parts.delete(value);
    }
    for (const item of Array.isArray(value) ? value : Object.values(value)) this.#settle(item);
  }

  #partsOf(list: Json[]): Pick<Parts, 'splice'> {
    const known = this.#parts.get(list);
    if (known !== undefined) return known;
    if (list.length < LONG) return list;
    const parts = new Parts(list);
    this.#parts.set(list, parts);
    return parts;
  }
}

class Parts {
  length: number;
  #parts: Json[][] = [];

  constructor(list: readonly Json[]) {
    this.length = list.length;
    for (let start = 0; start < list.length; start += PART) this.#parts.push(list.slice(start, start + PART));
  }

  at(index: number): Json | undefined {
    const { part, offset } = this.#find(index);
    return part[offset];
  }

  set(index: number, value: Json): void {
    const { part, offset } = this.#find(index);
    part[offset] = value;
  }

  splice(index: number, removed: number, ...added: Json[]): void {
    const { part, offset, position } = this.#find(index);
    part.splice(offset, removed, ...added);
    this.length += added.length - removed;
    if (part.length >= 2 * PART) this.#parts.splice(position + 1, 0, part.splice(PART));
    else if (part.length === 0 && this.#parts.length > 1) this.#parts.splice(position, 1);
  }

  writeTo(list: Json[]): void {
    list.length = 0;
    for (const part of this.#parts) for (const item of part) list.push(item);
  }

  /** The part that holds an index, or the end of the last one. */
  #find(index: number): { part: Json[]; offset: number; position: number } {
    let offset = index;
    let position = 0;
    for (; position < this.#parts.length - 1; position++) {
      const { length } = this.#parts[position] ?? [];
      if (offset < length) break;
      offset -= length;
    }
    return { part: this.#parts[position] ?? [], offset, position };
  }
}
