/** What a heap holds: it remembers its own place, so that moving or removing it costs no search. */
export interface Delayed {
  readyAtMs: number;
  /** Place in the heap, or -1. Written by the heap only. */
  place: number;
}

/** The entry that is due first, in O(log n) per change; equal times come out in any order. */
export class DelayHeap<Entry extends Delayed> {
  readonly #entries: Entry[] = [];

  get size(): number {
    return this.#entries.length;
  }

  get first(): Entry | undefined {
    return this.#entries[0];
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#rise(entry, this.#entries.length - 1);
  }

  /** Call after `readyAtMs` went down. */
  advanced(entry: Entry): void {
    this.#rise(entry, entry.place);
  }

  remove(entry: Entry): void {
    const place = entry.place;
    entry.place = -1;
    const last = this.#entries.pop();
    if (last === undefined || last === entry) return;
    const before = this.#entries[(place - 1) >> 1];
    if (before !== undefined && place > 0 && last.readyAtMs < before.readyAtMs) this.#rise(last, place);
    else this.#sink(last, place);
  }

  clear(): void {
    this.#entries.length = 0;
  }

  #rise(entry: Entry, from: number): void {
    let place = from;
    while (place > 0) {
      const parentPlace = (place - 1) >> 1;
      const parent = this.#entries[parentPlace];
      if (parent === undefined || parent.readyAtMs <= entry.readyAtMs) break;
      this.#put(parent, place);
      place = parentPlace;
    }
    this.#put(entry, place);
  }

  #sink(entry: Entry, from: number): void {
    let place = from;
    for (let child = this.#smallerChild(place); child !== undefined; child = this.#smallerChild(place)) {
      if (entry.readyAtMs <= child.readyAtMs) break;
      const free = child.place;
      this.#put(child, place);
      place = free;
    }
    this.#put(entry, place);
  }

  #smallerChild(place: number): Entry | undefined {
    const left = this.#entries[2 * place + 1];
    const right = this.#entries[2 * place + 2];
    if (left === undefined || right === undefined) return left;
    return right.readyAtMs < left.readyAtMs ? right : left;
  }

  #put(entry: Entry, place: number): void {
    this.#entries[place] = entry;
    entry.place = place;
  }
}
