import { type Clock, SystemClock, VirtualClock } from '../../../src/base/clock.ts';

/**
 * Real time, some times faster: back-offs of half a minute and silences of a minute and a half happen within a short run,
 * in the same proportions. Wall time stays that of the host, because certificates and other processes live by it.
 */
export class FastClock implements Clock {
  readonly speed: number;
  readonly #system = new SystemClock();
  readonly #seeded: VirtualClock;

  constructor(speed: number, seed: number) {
    this.speed = speed;
    this.#seeded = new VirtualClock({ seed });
  }

  now(): Date {
    return this.#system.now();
  }

  monotonicMs(): number {
    return this.#system.monotonicMs() * this.speed;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#system.sleep(ms / this.speed, signal);
  }

  timer(ms: number, fire: () => void): Disposable {
    return this.#system.timer(ms / this.speed, fire);
  }

  random(): number {
    return this.#seeded.random();
  }

  /** Never from the seed: a server that starts again would give the same names to other things. */
  uuid(): string {
    return this.#system.uuid();
  }
}
