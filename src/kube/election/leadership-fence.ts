import type { Clock } from '../../base/clock.ts';
import type { Fence } from './fence.ts';

/** A moment on both clocks of a process. */
export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export const momentOf = (clock: Clock): Moment => ({
  monotonicMs: clock.monotonicMs(),
  wallMs: clock.now().getTime(),
});

/**
 * Says whether writes are safe, computed at the moment of the question: a process that was stopped or blocked gets "no"
 * before it has noticed anything (E7). The wall clock can only make it stricter: the monotonic one stands still while a
 * machine is suspended, and others do not wait for it.
 */
export class LeadershipFence implements Fence {
  readonly #clock: Clock;
  #until: Moment | undefined;
  #token = '0';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get isValid(): boolean {
    if (this.#until === undefined) return false;
    const now = momentOf(this.#clock);
    return now.monotonicMs < this.#until.monotonicMs && now.wallMs < this.#until.wallMs;
  }

  get token(): string {
    return this.#token;
  }

  /** How long the monotonic clock allows writes from now on; 0 or less when it does not. */
  get remainingMs(): number {
    return this.#until === undefined ? 0 : this.#until.monotonicMs - this.#clock.monotonicMs();
  }

  /** The lease was renewed by a request that was begun at `start`. */
  extend(start: Moment, forMs: number, transitions: number): void {
    this.#until = { monotonicMs: start.monotonicMs + forMs, wallMs: start.wallMs + forMs };
    this.#token = String(transitions);
  }

  /** No write from now on. */
  revoke(): void {
    this.#until = undefined;
  }
}
