import type { Pod, PodCondition } from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';

/** Why a pod has no node yet, as its condition says it. */
export interface Unscheduled {
  readonly reason: 'Unschedulable' | 'SchedulerError';
  readonly message: string;
}

const TYPE = 'PodScheduled';

const conditionOf = ({ status }: Pod): PodCondition | undefined =>
  status?.conditions?.find(({ type }) => type === TYPE);

/** Whether the pod says this already: then nobody has to be told (K7). */
export function isTold(pod: Pod, { reason, message }: Unscheduled): boolean {
  const known = conditionOf(pod);
  return known?.status === 'False' && known.reason === reason && known.message === message;
}

/** The condition that says it; its time moves only with its status. */
export function unscheduledCondition(pod: Pod, { reason, message }: Unscheduled, now: Date) {
  const known = conditionOf(pod);
  const since = known?.status === 'False' ? known.lastTransitionTime : undefined;
  return { type: TYPE, status: 'False', reason, message, lastTransitionTime: since ?? time(now) };
}
