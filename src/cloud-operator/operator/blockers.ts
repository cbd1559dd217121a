import { FailureWindow } from '../status/failure-window.ts';

/** Why operands cannot work although they were applied; gone when somebody has done something about it. */
export interface Blocker {
  /** The same as long as it is the same one: of a container of a pod, or of a Secret. */
  readonly id: string;
  readonly reason: string;
  readonly message: string;
  /** The rollout has not ended before it is gone, whatever the workloads say. */
  readonly isAwaited: boolean;
  /** How often its container had been started again. */
  readonly restarts?: number;
}

/** Failures that may pass by themselves are told when they last so long (R59). */
export const THRESHOLD_MS = 150_000;

/** Since when each blocker has been there: nodes that restart one after the other are many short ones, not a long one. */
export class Blockers {
  readonly #begun = new Map<string, { readonly window: FailureWindow; readonly restarts: number | undefined }>();
  #isFirst = true;

  /**
   * The first that has lasted, of all that are there now. What an earlier process has told of goes on for this one
   * (`told` is the reason): its first look begins no window for that.
   */
  lasting(all: readonly Blocker[], nowMs: number, told?: string): Blocker | undefined {
    const ids = new Set(all.map(({ id }) => id));
    for (const id of this.#begun.keys()) if (!ids.has(id)) this.#begun.delete(id);
    const lasting = all.filter((blocker) => {
      const window = this.#windowOf(blocker);
      if (this.#isFirst && blocker.reason === told) window.failed(nowMs - THRESHOLD_MS);
      return window.failed(nowMs);
    });
    this.#isFirst = false;
    return lasting[0];
  }

  /** Of a container when it was found first; undefined for one that was well. */
  restartsBefore(id: string): number | undefined {
    return this.#begun.get(id)?.restarts;
  }

  /** Nothing is deployed now. */
  clear(): void {
    this.#begun.clear();
  }

  #windowOf({ id, restarts }: Blocker): FailureWindow {
    const begun = this.#begun.get(id) ?? { window: new FailureWindow({ thresholdMs: THRESHOLD_MS }), restarts };
    this.#begun.set(id, begun);
    return begun.window;
  }
}
