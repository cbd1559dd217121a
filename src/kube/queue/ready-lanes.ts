/** What waits in a lane. It remembers its place, so that raising it costs no search. */
export interface Laned {
  priority: number;
  /** Since when it is ready. */
  readyAtMs: number;
  /** Below zero while it is in a lane. Written by the lane only. */
  place: number;
}

/** First in, first out; an entry in the middle can leave, and its hole is skipped. */
class Lane<Entry extends Laned> {
  readonly priority: number;
  size = 0;
  readonly #entries: (Entry | undefined)[] = [];
  /** Index of the first entry that was not taken yet. */
  #head = 0;
  /** Number of the entry at index 0: entries keep their number when the list is cut. */
  #base = 0;

  constructor(priority: number) {
    this.priority = priority;
  }

  add(entry: Entry): void {
    entry.place = -1 - (this.#base + this.#entries.length);
    this.#entries.push(entry);
    this.size++;
  }

  remove(entry: Entry): void {
    this.#entries[-1 - entry.place - this.#base] = undefined;
    this.size--;
  }

  get first(): Entry | undefined {
    while (this.#head < this.#entries.length && this.#entries[this.#head] === undefined) this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#entries.length) this.#cut();
    return this.#entries[this.#head];
  }

  #cut(): void {
    this.#entries.splice(0, this.#head);
    this.#base += this.#head;
    this.#head = 0;
  }
}

/**
 * Entries that may be taken now: the highest priority first, first in first out within one (Q4). Lanes exist only while
 * they hold something, and a program uses a handful of priorities, so finding a lane is a walk over a few items.
 */
export class ReadyLanes<Entry extends Laned> {
  /** Highest priority first; none is empty. */
  readonly #lanes: Lane<Entry>[] = [];
  readonly #maxOvertakes: number;
  #overtakes = 0;
  #size = 0;

  /** After `maxOvertakes` entries that overtook a lower one, the longest waiting of those is next (Q6). */
  constructor(maxOvertakes: number) {
    this.#maxOvertakes = maxOvertakes;
  }

  get size(): number {
    return this.#size;
  }

  /** Entries per priority. */
  get depths(): readonly { readonly priority: number; readonly size: number }[] {
    return this.#lanes;
  }

  add(entry: Entry): void {
    this.#laneFor(entry.priority).add(entry);
    this.#size++;
  }

  take(): Entry | undefined {
    const entry = this.#nextLane()?.first;
    if (entry !== undefined) this.#remove(entry);
    return entry;
  }

  /** To the end of a higher priority. */
  raise(entry: Entry, priority: number): void {
    this.#remove(entry);
    entry.priority = priority;
    this.add(entry);
  }

  clear(): void {
    this.#lanes.length = 0;
    this.#size = 0;
  }

  #nextLane(): Lane<Entry> | undefined {
    const hasLower = this.#lanes.length > 1;
    if (hasLower && this.#overtakes >= this.#maxOvertakes) {
      this.#overtakes = 0;
      // The longest wait of all, not the next lower priority: else two busy priorities would starve a third.
      return this.#lanes
        .slice(1)
        .reduce((oldest, lane) => (readySince(lane) < readySince(oldest) ? lane : oldest));
    }
    this.#overtakes = hasLower ? this.#overtakes + 1 : 0;
    return this.#lanes[0];
  }

  #laneFor(priority: number): Lane<Entry> {
    const at = this.#lanes.findIndex((lane) => lane.priority <= priority);
    const found = this.#lanes[at];
    if (found?.priority === priority) return found;
    const lane = new Lane<Entry>(priority);
    this.#lanes.splice(at < 0 ? this.#lanes.length : at, 0, lane);
    return lane;
  }

  #remove(entry: Entry): void {
    const lane = this.#laneFor(entry.priority);
    lane.remove(entry);
    this.#size--;
    if (lane.size === 0) this.#lanes.splice(this.#lanes.indexOf(lane), 1);
  }
}

const readySince = ({ first }: Lane<Laned>): number => first?.readyAtMs ?? Infinity;
