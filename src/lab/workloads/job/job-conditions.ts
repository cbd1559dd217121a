import type { Job, JobCondition } from '../../../api/generated/batch-v1-types.ts';
import { time } from '../../../api/time.ts';

/** What a condition says, before anybody knows since when. */
export type ConditionFields = Pick<JobCondition, 'type' | 'status'> & {
  readonly reason: string;
  readonly message: string;
};

export const conditionIn = (
  conditions: readonly JobCondition[] | undefined,
  type: string,
): JobCondition | undefined => conditions?.find((condition) => condition.type === type);

/** The condition of this type, if it holds. */
export function heldCondition({ status }: Job, type: string): JobCondition | undefined {
  const found = conditionIn(status?.conditions, type);
  return found?.status === 'True' ? found : undefined;
}

/** The condition that ended the job; nothing happens to it any more. */
export const finalCondition = (job: Job): JobCondition | undefined =>
  heldCondition(job, 'Complete') ?? heldCondition(job, 'Failed');

/** The list with the condition in its place or at the end; the same list when nothing changed. */
export function withCondition(
  conditions: readonly JobCondition[],
  fields: ConditionFields,
  now: Date,
): readonly JobCondition[] {
  const old = conditionIn(conditions, fields.type);
  if (old?.status === fields.status && old.reason === fields.reason && old.message === fields.message)
    return conditions;
  const next = { ...fields, lastProbeTime: time(now), lastTransitionTime: time(now) };
  if (old !== undefined) return conditions.map((condition) => (condition === old ? next : condition));
  // From nothing to false says nothing.
  return fields.status === 'False' ? conditions : [...conditions, next];
}

export const isSuspended = ({ spec }: Job): boolean => spec.suspend === true;

/** Somebody else looks after the job; undefined when it is ours. */
export function foreignController({ spec: { managedBy } }: Job): string | undefined {
  return managedBy === 'kubernetes.io/job-controller' ? undefined : managedBy;
}
