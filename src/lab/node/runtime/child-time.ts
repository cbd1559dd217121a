import type { Clock } from '../../../base/clock.ts';
import type { Following, LabClock } from '../../clock/lab-clock.ts';

/** A child that says nothing for so long does nothing that anybody waits for. */
const SETTLED_MS = 5000;

/**
 * Lets lab time pass as outside while a child starts or ends (T5): from its start until it is settled, and from its
 * stop until its end was told.
 */
export class ChildTime {
  readonly #clock: Pick<LabClock, 'follow'>;
  readonly #real: Clock;
  readonly #reason: string;
  #following: Following;
  #quiet: Disposable;
  #heardMs: number;
  #isStopping = false;
  #hasEnded = false;

  constructor(clock: Pick<LabClock, 'follow'>, real: Clock, reason: string) {
    this.#clock = clock;
    this.#real = real;
    this.#reason = reason;
    this.#following = clock.follow(reason);
    this.#heardMs = real.monotonicMs();
    this.#quiet = real.timer(SETTLED_MS, () => this.#look());
  }

  /** It wrote something: it is not done yet. */
  heard(): void {
    this.#heardMs = this.#real.monotonicMs();
  }

  /** Ready, or its end was told. One that is stopping may be ready still, but is not done. */
  settled(): void {
    if (this.#isStopping && !this.#hasEnded) return;
    this.#quiet[Symbol.dispose]();
    this.#following.settled();
    if (this.#hasEnded) this.#following[Symbol.dispose]();
  }

  /** It was told to stop: nobody knows what it is about to do. */
  stopping(): void {
    if (this.#hasEnded) return;
    this.#isStopping = true;
    const next = this.#clock.follow(`${this.#reason}, stopping`);
    this.#following[Symbol.dispose]();
    this.#following = next;
    this.#quiet[Symbol.dispose]();
  }

  /** It is gone; time passes as outside until `settled`, or for five seconds when nobody tells of it. */
  ended(): void {
    this.#hasEnded = true;
    this.#quiet[Symbol.dispose]();
    this.#quiet = this.#real.timer(SETTLED_MS, () => this.settled());
  }

  #look(): void {
    const leftMs = this.#heardMs + SETTLED_MS - this.#real.monotonicMs();
    if (leftMs <= 0) return this.settled();
    this.#quiet = this.#real.timer(leftMs, () => this.#look());
  }
}
