import type { Clock } from '../../base/clock.ts';

const FIRST_MS = 800;
const CAP_MS = 30_000;
const HEALTHY_MS = 120_000;

/**
 * How long a reflector waits after a failure (I4): 0.8 s doubled each time, up to the cap, jittered so that many
 * processes do not come back at once. Starts over after two minutes without a failure.
 */
export class ReconnectBackoff {
  readonly #clock: Clock;
  #failures = 0;
  #delays = 0;
  #healthySinceMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Failures since the last two minutes of health. */
  get failures(): number {
    return this.#failures;
  }

  /** The other side answers. Repeating it changes nothing. */
  connected(): void {
    this.#healthySinceMs ??= this.#clock.monotonicMs();
  }

  /** Counts a failure; true when it is the first one since the last two minutes of health. */
  failed(): boolean {
    const since = this.#healthySinceMs;
    if (since !== undefined && this.#clock.monotonicMs() - since >= HEALTHY_MS) {
      this.#failures = 0;
      this.#delays = 0;
    }
    this.#healthySinceMs = undefined;
    this.#failures++;
    return this.#failures === 1;
  }

  /** The next delay: longer each time it is asked for, between half of the cap and the cap in the end. */
  delayMs(capMs = CAP_MS): number {
    const doubled = FIRST_MS * 2 ** Math.min(this.#delays++, 16);
    return Math.min(doubled, capMs / 2) * (1 + this.#clock.random());
  }
}
