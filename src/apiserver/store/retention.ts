import type { Clock } from '../../base/clock.ts';
import type { CompactionStep } from './journal.ts';
import type { StoreEvent } from './store.ts';

/** History is kept for so long at least (K6). */
const PERIOD_MS = 5 * 60_000;
const FEWEST_REVISIONS = 10_000;

/** How many revisions one step takes: a few milliseconds, for which writers wait. */
const REVISIONS_PER_STEP = 1000;

export interface Retained {
  revision(): number;
  compact(revision: number): Promise<void>;
  onError(error: unknown): void;
}

/** Compacts every five minutes what is older than five minutes and not among the newest 10,000 revisions (K6). */
export class Retention implements Disposable {
  readonly #clock: Clock;
  readonly #retained: Retained;
  #timer: Disposable;
  /** Where the store was one period ago. */
  #earlier: number;

  constructor(clock: Clock, retained: Retained) {
    this.#clock = clock;
    this.#retained = retained;
    this.#earlier = retained.revision();
    this.#timer = this.#arm();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #arm(): Disposable {
    return this.#clock.timer(PERIOD_MS, () => {
      this.#timer = this.#arm();
      const revision = this.#retained.revision();
      const target = Math.min(this.#earlier, revision - FEWEST_REVISIONS);
      this.#earlier = revision;
      if (target > 0) this.#retained.compact(target).catch((error: unknown) => this.#retained.onError(error));
    });
  }
}

/** The way to a compact revision in small steps, each of which leaves a complete store behind. */
export function* stepsOf(
  history: Iterable<StoreEvent>,
  { from, to }: { readonly from: number; readonly to: number },
): Generator<CompactionStep, undefined> {
  let start = from;
  let doomed: number[] = [];
  for (const { revision, previous, isRemoval } of history) {
    if (revision > to) break;
    while (revision > start + REVISIONS_PER_STEP) {
      yield { from: start, to: start + REVISIONS_PER_STEP, doomed };
      start += REVISIONS_PER_STEP;
      doomed = [];
    }
    if (previous !== undefined) doomed.push(previous.revision);
    if (isRemoval) doomed.push(revision);
  }
  yield { from: start, to, doomed };
  return undefined;
}
