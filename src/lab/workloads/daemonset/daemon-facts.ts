import type { DaemonSet } from '../../../api/generated/apps-v1-types.ts';
import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import { hasEnded, isAvailable } from '../pods/pod-state.ts';
import { targetNode } from './daemon-placement.ts';

/** What a decision about the pods of a daemon set is made from. */
export interface DaemonFacts {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  readonly podsByNode: PodsByNode;
  /** Of the newest template. */
  readonly hash: string;
  readonly now: Date;
}

/** Daemon pods by the node they are on, or meant for; the best one first. */
export type PodsByNode = ReadonlyMap<string, readonly Pod[]>;

/** Pods that have ended and are being deleted do not count: nobody has anything to do about them any more. */
export function podsByNode(pods: readonly Pod[]): PodsByNode {
  const counted = pods.filter((pod) => !hasEnded(pod) || pod.metadata.deletionTimestamp === undefined);
  const placed = counted.toSorted(inOrder).flatMap((pod) => {
    const node = targetNode(pod);
    return node === undefined ? [] : [{ node, pod }];
  });
  const groups = Map.groupBy(placed, ({ node }) => node);
  return new Map([...groups].map(([node, found]) => [node, found.map(({ pod }) => pod)]));
}

/** Those that have a node before those that wait for one, then by age. */
function inOrder(a: Pod, b: Pod): number {
  const isPlaced = ({ spec }: Pod) => Number((spec.nodeName ?? '') !== '');
  return (
    isPlaced(b) - isPlaced(a) ||
    compareTexts(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
    compareTexts(a.metadata.name, b.metadata.name)
  );
}

const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

export const isLeaving = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

export const isDaemonAvailable = (pod: Pod, { set, now }: Pick<DaemonFacts, 'set' | 'now'>): boolean =>
  isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
