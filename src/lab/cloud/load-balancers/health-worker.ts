import type { Clock } from '../../../base/clock.ts';
import type { HealthCheckConfig } from './balancer-config.ts';
import { type HealthTrack, nextHealth, UNKNOWN_HEALTH } from './health-track.ts';

export interface HealthWorkerOptions {
  /** Lab time, for when to check. */
  readonly clock: Pick<Clock, 'timer'>;
  /** While a check is under way time must not jump (T3). */
  readonly hold: () => Disposable;
  /** One check: why the target does not work, undefined when it does. Never rejects. */
  readonly check: (signal: AbortSignal) => Promise<string | undefined>;
  readonly settings: HealthCheckConfig;
  /** The same for options that do the same. */
  readonly identity: string;
}

/** Checks one target at one port, again and again until disposed. */
export class HealthWorker implements Disposable {
  #options: HealthWorkerOptions;
  #track = UNKNOWN_HEALTH;
  #timer: Disposable | undefined;
  /** Of the check under way, if there is one: what comes of it does not count any more when this is aborted. */
  #running: AbortController | undefined;

  constructor(options: HealthWorkerOptions) {
    this.#options = options;
  }

  get track(): HealthTrack {
    return this.#track;
  }

  /** Checks at once, and then goes on. */
  start(): void {
    const running = new AbortController();
    this.#running = running;
    void this.#round(running.signal);
  }

  /** Goes on differently, at once: what is known of the target stays, and a check under way is given up. */
  configure(options: HealthWorkerOptions): void {
    if (options.identity === this.#options.identity) return;
    this[Symbol.dispose]();
    this.#options = options;
    this.start();
  }

  [Symbol.dispose](): void {
    this.#running?.abort();
    this.#timer?.[Symbol.dispose]();
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { hold, check, settings, clock } = this.#options;
    using _hold = hold();
    const problem = await check(signal);
    if (signal.aborted) return;
    this.#track = nextHealth(this.#track, problem, settings);
    this.#timer = clock.timer(settings.intervalSeconds * 1000, () => this.start());
  }
}
