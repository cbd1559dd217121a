import type { Node } from '../../../api/generated/core-v1-types.ts';
import { type Json, jsonEqual } from '../../../object/json.ts';
import { FILTERS, type FilterName } from './filter-names.ts';
import type { PodFacts } from './pod-facts.ts';
import { allocatableOf, type Resources } from './requests.ts';

/** Filters that may say something else now: pods that they refused are worth another try (K7). */
export type Cures = readonly FilterName[];

const NONE: Cures = [];
/** A pod came to a node. */
export const POD_CAME: Cures = ['PodTopologySpread', 'InterPodAffinity'];
/** A pod went from its node, and took nothing with it. */
export const POD_WENT: Cures = [
  'NodePorts',
  'NodeResourcesFit',
  'NodeVolumeLimits',
  'PodTopologySpread',
  'InterPodAffinity',
];
export const STORAGE_CHANGED: Cures = ['NodeVolumeLimits', 'VolumeBinding'];
export const NAMESPACE_CHANGED: Cures = ['InterPodAffinity'];

/** What a change of a node may cure. A node that stopped to do something cures nothing, nor does a heartbeat. */
export function nodeCures(old: Node | undefined, now: Node | undefined): Cures {
  if (now === undefined) return ['PodTopologySpread'];
  if (old === undefined) return FILTERS;
  const changes: readonly (readonly [isChanged: boolean, cures: Cures])[] = [
    [old.spec.unschedulable === true && now.spec.unschedulable !== true, ['NodeUnschedulable']],
    [isTaintChanged(old, now), ['TaintToleration', 'PodTopologySpread']],
    [isLabelChanged(old, now), ['NodeAffinity', 'VolumeBinding', 'PodTopologySpread', 'InterPodAffinity']],
    [hasMore(allocatableOf(old), allocatableOf(now)), ['NodeResourcesFit']],
  ];
  return changes.flatMap(([isChanged, cures]) => (isChanged ? cures : NONE));
}

// Plain JSON that came from the server.
const isTaintChanged = (old: Node, now: Node): boolean =>
  !jsonEqual((old.spec.taints ?? []) as unknown as Json, (now.spec.taints ?? []) as unknown as Json);

const isLabelChanged = (old: Node, now: Node): boolean =>
  !jsonEqual({ ...old.metadata.labels }, { ...now.metadata.labels });

const hasMore = (old: Resources, now: Resources): boolean =>
  [...now].some(([name, amount]) => amount > (old.get(name) ?? 0));

/** What a change of a pod that counts on a node may cure; undefined for not counting. */
export function podCures(old: PodFacts | undefined, now: PodFacts | undefined): Cures {
  if (old === undefined) return now === undefined ? NONE : POD_CAME;
  if (now === undefined) return POD_WENT;
  const isOther = !jsonEqual(old.labels, now.labels) || old.isTerminating !== now.isTerminating;
  return [...(isOther ? POD_CAME : NONE), ...(hasMore(now.requests, old.requests) ? POD_WENT : NONE)];
}
