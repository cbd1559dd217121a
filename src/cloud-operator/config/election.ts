import type { ControlPlaneTopology } from '../../api/openshift/config-v1.ts';
import { type ElectionTiming, LEADER_PROFILES } from '../../kube/election/election-timing.ts';

/** The flags of the election; a time of zero is one that was not given. */
export interface ElectionFlags extends ElectionTiming {
  readonly isEnabled: boolean;
}

/** Whether the topology decides: nobody needs to read it otherwise (R9). */
export const dependsOnTopology = ({ isEnabled, leaseMs, renewMs, retryMs }: ElectionFlags): boolean =>
  isEnabled && leaseMs === 0 && renewMs === 0 && retryMs === 0;

/**
 * How long the lease of the operator lasts (R9). One time that was given is enough for the topology not to count; without
 * a topology, since it could not be read, the cluster is taken for one with several control-plane nodes.
 */
export function electionTiming(flags: ElectionFlags, topology: ControlPlaneTopology | undefined): ElectionTiming {
  const { openshift, 'openshift-sno': single } = LEADER_PROFILES;
  if (dependsOnTopology(flags)) return topology === 'SingleReplica' ? single : openshift;
  const { leaseMs, renewMs, retryMs } = flags;
  return {
    leaseMs: leaseMs === 0 ? openshift.leaseMs : leaseMs,
    renewMs: renewMs === 0 ? openshift.renewMs : renewMs,
    retryMs: retryMs === 0 ? openshift.retryMs : retryMs,
  };
}
