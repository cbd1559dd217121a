import type { DeploymentCondition } from '../../../api/generated/apps-v1-types.ts';
import { time } from '../../../api/time.ts';

export type Conditions = readonly DeploymentCondition[];

/** A condition that begins to hold now, unless something like it held before. */
export function conditionNow(
  fields: Required<Pick<DeploymentCondition, 'type' | 'status' | 'reason' | 'message'>>,
  now: Date,
): DeploymentCondition {
  return { ...fields, lastUpdateTime: time(now), lastTransitionTime: time(now) };
}

export const conditionOf = (conditions: Conditions | undefined, type: string): DeploymentCondition | undefined =>
  conditions?.find((condition) => condition.type === type);

/**
 * Pure: the list with this condition at its end. The list as it was when status and reason are the same, whatever the
 * message says (W13); the time of the transition stays while the status does.
 */
export function withCondition(conditions: Conditions, condition: DeploymentCondition): Conditions {
  const before = conditionOf(conditions, condition.type);
  if (before?.status === condition.status && before.reason === condition.reason) return conditions;
  return [...withoutCondition(conditions, condition.type), sinceBefore(condition, before)];
}

export const withoutCondition = (conditions: Conditions, type: string): Conditions =>
  conditions.filter((condition) => condition.type !== type);

/** The condition, since when its status holds. */
export function sinceBefore(
  condition: DeploymentCondition,
  before: DeploymentCondition | undefined,
): DeploymentCondition {
  const { lastTransitionTime } = before ?? {};
  if (before?.status !== condition.status || lastTransitionTime === undefined) return condition;
  return { ...condition, lastTransitionTime };
}
