/** When failures that may pass by themselves become a condition (R58, R59). */
export class FailureWindow {
  readonly #thresholdMs: number;
  readonly #staleMs: number;
  #startMs: number | undefined;
  #lastMs = 0;

  /** A window that saw no failure for `staleMs` begins anew with the next (R60); never unless told otherwise. */
  constructor({ thresholdMs, staleMs = Infinity }: { readonly thresholdMs: number; readonly staleMs?: number }) {
    this.#thresholdMs = thresholdMs;
    this.#staleMs = staleMs;
  }

  /** Whether failures have lasted long enough. The first one never has. */
  failed(nowMs: number): boolean {
    const isStale = nowMs - this.#lastMs > this.#staleMs;
    this.#lastMs = nowMs;
    if (this.#startMs === undefined || isStale) {
      this.#startMs = nowMs;
      return false;
    }
    return nowMs - this.#startMs >= this.#thresholdMs;
  }

  succeeded(): void {
    this.#startMs = undefined;
  }
}
