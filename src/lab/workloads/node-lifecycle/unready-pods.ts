import type { Node, Pod, PodCondition } from '../../../api/generated/core-v1-types.ts';
import { readyOf } from './node-health.ts';

/** The readiness of a pod as the server has it. */
const podReadiness = ({ status }: Pod): PodCondition | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready');

/**
 * Pure: pods that still say they are ready though nobody hears of their node any more (W36). Whoever became ready after
 * that was seen by somebody: a kubelet that lives after all, whose word counts.
 */
export function staleReadyPods(node: Node, pods: readonly Pod[]): readonly Pod[] {
  const ready = readyOf(node);
  if (ready?.status !== 'Unknown') return [];
  const lostMs = Date.parse(ready.lastTransitionTime ?? '');
  return pods.filter((pod) => {
    const said = podReadiness(pod);
    if (pod.spec.nodeName !== node.metadata.name || said?.status !== 'True') return false;
    const saidMs = Date.parse(said.lastTransitionTime ?? '');
    return Number.isNaN(saidMs) || saidMs < lostMs;
  });
}
