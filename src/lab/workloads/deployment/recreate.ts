import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { controllerReferenceOf } from '../../../object/owner-references.ts';
import { hasEnded } from '../pods/pod-state.ts';
import { activeSets, type Rollout, type ScaleStep, totalOf } from './rollout.ts';

/** Pure: all old sets at once to nothing; none when that is done (W7b). */
export const recreateSteps = ({ oldSets }: Rollout): readonly ScaleStep[] =>
  activeSets(oldSets).map((set) => ({ set, replicas: 0 }));

/**
 * Pure: whether something of the old is left (W7b). A set does not count pods that are on their way out, and these still
 * run: the port and the disk of the new one are theirs until their process has ended.
 */
export function hasOldPods({ oldSets }: Rollout, pods: readonly Pod[]): boolean {
  if (totalOf(oldSets, 'replicas') > 0) return true;
  const uids = new Set(oldSets.map(({ metadata }) => metadata.uid));
  return pods.some((pod) => uids.has(controllerReferenceOf(pod)?.uid ?? '') && !hasEnded(pod));
}
