import type { AssistedCondition } from '../../../api/assisted/agent-install-v1beta1.ts';
import { time } from '../../../api/time.ts';

/** A condition before anybody knows since when it holds. */
export interface ConditionNews {
  readonly type: string;
  readonly status: AssistedCondition['status'];
  readonly reason: string;
  readonly message: string;
}

export const news = (
  type: string,
  status: AssistedCondition['status'],
  reason: string,
  message: string,
): ConditionNews => ({ type, status, reason, message });

/**
 * Conditions in their places; those of others stay. `lastTransitionTime` moves with the status, `lastProbeTime` with
 * anything: that is how a restart knows since when a state lasts.
 */
export function withConditions(
  old: readonly AssistedCondition[],
  told: readonly ConditionNews[],
  now: Date,
): readonly AssistedCondition[] {
  const kept = old.filter(({ type }) => !told.some((one) => one.type === type));
  return [
    ...told.map((one) =>
      stamped(
        old.find(({ type }) => type === one.type),
        one,
        now,
      ),
    ),
    ...kept,
  ];
}

function stamped(old: AssistedCondition | undefined, told: ConditionNews, now: Date): AssistedCondition {
  const since = time(now);
  const isSame = old?.status === told.status && old.reason === told.reason && old.message === told.message;
  if (isSame) return old;
  return {
    ...told,
    lastProbeTime: since,
    lastTransitionTime: old?.status === told.status ? (old.lastTransitionTime ?? since) : since,
  };
}

export const conditionIn = (
  conditions: readonly AssistedCondition[] | undefined,
  type: string,
): AssistedCondition | undefined => conditions?.find((condition) => condition.type === type);

/** Since when the condition says what it says; undefined when it says nothing. */
export function saidSince(conditions: readonly AssistedCondition[] | undefined, type: string): Date | undefined {
  const at = conditionIn(conditions, type)?.lastProbeTime;
  return at === undefined ? undefined : new Date(at);
}
