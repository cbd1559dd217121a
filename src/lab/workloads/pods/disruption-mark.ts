import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';

/** Why somebody other than its owner ends a pod. */
export interface Disruption {
  readonly reason: string;
  readonly message: string;
}

/** Pure: the condition by which a pod is marked before it is deleted; none when it has it. */
export function disruptionMarks({ status }: Pod, disruption: Disruption, now: Date) {
  const old = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  const isMarked = old?.status === 'True';
  if (isMarked && old.reason === disruption.reason) return [];
  // The time moves with the status only.
  const since = isMarked ? old.lastTransitionTime : undefined;
  return [{ type: 'DisruptionTarget', status: 'True', ...disruption, lastTransitionTime: since ?? time(now) }];
}
