import type { Clock } from '../base/clock.ts';

/**
 * A clock whose wall time somebody sets, forwards or backwards, as administrators and time services do. Timers and the
 * monotonic time go on undisturbed: what waits must not notice.
 */
export class JumpingClock implements Clock {
  readonly #clock: Clock;
  #offMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Jumps add up. */
  jump(ms: number): void {
    this.#offMs += ms;
  }

  now(): Date {
    return new Date(this.#clock.now().getTime() + this.#offMs);
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

  random(): number {
    return this.#clock.random();
  }

  uuid(): string {
    return this.#clock.uuid();
  }
}
