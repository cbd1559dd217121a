import { type Scale, ScaledClock, SystemClock, VirtualClock } from '../../base/clock.ts';
import type { Activity } from '../../kube/quiet/activity.ts';
import { TimeUp } from './auto-lab-clock.ts';
import { every } from './every.ts';
import { type LastChange, milliseconds, timeUntil, untilIdle } from './idle.ts';
import type { Following, IdleOptions, LabClock } from './lab-clock.ts';

export interface RunningClockOptions {
  readonly scale: Scale;
  readonly activity: Activity;
  /** Same seed, same random numbers and identifiers; those of the host unless told otherwise. */
  readonly seed?: number;
  /** Nothing ever changes unless told otherwise. */
  readonly lastChangeMs?: LastChange;
}

const QUIET_TURNS = 12;

/** Time that goes on by itself, as outside or faster. */
export class RunningLabClock implements LabClock {
  readonly mode: 'real' | 'scaled';
  readonly factor: number;
  readonly #clock: ScaledClock;
  readonly #chance: Pick<SystemClock, 'random' | 'uuid'>;
  readonly #activity: Activity;
  readonly #lastChangeMs: LastChange;

  constructor({ scale, activity, seed, lastChangeMs = () => 0 }: RunningClockOptions) {
    this.mode = scale.factor === 1 ? 'real' : 'scaled';
    this.factor = scale.factor;
    this.#clock = new ScaledClock(scale);
    this.#chance = seed === undefined ? new SystemClock() : new VirtualClock({ seed });
    this.#activity = activity;
    this.#lastChangeMs = lastChangeMs;
  }

  now(): Date {
    return this.#clock.now();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    return this.#clock.timer(ms, fire);
  }

  interval(ms: number, fire: () => void): Disposable {
    return every(this, ms, fire);
  }

  random(): number {
    return this.#chance.random();
  }

  uuid(): string {
    return this.#chance.uuid();
  }

  hold(reason: string): Disposable {
    return this.#activity.hold(reason);
  }

  follow(): Following {
    return { settled: () => {}, [Symbol.dispose]: () => {} };
  }

  async settle(): Promise<void> {
    for (let turns = 0, moves = this.#activity.moves; turns < QUIET_TURNS; turns++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#activity.moves === moves && this.#activity.inFlight === 0) continue;
      [turns, moves] = [0, this.#activity.moves];
    }
  }

  async advance(time: number | string): Promise<void> {
    const targetMs = this.monotonicMs() + milliseconds(time);
    // Timers of the host fire up to a millisecond early, which is more of the lab's.
    for (let leftMs = milliseconds(time); leftMs > 0; leftMs = targetMs - this.monotonicMs())
      await this.#clock.sleep(leftMs);
  }

  async advanceTo(moment: Date): Promise<void> {
    await this.advance(timeUntil(this, moment));
  }

  async runUntilIdle(options: IdleOptions): Promise<void> {
    await untilIdle(this, this.#lastChangeMs, options);
  }

  async through<T>(promise: Promise<T>, withinMs: number): Promise<T> {
    const late = Promise.withResolvers<never>();
    using _deadline = this.timer(withinMs, () => late.reject(new TimeUp(withinMs)));
    return await Promise.race([promise, late.promise]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Timers belong to those who set them.
  }
}
