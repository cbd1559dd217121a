import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { ApiError, isNetwork, isTooManyRequests } from '../../../kube/client/api-error.ts';
import { isCertificateProblem } from '../../../kube/transport/network-failure.ts';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 7000;

export interface PatienceOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Does something that may be done twice until the API server has answered: a machine boots when it is switched on,
 * whether there is a server yet or not. What waiting does not help against is thrown, and the signal's reason.
 */
export async function untilAnswered<T>(options: PatienceOptions, attempt: () => Promise<T>): Promise<T> {
  const { clock, log, signal } = options;
  for (let failures = 0; ; failures++) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!mayPass(error)) throw error;
      if (failures === 0) log.info({ reason: messageOf(error) }, 'Waiting for the API server');
    }
    await clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS), signal);
  }
}

const mayPass = (error: unknown): boolean =>
  (isNetwork(error) && !isCertificateProblem(error)) ||
  isTooManyRequests(error) ||
  (error instanceof ApiError && error.code >= 500);
