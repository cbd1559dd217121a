import { goDuration } from '../../base/duration.ts';

/** How long a lease is good for, how long its holder trusts it, and how often everybody tries (E1). */
export interface ElectionTiming {
  readonly leaseMs: number;
  readonly renewMs: number;
  readonly retryMs: number;
}

export type LeaderProfile = 'default' | 'openshift' | 'openshift-sno';

/**
 * `openshift` survives 60 s without an API server and costs a sixth of the requests; on one node (`sno`) the API server
 * is away for minutes at each upgrade, and nobody waits to take over.
 */
export const LEADER_PROFILES: Readonly<Record<LeaderProfile, ElectionTiming>> = {
  default: { leaseMs: 15_000, renewMs: 10_000, retryMs: 2000 },
  openshift: { leaseMs: 137_000, renewMs: 107_000, retryMs: 26_000 },
  'openshift-sno': { leaseMs: 270_000, renewMs: 240_000, retryMs: 60_000 },
};

/** A candidate waits between 1 and 1 + this times the retry period, so that candidates do not march in step. */
export const RETRY_JITTER = 1.2;

/** Everything that is wrong with these times; none is safe to ignore. */
export function timingProblems({ leaseMs, renewMs, retryMs }: ElectionTiming): readonly string[] {
  const named = [
    ['--lease-duration', leaseMs],
    ['--renew-deadline', renewMs],
    ['--retry-period', retryMs],
  ] as const;
  const problems = named
    .filter(([, ms]) => !(ms > 0 && Number.isFinite(ms)))
    .map(([name, ms]) => `${name} is ${goDuration(ms)}; it must be more than 0`);
  if (problems.length > 0) return problems;
  if (leaseMs <= renewMs) {
    problems.push(
      `--lease-duration (${goDuration(leaseMs)}) must be more than --renew-deadline (${goDuration(renewMs)})`,
    );
  }
  if (renewMs <= RETRY_JITTER * retryMs) {
    const least = goDuration(RETRY_JITTER * retryMs);
    problems.push(
      `--renew-deadline (${goDuration(renewMs)}) must be more than 1.2 x --retry-period (${goDuration(retryMs)}): ${least}`,
    );
  }
  return problems;
}
