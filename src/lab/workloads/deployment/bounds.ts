import type { Deployment, RollingUpdateDeployment } from '../../../api/generated/apps-v1-types.ts';
import { countOf } from '../pods/int-or-percent.ts';
import { desiredReplicas, isRolling } from './rollout.ts';

/** How far a rollout may go from the number of replicas that is asked for. */
export interface Bounds {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

/** Pure: surge is rounded up, unavailability down; when both come to nothing, one pod may be missing (W7). */
export function resolvedBounds(
  { maxSurge: surge, maxUnavailable: unavailable }: RollingUpdateDeployment,
  replicas: number,
): Bounds {
  const maxSurge = countOf(surge, replicas, 'up');
  const maxUnavailable = countOf(unavailable, replicas, 'down');
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

/** Pure: the bounds of a Deployment. With `Recreate` there is no room in either direction. */
export function boundsOf(deployment: Deployment): Bounds {
  const replicas = desiredReplicas(deployment);
  if (!isRolling(deployment)) return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge, maxUnavailable } = resolvedBounds(deployment.spec.strategy?.rollingUpdate ?? {}, replicas);
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, replicas) };
}

/** Pods that must be available, and pods that there may be at most. */
export const fewestAvailable = (deployment: Deployment): number =>
  desiredReplicas(deployment) - boundsOf(deployment).maxUnavailable;

export const mostReplicas = (deployment: Deployment): number =>
  desiredReplicas(deployment) + boundsOf(deployment).maxSurge;
