import type { Node, NodeAddress } from '../../api/generated/core-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import { time } from '../../api/time.ts';
import type { Patch } from '../../kube/client/kube-client.ts';
import { meant } from '../meant-object.ts';
import { isSameAddresses } from './addresses.ts';
import type { NodeProblem } from './node-problem.ts';

/** Only on Nodes that have a problem: what else looks at Nodes knows nothing of it (B13). */
export const PROBLEM_CONDITION = 'CloudProviderDegraded';

export interface WantedStatus {
  /** Absent: they stay as they are (A1). */
  readonly addresses?: readonly NodeAddress[] | undefined;
  /** Absent: there is none, and one that is shown goes away. */
  readonly problem?: Pick<NodeProblem, 'reason' | 'message'> | undefined;
}

/**
 * Pure: what changes the status of a Node to what is wanted; undefined when nothing does. Addresses are replaced as a
 * whole: their merge key is their type, of which there may be two (A6).
 */
export function statusPatch(node: Node, { addresses, problem }: WantedStatus, now: Date): Patch | undefined {
  const isSame = addresses === undefined || isSameAddresses(addresses, node.status?.addresses ?? []);
  const condition = conditionChange(node, problem, now);
  if (isSame && condition === undefined) return undefined;
  const status: JsonObject = {
    ...(!isSame && {
      addresses: [{ $patch: 'replace' }, ...addresses.map(({ type, address }) => ({ type, address }))],
    }),
    ...(condition !== undefined && { conditions: [condition] }),
  };
  return { type: 'strategic', body: { metadata: meant(node), status } };
}

function conditionChange(node: Node, problem: WantedStatus['problem'], now: Date): JsonObject | undefined {
  const old = node.status?.conditions?.find(({ type }) => type === PROBLEM_CONDITION);
  if (problem === undefined) return old === undefined ? undefined : { $patch: 'delete', type: PROBLEM_CONDITION };
  const { reason, message } = problem;
  const isShown = old?.status === 'True';
  if (isShown && old.reason === reason && old.message === message) return undefined;
  const since = isShown ? old.lastTransitionTime : undefined;
  const lastHeartbeatTime = time(now);
  return {
    type: PROBLEM_CONDITION,
    status: 'True',
    reason,
    message,
    lastHeartbeatTime,
    lastTransitionTime: since ?? lastHeartbeatTime,
  };
}
