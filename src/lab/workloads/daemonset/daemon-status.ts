import type { DaemonSet, DaemonSetStatus } from '../../../api/generated/apps-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { availableInMs, isReady } from '../pods/pod-state.ts';
import { type DaemonFacts, isDaemonAvailable } from './daemon-facts.ts';
import { nodeFit } from './daemon-placement.ts';
import { isUpdated } from './daemon-pod.ts';

/** Pure: how many nodes have what they should have (W25). Of several pods on a node, the first one counts. */
export function daemonStatus(facts: DaemonFacts): DaemonSetStatus {
  const { set, hash, nodes, podsByNode } = facts;
  const isScheduled = (name: string) => (podsByNode.get(name) ?? []).length > 0;
  const names = (shouldRun: boolean) =>
    nodes.filter((node) => nodeFit(set, node).shouldRun === shouldRun).map(({ metadata }) => metadata.name);
  const desired = names(true);
  const pods = firstPods(facts, desired);
  const available = pods.filter((pod) => isDaemonAvailable(pod, facts)).length;
  const { collisionCount, conditions } = set.status ?? {};
  return {
    currentNumberScheduled: pods.length,
    numberMisscheduled: names(false).filter(isScheduled).length,
    desiredNumberScheduled: desired.length,
    numberReady: pods.filter(isReady).length,
    observedGeneration: set.metadata.generation ?? 0,
    updatedNumberScheduled: pods.filter((pod) => isUpdated(pod, set, hash)).length,
    numberAvailable: available,
    numberUnavailable: desired.length - available,
    ...(collisionCount !== undefined && { collisionCount }),
    ...(conditions !== undefined && { conditions }),
  };
}

const firstPods = ({ podsByNode }: DaemonFacts, nodes: readonly string[]): readonly Pod[] =>
  nodes.flatMap((node) => (podsByNode.get(node) ?? []).slice(0, 1));

const COUNTS = [
  'currentNumberScheduled',
  'numberMisscheduled',
  'desiredNumberScheduled',
  'numberReady',
  'observedGeneration',
  'updatedNumberScheduled',
  'numberAvailable',
  'numberUnavailable',
] as const;

/** Whether a status has to be written. The server leaves out what is zero. */
export const isStatusChanged = ({ status }: DaemonSet, next: DaemonSetStatus): boolean =>
  COUNTS.some((count) => (status?.[count] ?? 0) !== (next[count] ?? 0));

/** When the next pod becomes available, if nothing happens; undefined when none does. */
export function nextAvailableInMs({ set, podsByNode, now }: DaemonFacts): number | undefined {
  const minReadySeconds = set.spec.minReadySeconds ?? 0;
  const waits = [...podsByNode.values()].flat().flatMap((pod) => availableInMs(pod, minReadySeconds, now) ?? []);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
