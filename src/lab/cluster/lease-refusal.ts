import type { RequestInfo } from '../../apiserver/routing/request-info.ts';

const READS = new Set(['get', 'list', 'watch']);
/** Leases of nodes elect nobody: a node that is late is not ready, and that is all. */
const NODE_LEASES = 'kube-node-lease';

/**
 * Pure: why a write over the network is refused in a lab whose time jumps (T10). A candidate outside of this process waits
 * in real time, and one inside in that of the lab: after a jump both would lead.
 */
export function leaseRefusal({ verb, group, resource, namespace }: RequestInfo): string | undefined {
  const isLease = group === 'coordination.k8s.io' && resource === 'leases';
  if (!isLease || READS.has(verb) || namespace === NODE_LEASES) return undefined;
  return 'the time of this lab jumps (clock auto) and no program outside of its process follows, so that a leader elected there could be one of two: run the program without leader election, start the lab with clock real or scaled, or run the program inside the process of the lab';
}
