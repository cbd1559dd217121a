import type { Node } from '../../api/generated/core-v1.ts';
import { isTrueAt } from './object-fields.ts';
import type { State } from './row.ts';
import { conditionIn, conditionsOf, isGood, saying, sinceTold } from './told-condition.ts';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';

/** A Node of the cluster that is described. */
export function nodeState(node: Node): State {
  const ready = conditionIn(node, 'Ready');
  const since = sinceTold(node, 'Ready');
  if (ready?.status !== 'True')
    return {
      health: 'attention',
      word: 'not ready',
      since,
      why: ready === undefined ? 'its kubelet has not reported' : saying(ready),
      next: `with the kubeconfig of the cluster: kubectl describe node ${node.metadata.name}`,
    };
  if ((node.spec?.taints ?? []).some(({ key }) => key === UNINITIALIZED))
    return {
      health: 'waiting',
      word: 'uninitialized',
      since,
      why: 'it waits for a cloud controller manager to take the taint away',
    };
  const bad = conditionsOf(node).find((condition) => !isGood(condition));
  if (bad !== undefined)
    return {
      health: 'attention',
      word: bad.type,
      since: bad.since,
      why: saying(bad),
      next: `with the kubeconfig of the cluster: kubectl describe node ${node.metadata.name}`,
    };
  return isTrueAt(node, 'spec', 'unschedulable')
    ? { health: 'done', word: 'Ready, cordoned', since }
    : { health: 'done', word: 'Ready', since };
}

export const isNodeReady = (node: Node): boolean => conditionIn(node, 'Ready')?.status === 'True';
