import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { hasEnded } from '../pods/pod-state.ts';

/** A Node that is gone so long does not come back (W38). */
export const QUARANTINE_MS = 40_000;

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** Whether somebody still has something to do about a pod: one whose grace is over waits for others' finalizers only. */
const isRemovable = (pod: Pod): boolean => !hasEnded(pod) || pod.metadata.deletionGracePeriodSeconds !== 0;

/** Pure: pods that are on their way out and that no node will ever stop (W38). */
export const isUnscheduled = (pod: Pod): boolean =>
  pod.metadata.deletionTimestamp !== undefined && (pod.spec.nodeName ?? '') === '' && isRemovable(pod);

/** Pure: pods of a node that is not there. */
export const orphansOf = (nodeName: string, pods: readonly Pod[]): readonly Pod[] =>
  pods.filter((pod) => pod.spec.nodeName === nodeName && isRemovable(pod));

/** Pure: whether an administrator declared a node out of service, and it is: nobody will end its pods. */
export function isOutOfService({ spec, status }: Node): boolean {
  const isReady = status?.conditions?.some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  );
  return isReady !== true && spec.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true;
}

/** Pure: pods on their way out of such a node. */
export const strandedOn = (node: Node, pods: readonly Pod[]): readonly Pod[] =>
  isOutOfService(node)
    ? orphansOf(node.metadata.name, pods).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
    : [];
