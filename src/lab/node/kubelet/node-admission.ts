import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { nodeMatches } from '../../workloads/placement/node-affinity.ts';
import { hostPortsOf, PortUse } from '../../workloads/scheduler/host-ports.ts';
import { allocatableOf, podRequests, type Resources } from '../../workloads/scheduler/requests.ts';
import type { EndReason } from './pod-status.ts';

const SOURCE = 'kubernetes.io/config.source';

export interface AdmissionFacts {
  readonly pod: Pod;
  /** Labels and what it can give. */
  readonly node: Node;
  /** Pods of the node that have not ended. */
  readonly others: readonly Pod[];
}

/** Why a node does not take a pod that somebody gave it (N16); undefined when it does. Devices come after this. */
export function rejection({ pod, node, others }: AdmissionFacts): EndReason | undefined {
  if (!nodeMatches(pod.spec, node)) {
    const why = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    return rejected('NodeAffinity', why);
  }
  const allocatable = allocatableOf(node);
  const taken = others.map(needsOf);
  for (const [resource, requested] of needsOf(pod)) {
    // A resource that the node never had may be one of the cluster; nobody counts it here.
    if (!Object.hasOwn(node.status?.allocatable ?? {}, resource)) continue;
    const capacity = allocatable.get(resource) ?? 0;
    const used = taken.reduce((total, needs) => total + (needs.get(resource) ?? 0), 0);
    if (used + requested <= capacity) continue;
    const why = `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`;
    return rejected(`OutOf${resource}`, why);
  }
  return portRejection(pod, others);
}

/** Ports that somebody has who does not leave; the file of a static pod may have changed, and its former self be leaving. */
function portRejection(pod: Pod, others: readonly Pod[]): EndReason | undefined {
  const wanted = hostPortsOf(pod);
  if (wanted.length === 0 || pod.metadata.annotations?.[SOURCE] === 'file') return undefined;
  const use = new PortUse();
  for (const other of others) if (other.metadata.deletionTimestamp === undefined) use.take(hostPortsOf(other));
  if (!use.clashesWith(wanted)) return undefined;
  const why = "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports";
  return rejected('NodePorts', why);
}

/** What became of a pod that the node did not take. */
export const rejected = (reason: string, why: string): EndReason => ({
  reason,
  message: `Pod was rejected: ${why}`,
});

/** Its own place, then its requests. */
const needsOf = (pod: Pod): Resources => new Map([['pods', 1], ...podRequests(pod)]);
