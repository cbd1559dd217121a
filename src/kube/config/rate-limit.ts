import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import type { Transport } from '../transport/transport.ts';

export interface RateLimit {
  /** Requests per second in the long run. */
  readonly qps: number;
  /** Requests at once after a pause; 1 at least. */
  readonly burst: number;
  readonly clock: Clock;
}

/**
 * A transport that sends at most `qps` requests per second after a burst (C7); nobody is limited unless they ask for it,
 * because the server's own fairness does better. Requests wait in the order in which they came; one that is aborted while
 * it waits is not sent and gives its turn back.
 */
export function rateLimited(transport: Transport, { qps, burst, clock }: RateLimit): Transport {
  if (!(qps > 0) || !(burst >= 1)) {
    throw userError(
      'InvalidRateLimit',
      `found qps ${qps} and burst ${burst}; qps must be above 0 and burst at least 1`,
    );
  }
  // Below zero: that many requests wait already.
  let tokens = burst;
  let lastMs = clock.monotonicMs();
  const waitMs = (): number => {
    const nowMs = clock.monotonicMs();
    tokens = Math.min(burst, tokens + ((nowMs - lastMs) * qps) / 1000) - 1;
    lastMs = nowMs;
    return tokens >= 0 ? 0 : (-tokens * 1000) / qps;
  };
  return async (request) => {
    request.signal?.throwIfAborted();
    const ms = waitMs();
    if (ms > 0) {
      await clock.sleep(ms, request.signal).catch((error: unknown) => {
        tokens++;
        throw error;
      });
    }
    return transport(request);
  };
}
