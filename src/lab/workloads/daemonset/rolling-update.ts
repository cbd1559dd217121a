import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { type DaemonFacts, isDaemonAvailable, isLeaving } from './daemon-facts.ts';
import { nodeFit } from './daemon-placement.ts';
import { isUpdated } from './daemon-pod.ts';
import type { PodPlan, Removal } from './node-plan.ts';
import { type RolloutBounds, rolloutBounds } from './rollout-bounds.ts';

/** The pods of one node as a rolling update sees them. */
interface NodePods {
  readonly node: string;
  readonly shouldRun: boolean;
  readonly updated: Pod | undefined;
  readonly outdated: Pod | undefined;
  /** More than one of a kind: the node is put in order before its pods are updated. */
  readonly isCrowded: boolean;
}

/** Pure: the old pods that may go now, and with surge the nodes that get a new one beside the old one (W24). */
export function rollingPlan(facts: DaemonFacts): PodPlan {
  const nodes = nodePods(facts);
  const desired = nodes.filter(({ shouldRun }) => shouldRun).length;
  const bounds = rolloutBounds(facts.set, desired);
  return bounds.maxSurge === 0 ? replacingPlan(nodes, facts, bounds) : surgingPlan(nodes, facts, bounds);
}

/** Every node with a pod, and every node that should have one. */
function nodePods({ set, hash, nodes, podsByNode }: DaemonFacts): readonly NodePods[] {
  const runs = new Set(nodes.filter((node) => nodeFit(set, node).shouldRun).map(({ metadata }) => metadata.name));
  return [...new Set([...podsByNode.keys(), ...runs])].toSorted().map((node) => {
    const pods = (podsByNode.get(node) ?? []).filter((pod) => !isLeaving(pod));
    const updated = pods.filter((pod) => isUpdated(pod, set, hash));
    const outdated = pods.filter((pod) => !isUpdated(pod, set, hash));
    return {
      node,
      shouldRun: runs.has(node),
      updated: updated[0],
      outdated: outdated[0],
      isCrowded: updated.length > 1 || outdated.length > 1,
    };
  });
}

/** A node has one pod at most: an old one goes first. Those that serve nobody may go at once. */
function replacingPlan(
  nodes: readonly NodePods[],
  facts: DaemonFacts,
  { maxUnavailable }: RolloutBounds,
): PodPlan {
  const alone = nodes.flatMap(({ node, updated, outdated, isCrowded }) =>
    outdated === undefined || updated !== undefined || isCrowded ? [] : [outdatedOn(node, outdated)],
  );
  const broken = alone.filter(({ pod }) => !isDaemonAvailable(pod, facts));
  const serving = alone.filter(({ pod }) => isDaemonAvailable(pod, facts));
  const unavailable = nodes.filter((each) => !isServing(each, facts)).length;
  const allowed = Math.max(0, maxUnavailable - unavailable);
  return { create: [], remove: [...broken, ...serving.slice(0, allowed)], waiting: [] };
}

const outdatedOn = (node: string, pod: Pod): Removal => ({ node, pod, why: 'outdated' });

/** Exactly one pod, which is available. */
function isServing({ updated, outdated, isCrowded }: NodePods, facts: DaemonFacts): boolean {
  if (isCrowded || (updated === undefined) === (outdated === undefined)) return false;
  const pod = updated ?? outdated;
  return pod !== undefined && isDaemonAvailable(pod, facts);
}

/** A node may have two pods: the old one goes when the new one is available. */
function surgingPlan(nodes: readonly NodePods[], facts: DaemonFacts, { maxSurge }: RolloutBounds): PodPlan {
  const isFine = (pod: Pod | undefined) => pod !== undefined && isDaemonAvailable(pod, facts);
  const calm = nodes.filter(({ isCrowded }) => !isCrowded);
  const doubled = calm.filter(({ updated, outdated }) => updated !== undefined && outdated !== undefined);
  const old = calm.filter(({ updated, outdated }) => updated === undefined && outdated !== undefined);
  const surging = nodes.length - calm.length + doubled.filter(({ updated }) => !isFine(updated)).length;
  const serving = old.filter(({ outdated, shouldRun }) => shouldRun && isFine(outdated));
  const broken = old.filter(({ outdated, shouldRun }) => shouldRun && !isFine(outdated));
  return {
    create: [...broken, ...serving.slice(0, Math.max(0, maxSurge - surging))].map(({ node }) => node),
    remove: [
      ...doubled.filter(({ updated }) => isFine(updated)),
      ...old.filter(({ outdated, shouldRun }) => !shouldRun && !isFine(outdated)),
      ...sunset(calm, old, isFine),
    ].flatMap(({ node, outdated }) => (outdated === undefined ? [] : [outdatedOn(node, outdated)])),
    waiting: [],
  };
}

/** Pods on nodes that should not run one any more go only as others are available elsewhere: nobody is to be missed. */
function sunset(
  calm: readonly NodePods[],
  old: readonly NodePods[],
  isFine: (pod: Pod | undefined) => boolean,
): readonly NodePods[] {
  const available = calm.filter(({ updated, outdated }) => isFine(outdated ?? updated)).length;
  const desired = calm.filter(({ shouldRun }) => shouldRun).length;
  const leaving = old.filter(({ outdated, shouldRun }) => !shouldRun && isFine(outdated));
  return leaving.slice(0, Math.max(0, available - desired));
}
