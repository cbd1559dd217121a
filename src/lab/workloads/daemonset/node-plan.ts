import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { isReady } from '../pods/pod-state.ts';
import { type DaemonFacts, isDaemonAvailable, isLeaving } from './daemon-facts.ts';
import { nodeFit } from './daemon-placement.ts';
import { HASH_LABEL } from './daemon-pod.ts';
import { allowsSurge } from './rollout-bounds.ts';

/** A pod that is to go. Those that ended get an event. */
export interface Removal {
  readonly pod: Pod;
  readonly node: string;
  readonly why: 'failed' | 'succeeded' | 'surplus' | 'misplaced' | 'outdated';
}

/** What is to be done about the pods of a daemon set. */
export interface PodPlan {
  /** Nodes that get a pod. */
  readonly create: readonly string[];
  readonly remove: readonly Removal[];
  /** Nodes whose failed pod stays for now, since the one before failed as well. */
  readonly waiting: readonly string[];
}

const NOTHING: PodPlan = { create: [], remove: [], waiting: [] };

/** Pure: brings every node to one pod where there should be one, and to none elsewhere (W19, W23). */
export function nodePlan(facts: DaemonFacts, isHeldBack: (node: string) => boolean): PodPlan {
  const plans = facts.nodes.map((node) => planFor(node, facts, isHeldBack));
  return {
    create: plans.flatMap(({ create }) => create),
    remove: [...plans.flatMap(({ remove }) => remove), ...lostPods(facts)],
    waiting: plans.flatMap(({ waiting }) => waiting),
  };
}

function planFor(node: Node, facts: DaemonFacts, isHeldBack: (node: string) => boolean): PodPlan {
  const { name } = node.metadata;
  const { shouldRun, shouldContinue } = nodeFit(facts.set, node);
  const pods = facts.podsByNode.get(name) ?? [];
  if (shouldRun && pods.length === 0) return { ...NOTHING, create: [name] };
  const present = pods.filter((pod) => !isLeaving(pod));
  if (!shouldContinue) return { ...NOTHING, remove: removals(present, name, 'misplaced') };
  const failed = present.filter(({ status }) => status?.phase === 'Failed');
  const succeeded = present.filter(({ status }) => status?.phase === 'Succeeded');
  const running = present.filter((pod) => !failed.includes(pod) && !succeeded.includes(pod));
  const isWaiting = failed.length > 0 && isHeldBack(name);
  const isMissing = allowsSurge(facts.set) && running.length === 0 && shouldRun;
  return {
    create: isMissing ? [name] : [],
    remove: [
      ...(isWaiting ? [] : removals(failed, name, 'failed')),
      ...removals(succeeded, name, 'succeeded'),
      ...removals(surplus(running, facts), name, 'surplus'),
    ],
    waiting: isWaiting ? [name] : [],
  };
}

const removals = (pods: readonly Pod[], node: string, why: Removal['why']): readonly Removal[] =>
  pods.map((pod) => ({ pod, node, why }));

/** All but the oldest; with surge, an old pod may stay beside a new one that is not available yet. */
function surplus(running: readonly Pod[], facts: DaemonFacts): readonly Pod[] {
  if (running.length <= 1) return [];
  if (!allowsSurge(facts.set)) return running.slice(1);
  const isNew = ({ metadata }: Pod) => metadata.labels?.[HASH_LABEL] === facts.hash;
  const newest = running.find(isNew);
  const old = running.find((pod) => !isNew(pod));
  const isOldDone =
    newest !== undefined && old !== undefined && (!isReady(old) || isDaemonAvailable(newest, facts));
  return running.filter((pod) => pod !== newest && (pod !== old || isOldDone));
}

/** Pods that wait for a node that is gone: no scheduler places them, and nobody else deletes them. */
function lostPods({ nodes, podsByNode }: DaemonFacts): readonly Removal[] {
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  return [...podsByNode].flatMap(([node, pods]) => {
    if (known.has(node)) return [];
    const waiting = pods.filter((pod) => (pod.spec.nodeName ?? '') === '' && !isLeaving(pod));
    return removals(waiting, node, 'misplaced');
  });
}
