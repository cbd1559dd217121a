import type { Clock } from '../base/clock.ts';
import { isConflict } from '../kube/client/api-error.ts';

export interface Attempts {
  readonly most: number;
  /** Between two attempts, one to two times this. */
  readonly pauseMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** What may be over in a moment; a conflict that the API server tells of unless told otherwise. */
  readonly isRetried?: (thrown: unknown) => boolean;
}

/** Runs `attempt` until it does not fail with a conflict. The last conflict and every other failure are thrown. */
export async function untilNoConflict<T>(
  { most, pauseMs, clock, signal, isRetried = isConflict }: Attempts,
  attempt: (number: number) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number++) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!isRetried(error) || number >= most) throw error;
    }
    await clock.sleep(pauseMs * (1 + clock.random()), signal);
  }
}
