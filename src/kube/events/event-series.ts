import type { EventObject, SeriesState } from './event-object.ts';

/** One Event object, and how often what it tells of has happened. */
export interface Series {
  readonly key: string;
  readonly event: EventObject;
  readonly firstObserved: Date;
  state: SeriesState;
  lastObservedMs: number;
  /** The count that was last handed to delivery, and when. */
  handedCount: number;
  handedMs: number;
}

/** What has to be written: the series as it is at this moment. */
export interface EventWrite {
  readonly series: Series;
  /** Absent: the first occurrence, which creates the object. */
  readonly state?: SeriesState;
}

/** Quiet for so long: the series has ended. */
const FINISH_MS = 6 * 60_000;
/** Events live an hour; a series that goes on is written again before. */
const REFRESH_MS = 30 * 60_000;
const MOST_SERIES = 4096;

/** Counts occurrences in memory and says which of them are worth a write (V2). Decides only; knows no clock. */
export class EventSeries {
  /** In order of the last occurrence, oldest first. Bounded: the oldest makes room. */
  readonly #series = new Map<string, Series>();

  find(key: string): Series | undefined {
    return this.#series.get(key);
  }

  /** A new series; resolves to the writes: the creation, and the last word of the one that had to make room. */
  begin(series: Series): readonly EventWrite[] {
    this.#series.set(series.key, series);
    const [oldest] = this.#series.size > MOST_SERIES ? this.#series.values() : [];
    return [...(oldest === undefined ? [] : this.#end(oldest)), { series }];
  }

  /** One more occurrence of a series. `mayWrite` is asked only when a write is due. */
  observe(series: Series, at: Date, nowMs: number, mayWrite: () => boolean): readonly EventWrite[] {
    series.state = { count: series.state.count + 1, lastObserved: at };
    series.lastObservedMs = nowMs;
    this.#series.delete(series.key);
    this.#series.set(series.key, series);
    const isDue = series.handedCount === 1 || nowMs - series.handedMs >= REFRESH_MS;
    return isDue && mayWrite() ? [handed(series, nowMs)] : [];
  }

  /** Forgets what was quiet for six minutes; what is left to write of it. */
  finish(nowMs: number): readonly EventWrite[] {
    const writes: EventWrite[] = [];
    for (const series of this.#series.values()) {
      if (series.lastObservedMs + FINISH_MS > nowMs) break;
      writes.push(...this.#end(series));
    }
    return writes;
  }

  /** When `finish` has something to do; undefined when nothing is kept. */
  get nextFinishMs(): number | undefined {
    const [oldest] = this.#series.values();
    return oldest === undefined ? undefined : oldest.lastObservedMs + FINISH_MS;
  }

  /** Forgets everything; the last words of all. */
  finishAll(): readonly EventWrite[] {
    return [...this.#series.values()].flatMap((series) => this.#end(series));
  }

  #end(series: Series): readonly EventWrite[] {
    this.#series.delete(series.key);
    return series.state.count > series.handedCount ? [handed(series, series.handedMs)] : [];
  }
}

function handed(series: Series, nowMs: number): EventWrite {
  series.handedCount = series.state.count;
  series.handedMs = nowMs;
  return { series, state: series.state };
}
