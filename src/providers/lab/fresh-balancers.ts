import type { Clock } from '../../base/clock.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';

/** How long reads of the lab may lag behind writes: the longest that its scenarios use (lab/C7). */
export const CONSISTENCY_MS = 2000;

interface Attempt {
  readonly atMs: number;
  /** What it made; undefined as long as no answer said so. */
  readonly id?: string;
}

/**
 * Load balancers that reads may not show yet. Without it a Service that is deleted right after its balancer was ordered
 * would be told that there is none, and the balancer would stay for ever.
 */
export class FreshBalancers {
  readonly #clock: Clock;
  /** An earlier life of this process may have ordered something at its end. */
  readonly #startedMs: number;
  /** By name; each goes when its window is over. */
  readonly #attempts = new Map<string, Attempt>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
  }

  /** Before the order is sent, and again with the identifier when it is answered. */
  note(name: string, id?: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [key, { atMs }] of this.#attempts) if (nowMs - atMs > CONSISTENCY_MS) this.#attempts.delete(key);
    this.#attempts.set(name, { atMs: nowMs, ...(id !== undefined && { id }) });
  }

  idOf(name: string): string | undefined {
    return this.#attempts.get(name)?.id;
  }

  /** It is known to be gone. */
  forget(name: string): void {
    this.#attempts.delete(name);
  }

  /** Refuses to believe a list without it as long as the list may be older than the order. */
  requireSettled(name: string): void {
    const sinceMs = this.#attempts.get(name)?.atMs ?? this.#startedMs;
    const leftMs = sinceMs + CONSISTENCY_MS - this.#clock.monotonicMs();
    if (leftMs <= 0) return;
    const message = `whether there is a load balancer ${name} cannot be told yet: lists may be ${CONSISTENCY_MS} ms old`;
    throw new ProviderError('uncertain', message, { retryAfterMs: Math.ceil(leftMs) });
  }
}
