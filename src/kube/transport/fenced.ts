import { LeadershipLost } from '../client/api-error.ts';
import type { Fence } from '../election/fence.ts';
import { isWrite, type Transport } from './transport.ts';

/**
 * Refuses writes with `LeadershipLost` while the fence is not valid: before anything is done, and again right before the
 * first byte is sent (E7). Reads always pass. Belongs below `retrying`, so that each repetition is checked.
 */
export function fenced(transport: Transport, fence: () => Fence): Transport {
  return async (request) => {
    if (!isWrite(request)) return transport(request);
    const check = (): void => {
      if (!fence().isValid) throw new LeadershipLost();
      request.beforeSend?.();
    };
    check();
    return transport({ ...request, beforeSend: check });
  };
}
