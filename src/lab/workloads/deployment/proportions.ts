import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1-types.ts';
import { mostReplicas } from './bounds.ts';
import { countAnnotation, DESIRED_REPLICAS, MAX_REPLICAS } from './revision.ts';
import {
  activeSets,
  byAge,
  desiredReplicas,
  isRolling,
  type Rollout,
  type ScaleStep,
  setsOf,
  sizeOf,
  totalSize,
} from './rollout.ts';

/** Pure: whether the Deployment was scaled since one of its sets with pods was written (W8). */
export const isScalingEvent = (rollout: Rollout): boolean =>
  activeSets(setsOf(rollout)).some((set) => isOutdated(set, rollout.deployment));

/** A set that says nothing was adopted, and nobody knows. */
function isOutdated(set: ReplicaSet, deployment: Deployment): boolean {
  const desired = countAnnotation(set, DESIRED_REPLICAS);
  return desired !== undefined && desired !== desiredReplicas(deployment);
}

/** Pure: the sizes of the sets of a Deployment that was scaled, or is paused; nobody goes on with a rollout here (W8). */
export function scalingSteps(rollout: Rollout): readonly ScaleStep[] {
  const { deployment, newSet, oldSets } = rollout;
  const active = activeSets(setsOf(rollout));
  if (active.length <= 1) return onlySetSteps(deployment, active[0] ?? newSet ?? oldSets.at(-1));
  if (newSet !== undefined && isSaturated(deployment, newSet)) {
    return activeSets(oldSets).map((set) => ({ set, replicas: 0 }));
  }
  return isRolling(deployment) ? proportionalSteps(deployment, active) : [];
}

function onlySetSteps(deployment: Deployment, set: ReplicaSet | undefined): readonly ScaleStep[] {
  if (set === undefined) return [];
  const replicas = desiredReplicas(deployment);
  // A set that has the size already but says another one would make every sync a scaling event, and stop all rollouts.
  const isForced = sizeOf(set) > 0 && isOutdated(set, deployment);
  return sizeOf(set) === replicas && !isForced ? [] : [{ set, replicas, isForced }];
}

/** It has, and knows that it has, everything the Deployment wants: the old ones are not needed any more. */
function isSaturated(deployment: Deployment, set: ReplicaSet): boolean {
  const desired = desiredReplicas(deployment);
  const isKnown = countAnnotation(set, DESIRED_REPLICAS) === desired;
  return isKnown && sizeOf(set) === desired && (set.status?.availableReplicas ?? 0) === desired;
}

/**
 * Each set gets its share of what is added or removed, so that a rollout is neither hastened nor undone by scaling; what
 * rounding leaves goes to the largest.
 */
function proportionalSteps(deployment: Deployment, active: readonly ReplicaSet[]): readonly ScaleStep[] {
  const allowed = desiredReplicas(deployment) > 0 ? mostReplicas(deployment) : 0;
  const toAdd = allowed - totalSize(active);
  const sorted = active.toSorted(toAdd > 0 ? largestThenNewest : largestThenOldest);
  let added = 0;
  const shares = sorted.map((set) => {
    const share = shareOf(set, deployment, { toAdd, added });
    added += share;
    return share;
  });
  const leftover = toAdd - added;
  return sorted.map((set, at) => {
    const replicas = sizeOf(set) + (shares[at] ?? 0) + (at === 0 ? leftover : 0);
    return { set, replicas: Math.max(0, replicas), isForced: true };
  });
}

const largestThenNewest = (a: ReplicaSet, b: ReplicaSet): number => sizeOf(b) - sizeOf(a) || byAge(b, a);
const largestThenOldest = (a: ReplicaSet, b: ReplicaSet): number => sizeOf(b) - sizeOf(a) || byAge(a, b);

/** What is to be added to all sets (or removed, below zero), and what of it was given away so far. */
interface Distribution {
  readonly toAdd: number;
  readonly added: number;
}

/** Pure: the share of one set, never more than what is left to give. */
export function shareOf(set: ReplicaSet, deployment: Deployment, { toAdd, added }: Distribution): number {
  if (sizeOf(set) === 0 || toAdd === added) return 0;
  const fraction = fractionOf(set, deployment);
  return toAdd > 0 ? Math.min(fraction, toAdd - added) : Math.max(fraction, toAdd - added);
}

/** By how much a set would change if it kept its part of the whole. */
function fractionOf(set: ReplicaSet, deployment: Deployment): number {
  const size = sizeOf(set);
  if (desiredReplicas(deployment) === 0) return -size;
  // Somebody may have removed the annotation, or written nonsense: then what there is counts.
  const mostBefore = countAnnotation(set, MAX_REPLICAS) || (deployment.status?.replicas ?? 0);
  if (mostBefore === 0) return 0;
  return Math.floor((size * mostReplicas(deployment)) / mostBefore + 0.5) - size;
}
