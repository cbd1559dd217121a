import { type Clock, SystemClock, VirtualClock } from '../../base/clock.ts';
import type { Activity } from '../../kube/quiet/activity.ts';
import { VirtualTime } from '../../kube/quiet/virtual-time.ts';
import { every } from './every.ts';
import { type LastChange, milliseconds, timeUntil, untilIdle } from './idle.ts';
import type { Following, IdleOptions, LabClock } from './lab-clock.ts';
import { LiveChildren } from './live-children.ts';
import { LivelockWatch, stallWatch } from './stall.ts';

export interface AutoClockOptions {
  readonly start: Date;
  readonly seed: number;
  readonly activity: Activity;
  /** Whether somebody still has work, though nothing moves on the wire. */
  readonly isBusy?: () => boolean;
  /** Nothing ever changes unless told otherwise. */
  readonly lastChangeMs?: LastChange;
  /** For the message when the lab never comes to rest. */
  readonly describe?: () => readonly string[];
  /** Lab time that may pass at once per 100 ms of real time while a child lives; 10 s unless told otherwise (T5). */
  readonly childJumpMs?: number;
  /** Real time without rest that is given up; 30 s unless told otherwise. */
  readonly stallMs?: number;
  readonly host?: Clock;
}

const CHILD_JUMP_MS = 10_000;
const CHILD_PAUSE_MS = 100;

/**
 * Time that stands still, and goes from timer to timer while somebody waits for it with `advance` or `through`: one timer
 * fires, and what it starts comes to rest before the next one (T4). While a child lives, time also passes as outside (T5).
 */
export class AutoLabClock implements LabClock {
  readonly mode = 'auto';
  readonly factor = 1;
  readonly #virtual: VirtualClock;
  readonly #activity: Activity;
  readonly #time: VirtualTime;
  readonly #host: Clock;
  readonly #children: LiveChildren;
  readonly #livelock = new LivelockWatch();
  readonly #childJumpMs: number;
  readonly #lastChangeMs: LastChange;

  constructor(options: AutoClockOptions) {
    const { start, seed, activity, isBusy = () => false, describe = () => [], host = new SystemClock() } = options;
    this.#virtual = new VirtualClock({ start, seed });
    this.#activity = activity;
    this.#host = host;
    this.#childJumpMs = options.childJumpMs ?? CHILD_JUMP_MS;
    this.#lastChangeMs = options.lastChangeMs ?? (() => 0);
    this.#children = new LiveChildren(host, (ms) => this.#virtual.advance(ms));
    const sources = {
      holds: () => activity.holds,
      inFlight: () => activity.inFlight,
      describe: () => [...this.#children.reasons.map((reason) => `child: ${reason}`), ...describe()],
      hostMs: () => host.monotonicMs(),
    };
    this.#time = new VirtualTime({
      clock: this.#virtual,
      activity,
      isBusy,
      watchOver: () => stallWatch(sources, options.stallMs),
      most: { turns: Number.POSITIVE_INFINITY, moves: Number.POSITIVE_INFINITY },
    });
  }

  now(): Date {
    return this.#virtual.now();
  }

  monotonicMs(): number {
    return this.#virtual.monotonicMs();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#virtual.sleep(ms, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    return this.#virtual.timer(
      ms,
      this.#livelock.watched(fire, () => this.monotonicMs()),
    );
  }

  interval(ms: number, fire: () => void): Disposable {
    return every(this, ms, fire);
  }

  random(): number {
    return this.#virtual.random();
  }

  uuid(): string {
    return this.#virtual.uuid();
  }

  hold(reason: string): Disposable {
    return this.#activity.hold(reason);
  }

  follow(reason: string): Following {
    return this.#children.follow(reason);
  }

  settle(): Promise<void> {
    return this.#time.settle();
  }

  async advance(time: number | string): Promise<void> {
    const targetMs = this.monotonicMs() + milliseconds(time);
    await this.#until(() => this.monotonicMs() >= targetMs, targetMs);
  }

  async advanceTo(moment: Date): Promise<void> {
    await this.advance(timeUntil(this, moment));
  }

  async runUntilIdle(options: IdleOptions): Promise<void> {
    await untilIdle(this, this.#lastChangeMs, options);
  }

  async through<T>(promise: Promise<T>, withinMs: number): Promise<T> {
    let isDone = false;
    const finished = promise.finally(() => {
      isDone = true;
    });
    finished.catch(() => {});
    const deadlineMs = this.monotonicMs() + withinMs;
    await this.#until(() => isDone, deadlineMs);
    if (!isDone) throw new TimeUp(withinMs);
    return finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#livelock.end();
    await this.#children[Symbol.asyncDispose]();
  }

  /** Lets time pass until `isDone` or the deadline, which is reached exactly. */
  async #until(isDone: () => boolean, deadlineMs: number): Promise<void> {
    for (;;) {
      await this.#settled(isDone);
      this.#livelock.throwIfAny();
      const nowMs = this.monotonicMs();
      if (isDone() || nowMs >= deadlineMs) return;
      const nextMs = Math.min(this.#virtual.nextDueMs ?? deadlineMs, deadlineMs);
      await this.#pass(nextMs - nowMs);
    }
  }

  /** Quiet; or, while a child is not settled, a moment of real time: it may be busy without a sign of it. */
  async #settled(isDone: () => boolean): Promise<void> {
    if (this.#children.isUnsettled) await this.#host.sleep(1);
    else await this.#time.settle(isDone);
  }

  async #pass(ms: number): Promise<void> {
    if (this.#children.isUnsettled) return;
    if (!this.#children.isEmpty) {
      const stepMs = Math.min(ms, this.#childJumpMs);
      await this.#children.exclusively(() => this.#virtual.advance(stepMs));
      // Children that poll see time in steps of that size.
      await this.#host.sleep((CHILD_PAUSE_MS * stepMs) / this.#childJumpMs);
      return;
    }
    await this.#virtual.advance(ms);
  }
}

/** It has not happened within so much lab time. */
export class TimeUp extends Error {
  constructor(withinMs: number) {
    super(`not within ${withinMs / 1000} s of lab time`);
    this.name = 'TimeUp';
  }
}
