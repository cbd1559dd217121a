import type { Condition, KubeObject } from '../api/object.ts';
import { time } from '../api/time.ts';

export type ConditionStatus = Condition['status'];

/** A condition before anybody knows since when it holds. */
export type ConditionFields = Omit<Condition, 'lastTransitionTime'>;

/** Where conditions are looked for: an object, its status, or the list itself. Anything may be absent. */
export type ConditionHolder =
  | readonly Condition[]
  | { readonly conditions?: readonly Condition[] }
  | { readonly status?: { readonly conditions?: readonly Condition[] } }
  | KubeObject
  | undefined;

export const readyTrue = (reason: string, message = ''): ConditionFields => readyAs('True', reason, message);
export const readyFalse = (reason: string, message: string): ConditionFields => readyAs('False', reason, message);
export const readyUnknown = (reason: string, message: string): ConditionFields =>
  readyAs('Unknown', reason, message);

const readyAs = (status: ConditionStatus, reason: string, message: string): ConditionFields => ({
  type: 'Ready',
  status,
  reason,
  message,
});

/**
 * The condition as the owner should have it: for its generation, and since when its status is what it is. The same
 * facts give the same condition, so that applying it again changes nothing.
 */
export function stamp(fields: ConditionFields, owner: KubeObject, now: Date): Condition {
  const { generation } = owner.metadata;
  const observed = fields.observedGeneration ?? generation;
  return stamped({ ...fields, ...(observed !== undefined && { observedGeneration: observed }) }, owner, now);
}

function stamped(fields: ConditionFields, holder: ConditionHolder, now: Date): Condition {
  const old = findCondition(holder, fields.type);
  const since = old?.status === fields.status ? old.lastTransitionTime : undefined;
  return { ...fields, lastTransitionTime: since ?? time(now) };
}

export interface ConditionChange {
  /** The list that was given when nothing changed. */
  readonly conditions: readonly Condition[];
  readonly isChanged: boolean;
}

/** Puts a condition in its place, or at the end. `lastTransitionTime` moves only with the status. */
export function setCondition(
  conditions: readonly Condition[],
  fields: ConditionFields,
  now: Date,
): ConditionChange {
  const next = stamped(fields, conditions, now);
  const old = findCondition(conditions, fields.type);
  if (old === undefined) return { conditions: [...conditions, next], isChanged: true };
  if (sameCondition(old, next)) return { conditions, isChanged: false };
  return { conditions: conditions.map((item) => (item === old ? next : item)), isChanged: true };
}

/** Whether two conditions say the same; when they began to is no part of it. */
export const sameCondition = (a: Condition, b: Condition): boolean =>
  a.type === b.type &&
  a.status === b.status &&
  a.reason === b.reason &&
  a.message === b.message &&
  a.observedGeneration === b.observedGeneration &&
  severityIn(a) === severityIn(b);

// Of cluster-api v1beta1; other conditions have none.
const severityIn = (condition: Condition & { readonly severity?: unknown }): unknown => condition.severity ?? '';

export function removeCondition(conditions: readonly Condition[], type: string): ConditionChange {
  const kept = conditions.filter((condition) => condition.type !== type);
  return kept.length === conditions.length
    ? { conditions, isChanged: false }
    : { conditions: kept, isChanged: true };
}

export const findCondition = (holder: ConditionHolder, type: string): Condition | undefined =>
  conditionsOf(holder).find((condition) => condition.type === type);

export const isTrue = (holder: ConditionHolder, type: string): boolean =>
  findCondition(holder, type)?.status === 'True';

/**
 * Whether an object says that it is ready, for what it is now: a condition of an older generation says nothing about
 * the newest spec.
 */
export function isReady(object: KubeObject): boolean {
  const ready = findCondition(object, 'Ready');
  const { generation } = object.metadata;
  const { observedGeneration = generation } = ready ?? {};
  return ready?.status === 'True' && observedGeneration === generation;
}

/** The conditions of whatever may have some; what is no list counts as none. */
export function conditionsOf(holder: ConditionHolder): readonly Condition[] {
  if (holder === undefined || isList(holder)) return holder ?? [];
  const { conditions, status } = holder as {
    readonly conditions?: unknown;
    readonly status?: { readonly conditions?: unknown } | null;
  };
  const found = conditions ?? status?.conditions;
  return Array.isArray(found) ? found : [];
}

const isList = (holder: NonNullable<ConditionHolder>): holder is readonly Condition[] => Array.isArray(holder);

const TYPE =
  /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/;
const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const STATUSES: readonly string[] = ['True', 'False', 'Unknown'];

/** What the schema of metav1.Condition would refuse, one sentence each; empty when nothing. */
export function conditionProblems({ type, status, reason, message }: ConditionFields): string[] {
  return [
    ...(type.length > 316 || !TYPE.test(type) ? [`type must be a qualified name, not "${type}"`] : []),
    ...(STATUSES.includes(status) ? [] : [`status must be True, False or Unknown, not "${status}"`]),
    ...(reason.length > 1024 || !REASON.test(reason)
      ? [`reason must be a CamelCase word of 1 to 1024 characters, not "${reason.slice(0, 64)}"`]
      : []),
    ...(message.length > 32_768 ? [`message must have at most 32768 characters, not ${message.length}`] : []),
  ];
}
