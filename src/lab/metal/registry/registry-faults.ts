import type { Clock } from '../../../base/clock.ts';

/** What goes wrong, and with what. */
export interface RegistryFault {
  /** A part of the path of requests, such as `/manifests/4.20.1-`; of all unless told otherwise. */
  readonly path?: string;
  /** Answered instead of what was asked for. */
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** Lab time, before the answer. */
  readonly delayMs?: number;
  /** The first byte of the body is another one. */
  readonly isDamaged?: boolean;
  /** No more often than this. */
  readonly times?: number;
}

/** The faults of a registry. Bounded by whoever injects them. */
export class RegistryFaults {
  readonly #clock: Clock;
  readonly #faults = new Map<RegistryFault, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on, until it is disposed. */
  inject(fault: RegistryFault): Disposable {
    // A copy: the same fault twice is two.
    const own = { ...fault };
    this.#faults.set(own, own.times ?? Number.POSITIVE_INFINITY);
    return { [Symbol.dispose]: () => void this.#faults.delete(own) };
  }

  /** What hits a request, after the delays of all that do. Rejects when the client leaves meanwhile. */
  async hit(path: string, signal: AbortSignal | undefined): Promise<RegistryFault> {
    const hits = [...this.#faults].filter(([fault, left]) => left > 0 && path.includes(fault.path ?? ''));
    for (const [fault, left] of hits) this.#faults.set(fault, left - 1);
    for (const [{ delayMs = 0 }] of hits) if (delayMs > 0) await this.#clock.sleep(delayMs, signal);
    return Object.assign({}, ...hits.map(([fault]) => fault));
  }
}
