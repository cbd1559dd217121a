import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { Runnable } from '../../kube/manager/runnable.ts';

/** Beyond the lease: so long a leader may be late with its renewal before somebody should restart it. */
const TOLERATED_MS = 20_000;
const LOOK_MS = 1000;

export interface LeaseWatchdogOptions {
  readonly manager: Pick<Manager, 'isLeader' | 'fence'>;
  readonly timing: { readonly leaseMs: number; readonly renewMs: number };
  readonly clock: Clock;
}

/**
 * Fails the health of a process that still takes itself for the leader long after its lease has ended (P9). A leader that
 * cannot renew ends by itself; this is for one that hangs while it does.
 */
export class LeaseWatchdog implements Runnable {
  readonly name = 'lease watchdog';
  readonly group = 'http';
  readonly #options: LeaseWatchdogOptions;
  #validMs: number;

  constructor(options: LeaseWatchdogOptions) {
    this.#options = options;
    this.#validMs = options.clock.monotonicMs();
  }

  /** Throws when the lease is overdue. */
  check(): void {
    this.#look();
    const { clock, timing } = this.#options;
    // Writes are allowed until the renew deadline, the lease itself lasts longer.
    const endedMs = this.#validMs + timing.leaseMs - timing.renewMs;
    const overdueMs = Math.round(clock.monotonicMs() - endedMs);
    if (overdueMs > TOLERATED_MS)
      throw new Error(`failed election to renew leadership: overdue by ${goDuration(overdueMs)}`);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#look();
      await this.#options.clock.sleep(LOOK_MS, signal).catch(() => undefined);
    }
  }

  #look(): void {
    const { manager, clock } = this.#options;
    if (!manager.isLeader || manager.fence.isValid) this.#validMs = clock.monotonicMs();
  }
}
