import type { DeprecatedStatus, V1beta1Condition } from '../../../api/cluster-api/core-v1beta2.ts';
import type { Condition, KubeObject } from '../../../api/object.ts';
import {
  orderV1beta2,
  setV1beta1Condition,
  summarizeConditions,
  type V1beta1Condition as ToldV1beta1,
} from '../../../object/condition-dialects.ts';
import { type ConditionFields, type ConditionStatus, setCondition } from '../../../object/conditions.ts';

/** What a controller says of an object, in both spellings of Cluster API. */
export interface Told {
  readonly conditions: readonly ConditionFields[];
  readonly v1beta1: readonly Omit<ToldV1beta1, 'lastTransitionTime'>[];
}

interface ToldObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly deprecated?: DeprecatedStatus };
}

export interface ToldStatus {
  readonly conditions: Condition[];
  readonly deprecated: { v1beta1: { conditions: ToldV1beta1[] } };
}

/** The conditions of an object with what is told now; those of others stay. */
export function toldStatus({ metadata, status = {} }: ToldObject, told: Told, now: Date): ToldStatus {
  const { generation } = metadata;
  let conditions: readonly Condition[] = status.conditions ?? [];
  for (const fields of told.conditions) {
    const observed = { ...fields, ...(generation !== undefined && { observedGeneration: generation }) };
    ({ conditions } = setCondition(conditions, observed, now));
  }
  let old: readonly ToldV1beta1[] = (status.deprecated?.v1beta1?.conditions ?? []).map(withoutEmptySeverity);
  for (const fields of told.v1beta1) ({ conditions: old } = setV1beta1Condition(old, fields, now));
  return { conditions: [...orderV1beta2(conditions)], deprecated: { v1beta1: { conditions: [...old] } } };
}

const withoutEmptySeverity = ({ severity, ...rest }: V1beta1Condition): ToldV1beta1 => ({
  ...rest,
  ...(severity !== undefined && severity !== '' && { severity }),
});

export interface Statement {
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message?: string;
}

export const condition = (type: string, { status, reason, message = '' }: Statement): ConditionFields => ({
  type,
  status,
  reason,
  message,
});

/** In the older spelling only what is wrong has a reason, and what has no text has no message. */
export const v1beta1 = (type: string, isTrue: boolean, reason: string, message = ''): Told['v1beta1'][number] =>
  isTrue
    ? { type, status: 'True' }
    : { type, status: 'False', severity: 'Info', reason, ...(message !== '' && { message }) };

interface Reasons {
  readonly good: string;
  readonly bad: string;
  readonly unknown: string;
}

const READY: Reasons = { good: 'Ready', bad: 'NotReady', unknown: 'ReadyUnknown' };
export const AVAILABLE: Reasons = { good: 'Available', bad: 'NotAvailable', unknown: 'AvailableUnknown' };

/** One condition for several, with the reasons of Cluster API. */
export function summary(
  type: string,
  parts: readonly ConditionFields[],
  { good, bad, unknown }: Reasons = READY,
): ConditionFields {
  const stamped = parts.map((part) => ({ ...part, lastTransitionTime: '' }));
  const of = parts.map((part) => part.type);
  const summed = summarizeConditions(stamped, { type, of, negative: ['Deleting'] });
  const reason = { True: good, False: bad, Unknown: unknown }[summed.status];
  return { ...summed, reason };
}

export const deleting = (reason: string | undefined, message = ''): ConditionFields =>
  reason === undefined
    ? condition('Deleting', { status: 'False', reason: 'NotDeleting' })
    : condition('Deleting', { status: 'True', reason, message });

export const paused = (isPaused: boolean): ConditionFields =>
  isPaused
    ? condition('Paused', {
        status: 'True',
        reason: 'Paused',
        message: 'spec.paused of the Cluster, or annotation',
      })
    : condition('Paused', { status: 'False', reason: 'NotPaused' });
