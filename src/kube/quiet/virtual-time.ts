import { SystemClock, type VirtualClock } from '../../base/clock.ts';
import type { Activity } from './activity.ts';

/** So many turns of the event loop without any movement: nothing is under way that does not wait for time. */
const QUIET_TURNS = 12;
/** A reconcile that neither moves nor ends waits for time, as in a retry; or for I/O of its own, which gets so long. */
const BUSY_PATIENCE_MS = 20;
/** Whoever needs more at one moment writes because of what he wrote himself. */
const MOST = { turns: 200_000, moves: 100_000 };
/** After so many turns without movement, though something is in flight, a turn takes a millisecond. */
const PATIENT_TURNS = 100;
const HOST = new SystemClock();
const LONGEST_WAIT_MS = 60 * 60_000;

export interface VirtualTimeOptions {
  readonly clock: VirtualClock;
  readonly activity: Activity;
  /** Whether somebody still has work, though nothing moves on the wire. */
  readonly isBusy: () => boolean;
  /** Called when a settling begins. */
  readonly watchOver?: () => SettleWatch;
  /** What one settling may take before it is given up; the watch decides alone when it is Infinity. */
  readonly most?: { readonly turns: number; readonly moves: number };
}

/** Watches over one settling. */
export interface SettleWatch {
  /** Throws when it sees that there will be no rest. */
  check(): void;
  /** What went over the wire since it began. */
  readonly summary: string;
}

const BLIND: SettleWatch = { check: () => {}, summary: 'nobody recorded the requests' };

/** Lets virtual time pass only when nothing else can happen, so that a slow machine changes nothing (runtime T2). */
export class VirtualTime {
  readonly #clock: VirtualClock;
  readonly #activity: Activity;
  readonly #isBusy: () => boolean;
  readonly #watchOver: () => SettleWatch;
  readonly #most: { readonly turns: number; readonly moves: number };
  /** The movement after which somebody busy was waited for in vain: not again before something moves. */
  #waitedAt = -1;
  /** Turns in a row in which nothing moved though something is in flight. */
  #stillTurns = 0;

  constructor({ clock, activity, isBusy, watchOver = () => BLIND, most = MOST }: VirtualTimeOptions) {
    this.#clock = clock;
    this.#activity = activity;
    this.#isBusy = isBusy;
    this.#watchOver = watchOver;
    this.#most = most;
  }

  /**
   * Resolves when nothing moves and nothing is due at this moment, or `isDone`; time does not pass. Rejects when it never
   * comes to rest: the same writes over and over, or movement without end.
   */
  async settle(isDone: () => boolean = () => false): Promise<void> {
    const watch = this.#watchOver();
    const { turns, moves } = this.#most;
    const mostMoves = this.#activity.moves + moves;
    let quietTurns = 0;
    let quietSinceMs = HOST.monotonicMs();
    for (let turn = 0; turn < turns; turn++) {
      if (isDone()) return;
      const isQuiet = await this.#turn();
      watch.check();
      if (this.#activity.moves > mostMoves)
        throw new Error(`not at rest after ${moves} movements: ${watch.summary}; a reconcile without end?`);
      quietTurns = isQuiet ? quietTurns + 1 : 0;
      if (!isQuiet) quietSinceMs = HOST.monotonicMs();
      if (quietTurns >= QUIET_TURNS && this.#isAtRest(quietSinceMs)) return;
    }
    throw new Error(
      `not at rest after ${turns} turns of the event loop, ${this.#activity.inFlight} requests in flight: ${watch.summary}`,
    );
  }

  /** Moves time on, from one timer to the next; what each of them starts comes to rest before the next one fires. */
  async advance(ms: number): Promise<void> {
    const clock = this.#clock;
    const targetMs = clock.monotonicMs() + ms;
    await this.settle();
    for (let dueMs = clock.nextDueMs; dueMs !== undefined && dueMs <= targetMs; dueMs = clock.nextDueMs) {
      await clock.advance(dueMs - clock.monotonicMs());
      await this.settle();
    }
    await clock.advance(targetMs - clock.monotonicMs());
    await this.settle();
  }

  /** Lets time pass, as much as it takes, until the promise is settled. Rejects when it takes more than an hour. */
  async through<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const finished = promise.finally(() => {
      isDone = true;
    });
    finished.catch(() => {});
    const startMs = this.#clock.monotonicMs();
    for (;;) {
      await this.settle(() => isDone);
      if (isDone) return finished;
      const { nextDueMs } = this.#clock;
      if (nextDueMs === undefined) throw new Error('nothing is left to wait for, and still it has not happened');
      if (nextDueMs - startMs > LONGEST_WAIT_MS)
        throw new Error('it has not happened within an hour of virtual time');
      await this.#clock.advance(nextDueMs - this.#clock.monotonicMs());
    }
  }

  /** One turn of the event loop, longer ones while somebody takes his time. Whether nothing moved. */
  async #turn(): Promise<boolean> {
    const before = this.#activity.moves;
    const isDue = (this.#clock.nextDueMs ?? Number.POSITIVE_INFINITY) <= this.#clock.monotonicMs();
    if (isDue) await this.#clock.advance(0);
    // Whoever waits for the outside world, a disk or a process, gets the processor meanwhile.
    if (this.#stillTurns > PATIENT_TURNS) await HOST.sleep(1);
    else await new Promise((resolve) => setImmediate(resolve));
    const isStill = !isDue && this.#activity.moves === before;
    this.#stillTurns = isStill && this.#activity.inFlight > 0 ? this.#stillTurns + 1 : 0;
    return isStill && this.#activity.inFlight === 0;
  }

  #isAtRest(quietSinceMs: number): boolean {
    const { moves } = this.#activity;
    if (!this.#isBusy() || this.#waitedAt === moves) return true;
    if (HOST.monotonicMs() - quietSinceMs <= BUSY_PATIENCE_MS) return false;
    this.#waitedAt = moves;
    return true;
  }
}
