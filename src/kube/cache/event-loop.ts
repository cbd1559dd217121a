import type { Clock } from '../../base/clock.ts';

const MOST_EVENTS = 1000;
const MOST_MS = 10;
const EVENTS_PER_LOOK = 32;

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Says when work on many events has to let others run: after 1,000 events or 10 ms (I10). */
export class Turns {
  readonly #clock: Clock;
  #events = 0;
  #sinceMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** After each event: a promise of the next turn of the event loop when it is time for it. */
  took(): Promise<void> | undefined {
    if (this.#events === 0) this.#sinceMs = this.#clock.monotonicMs();
    this.#events++;
    if (this.#events < MOST_EVENTS) {
      // Asking for the time costs as much as small work does.
      if (this.#events % EVENTS_PER_LOOK !== 0) return undefined;
      if (this.#clock.monotonicMs() - this.#sinceMs < MOST_MS) return undefined;
    }
    this.#events = 0;
    return nextTurn();
  }
}
