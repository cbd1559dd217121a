import type { Clock } from '../../base/clock.ts';
import { isConflict } from './api-error.ts';

const STEPS = 5;
const PAUSE_MS = 10;
const JITTER = 0.1;

/**
 * Runs `attempt` until it does not fail with a conflict, five times at most, 10 to 11 ms apart (A8); the last conflict
 * and every other failure are thrown. `attempt` must read again what it writes, with `client.live`.
 */
export async function retryOnConflict<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal?: AbortSignal },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let step = 1; ; step++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || step === STEPS) throw error;
    }
    await clock.sleep(PAUSE_MS * (1 + JITTER * clock.random()), signal);
  }
}
