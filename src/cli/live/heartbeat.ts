import type { Clock } from '../../base/clock.ts';

/** After how much silence the next sign of life is due, when `beats` have been given. */
export type BeatSchedule = (beats: number) => number;

/** 15 s, 30 s, 60 s, then every 60 s (experience X4). */
export const LOG_BEATS: BeatSchedule = (beats) => [15_000, 30_000][beats] ?? 60_000 * (beats - 1);
/** Every 30 s (experience X5). */
export const ACCESSIBLE_BEATS: BeatSchedule = (beats) => 30_000 * (beats + 1);

/** Calls `beat` when nothing has changed for some time, more and more rarely. */
export class Heartbeat {
  readonly #clock: Clock;
  readonly #schedule: BeatSchedule;
  readonly #beat: (quietMs: number) => void;
  #timer: Disposable | undefined;
  #quietSinceMs = 0;
  #beats = 0;

  constructor(clock: Clock, schedule: BeatSchedule, beat: (quietMs: number) => void) {
    this.#clock = clock;
    this.#schedule = schedule;
    this.#beat = beat;
  }

  /** Something changed: the silence begins anew. */
  restart(): void {
    this.#quietSinceMs = this.#clock.monotonicMs();
    this.#beats = 0;
    this.#arm();
  }

  stop(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }

  #arm(): void {
    this.stop();
    const dueMs = this.#quietSinceMs + this.#schedule(this.#beats);
    this.#timer = this.#clock.timer(dueMs - this.#clock.monotonicMs(), () => {
      this.#beats++;
      this.#beat(this.#clock.monotonicMs() - this.#quietSinceMs);
      this.#arm();
    });
  }
}
