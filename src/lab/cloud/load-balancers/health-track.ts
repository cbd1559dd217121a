import type { HealthCheckConfig } from './balancer-config.ts';

/** What is known of the health of a target. */
export interface HealthTrack {
  readonly isHealthy: boolean;
  /** Results in a row that say the opposite. */
  readonly contrary: number;
  /** Why the last check failed; undefined when it did not. */
  readonly problem: string | undefined;
}

/** Nobody has seen it work yet (C15). */
export const UNKNOWN_HEALTH: HealthTrack = { isHealthy: false, contrary: 0, problem: 'not checked yet' };

/** Pure: what a check changes; `problem` is undefined for a success. */
export function nextHealth(
  { isHealthy, contrary }: HealthTrack,
  problem: string | undefined,
  { healthyThreshold, unhealthyThreshold }: Pick<HealthCheckConfig, 'healthyThreshold' | 'unhealthyThreshold'>,
): HealthTrack {
  if ((problem === undefined) === isHealthy) return { isHealthy, contrary: 0, problem };
  const needed = isHealthy ? unhealthyThreshold : healthyThreshold;
  return contrary + 1 >= needed
    ? { isHealthy: !isHealthy, contrary: 0, problem }
    : { isHealthy, contrary: contrary + 1, problem };
}
