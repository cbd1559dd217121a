import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1-types.ts';
import { fewestAvailable, mostReplicas } from './bounds.ts';
import {
  activeSets,
  countIn,
  desiredReplicas,
  isRolling,
  type Rollout,
  type ScaleStep,
  setsOf,
  sizeOf,
  totalOf,
  totalSize,
} from './rollout.ts';

/**
 * Pure: how many pods the new set may ask for, when it asks for `size` now and all sets together for `total` (W7a). Who
 * recreates has no old pods any more when the question comes up.
 */
export function newSetSize(deployment: Deployment, size: number, total: number): number {
  const desired = desiredReplicas(deployment);
  if (!isRolling(deployment)) return desired;
  const room = mostReplicas(deployment) - total;
  return room <= 0 ? size : size + Math.min(room, desired - size);
}

/** Pure: the next steps of a rolling update: the new set up or down, else the old ones down, else none (W7). */
export function rollingSteps(rollout: Rollout): readonly ScaleStep[] {
  const { deployment, newSet } = rollout;
  if (newSet === undefined) return [];
  const up = newSetStep(deployment, newSet, totalSize(setsOf(rollout)));
  return up === undefined ? oldSetSteps(rollout, newSet) : [up];
}

function newSetStep(deployment: Deployment, set: ReplicaSet, total: number): ScaleStep | undefined {
  const size = sizeOf(set);
  const desired = desiredReplicas(deployment);
  const replicas = size > desired ? desired : newSetSize(deployment, size, total);
  return replicas === size ? undefined : { set, replicas };
}

/** Old sets, their sizes changing while steps are found. */
class Shrinking {
  readonly steps: ScaleStep[] = [];
  readonly #sizes: Map<ReplicaSet, number>;

  constructor(sets: readonly ReplicaSet[]) {
    this.#sizes = new Map(sets.map((set) => [set, sizeOf(set)]));
  }

  get sizes(): readonly (readonly [set: ReplicaSet, size: number])[] {
    return [...this.#sizes];
  }

  shrink(set: ReplicaSet, count: number): void {
    const replicas = (this.#sizes.get(set) ?? 0) - count;
    this.#sizes.set(set, replicas);
    if (count > 0) this.steps.push({ set, replicas });
  }
}

/** Old pods that may go (W7b): never so many that, with new pods that are not available yet, too few are left. */
function oldSetSteps({ deployment, newSet, oldSets }: Rollout, fresh: ReplicaSet): readonly ScaleStep[] {
  const active = activeSets(oldSets);
  const total = totalSize(setsOf({ deployment, newSet, oldSets }));
  const notYetAvailable = sizeOf(fresh) - countIn(fresh.status, 'availableReplicas');
  const most = total - fewestAvailable(deployment) - notYetAvailable;
  if (active.length === 0 || most <= 0) return [];
  const shrinking = new Shrinking(active);
  if (removeUnhealthy(shrinking, most)) {
    const available = totalOf([...active, fresh], 'availableReplicas');
    removeAvailable(shrinking, available - fewestAvailable(deployment));
  }
  return shrinking.steps;
}

/**
 * Pods that are not available go first: they would block the rollout, and their loss hurts nobody. False when a set has
 * more available pods than it asks for: it is being scaled down right now, and what it says cannot be trusted.
 */
function removeUnhealthy(shrinking: Shrinking, most: number): boolean {
  let left = most;
  for (const [set, size] of shrinking.sizes) {
    if (left <= 0) break;
    const unhealthy = size - countIn(set.status, 'availableReplicas');
    if (unhealthy < 0) return false;
    const count = Math.min(left, unhealthy);
    shrinking.shrink(set, count);
    left -= count;
  }
  return true;
}

function removeAvailable(shrinking: Shrinking, most: number): void {
  let left = most;
  for (const [set, size] of shrinking.sizes) {
    if (left <= 0) break;
    const count = Math.min(left, size);
    shrinking.shrink(set, count);
    left -= count;
  }
}
