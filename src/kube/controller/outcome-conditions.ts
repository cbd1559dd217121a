import type { Json, JsonObject } from '../../api/json.ts';
import type { Condition, KubeObject } from '../../api/object.ts';
import { conditionsOf, findCondition, isTrue, readyFalse, sameCondition, stamp } from '../../object/conditions.ts';
import { isJsonObject, jsonEqual } from '../../object/json.ts';
import type { Failure } from './settle.ts';

const READY = 'Ready';
const STALLED = 'Stalled';

/** The name under which the loop shows failures, apart from what the reconciler itself applies. */
export const outcomeManager = (fieldManager: string): string => `${fieldManager}/outcome`;

/** The conditions that show a failure; the same failure gives the same conditions. */
export function failureConditions(
  object: KubeObject,
  { reason, message, isStalled }: Pick<Failure, 'reason' | 'message' | 'isStalled'>,
  now: Date,
): readonly Condition[] {
  const ready = stamp(readyFalse(reason, message), object, now);
  const stalled = { type: STALLED, status: 'True', reason, message } as const;
  return isStalled ? [ready, stamp(stalled, object, now)] : [ready];
}

/** Whether an object says that it is not ready or stalled, whoever wrote that. */
export const showsFailure = (object: KubeObject): boolean =>
  findCondition(object, READY)?.status === 'False' || isTrue(object, STALLED);

/** How what an object shows differs from these conditions. */
export function differenceFrom(
  object: KubeObject,
  conditions: readonly Condition[],
): 'none' | 'message' | 'state' {
  const isStalled = conditions.some(({ type }) => type === STALLED);
  if (!isStalled && isTrue(object, STALLED)) return 'state';
  const pairs = conditions.map((want) => ({ want, have: findCondition(object, want.type) }));
  if (pairs.every(({ want, have }) => have !== undefined && sameCondition(have, want))) return 'none';
  const differsInText = pairs.every(
    ({ want, have }) => have !== undefined && sameCondition({ ...have, message: want.message }, want),
  );
  return differsInText ? 'message' : 'state';
}

/** Whether a manager owns conditions of an object that was read with its managed fields. */
export const ownsConditions = ({ metadata }: KubeObject, manager: string): boolean =>
  (metadata.managedFields ?? []).some((entry) => {
    const status = entry.fieldsV1?.['f:status'];
    const isOurs = entry.manager === manager && entry.operation === 'Apply';
    return isOurs && typeof status === 'object' && status !== null && 'f:conditions' in status;
  });

/**
 * Whether two states of an object differ in nothing but the conditions that the loop writes. Compares everything else
 * as well, because one event may carry several changes.
 */
export function differsOnlyInOutcome(old: KubeObject, now: KubeObject): boolean {
  return jsonEqual(withoutOutcome(old), withoutOutcome(now));
}

function withoutOutcome(object: KubeObject): JsonObject {
  // Objects are plain JSON, whatever their type says.
  const plain = object as unknown as JsonObject;
  const { resourceVersion: _version, managedFields: _fields, ...metadata } = asObject(plain['metadata']);
  const { conditions: _conditions, ...status } = asObject(plain['status']);
  const others = conditionsOf(object).filter(({ type }) => type !== READY && type !== STALLED);
  return { ...plain, metadata, status, conditions: others as unknown as Json };
}

const asObject = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {});
