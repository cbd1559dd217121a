import type { DaemonSet } from '../../../api/generated/apps-v1-types.ts';
import { countOf } from '../pods/int-or-percent.ts';

/** How many nodes a rolling update may leave without an available pod, and how many may have two pods (W24). */
export interface RolloutBounds {
  readonly maxUnavailable: number;
  readonly maxSurge: number;
}

/** Percentages are of the nodes that should run a pod, rounded up. When both are zero, one may be unavailable. */
export function rolloutBounds(set: DaemonSet, desired: number): RolloutBounds {
  const { type, rollingUpdate = {} } = set.spec.updateStrategy ?? {};
  if (type === 'OnDelete') return { maxUnavailable: 0, maxSurge: 0 };
  const maxSurge = countOf(rollingUpdate.maxSurge ?? 0, desired, 'up');
  const maxUnavailable = countOf(rollingUpdate.maxUnavailable ?? 1, desired, 'up');
  return { maxSurge, maxUnavailable: maxSurge === 0 && maxUnavailable === 0 ? 1 : maxUnavailable };
}

/** Whether a node may have two pods for some time. */
export const allowsSurge = (set: DaemonSet): boolean => rolloutBounds(set, 1).maxSurge > 0;
