import type { Condition } from '../api/object.ts';
import { time } from '../api/time.ts';
import { type ConditionFields, type ConditionStatus, findCondition, setCondition } from './conditions.ts';

/** A condition of cluster-api v1beta1: how bad it is instead of for which generation. */
export interface V1beta1Condition {
  readonly type: string;
  readonly status: ConditionStatus;
  /** Only where the status is False. */
  readonly severity?: 'Error' | 'Warning' | 'Info';
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime: string;
}

/**
 * Sets a condition as cluster-api v1beta1 does: the time moves with every change of what it says, the list is sorted,
 * Ready first. A severity is kept only where the status is False.
 */
export function setV1beta1Condition(
  conditions: readonly V1beta1Condition[],
  { severity, ...fields }: Omit<V1beta1Condition, 'lastTransitionTime'>,
  now: Date,
): { readonly conditions: readonly V1beta1Condition[]; readonly isChanged: boolean } {
  const next = { ...fields, ...(fields.status === 'False' && severity !== undefined && { severity }) };
  const old = conditions.find(({ type }) => type === fields.type);
  if (old !== undefined && sameV1beta1(old, next)) return { conditions, isChanged: false };
  const others = conditions.filter((condition) => condition !== old);
  const set = [...others, { ...next, lastTransitionTime: time(now) }];
  return { conditions: set.toSorted(byReadyThenName), isChanged: true };
}

const sameV1beta1 = (a: V1beta1Condition, b: Omit<V1beta1Condition, 'lastTransitionTime'>): boolean =>
  a.status === b.status &&
  (a.severity ?? '') === (b.severity ?? '') &&
  (a.reason ?? '') === (b.reason ?? '') &&
  (a.message ?? '') === (b.message ?? '');

const byReadyThenName = (a: V1beta1Condition, b: V1beta1Condition): number =>
  Number(b.type === 'Ready') - Number(a.type === 'Ready') || compareText(a.type, b.type);

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const FIRST = ['Available', 'Ready'];
const LAST = ['Deleting', 'Paused'];

/** The order of cluster-api v1beta2: Available and Ready first, Deleting and Paused last, names in between. */
export const orderV1beta2 = (conditions: readonly Condition[]): readonly Condition[] =>
  conditions.toSorted((a, b) => rank(a.type) - rank(b.type) || compareText(a.type, b.type));

function rank(type: string): number {
  if (FIRST.includes(type)) return FIRST.indexOf(type) - FIRST.length;
  return LAST.indexOf(type) + 1;
}

export interface SummaryOptions {
  /** The type of the condition that is made. */
  readonly type: string;
  /** The types it is made of; one that is absent counts as Unknown. */
  readonly of: readonly string[];
  /** Types of which True is the bad news, such as Degraded. */
  readonly negative?: readonly string[];
}

interface Issue {
  readonly condition: ConditionFields;
  readonly isUnknown: boolean;
}

/** One condition for several: False when one is bad, else Unknown when one is unknown, else True. */
export function summarizeConditions(
  conditions: readonly Condition[],
  { type, of, negative = [] }: SummaryOptions,
): ConditionFields {
  const issues = of.flatMap((name): Issue[] => {
    const condition = findCondition(conditions, name) ?? {
      type: name,
      status: 'Unknown',
      reason: 'NotYetReported',
      message: 'not reported yet',
    };
    const good = negative.includes(name) ? 'False' : 'True';
    return condition.status === good ? [] : [{ condition, isUnknown: condition.status === 'Unknown' }];
  });
  const bad = issues.filter(({ isUnknown }) => !isUnknown);
  const shown = bad.length > 0 ? bad : issues;
  const [first] = shown;
  if (first === undefined) return { type, status: 'True', reason: 'AsExpected', message: '' };
  const { reason } = first.condition;
  return {
    type,
    status: bad.length > 0 ? 'False' : 'Unknown',
    reason: shown.length === 1 ? reason : bad.length > 0 ? 'IssuesReported' : 'UnknownReported',
    message: shown.map(({ condition }) => `${condition.type}: ${condition.message}`).join('; '),
  };
}

/** The condition of another object under a name of ours; Unknown while that object says nothing. */
export function mirrorCondition(source: Condition | undefined, type: string, whose: string): ConditionFields {
  if (source === undefined) {
    return { type, status: 'Unknown', reason: 'NotYetReported', message: `${whose} has not reported it yet` };
  }
  const { status, reason, message } = source;
  return { type, status, reason: reason === '' ? 'NoReasonReported' : reason, message };
}

/** What an OpenShift ClusterOperator tells about one part of an operator. */
export interface OperatorFacts {
  readonly available?: ConditionNews;
  readonly progressing?: ConditionNews;
  readonly degraded?: ConditionNews;
  readonly upgradeable?: ConditionNews;
}

export interface ConditionNews {
  readonly status: ConditionStatus;
  readonly reason: string;
  readonly message: string;
}

const OPERATOR_CONDITIONS = [
  { type: 'Available', member: 'available', calm: 'True' },
  { type: 'Progressing', member: 'progressing', calm: 'False' },
  { type: 'Degraded', member: 'degraded', calm: 'False' },
  { type: 'Upgradeable', member: 'upgradeable', calm: 'True' },
] as const;

/** The four conditions of a ClusterOperator. What is not told is as expected; other conditions of the list stay. */
export function setOperatorConditions(
  conditions: readonly Condition[],
  facts: OperatorFacts,
  now: Date,
): readonly Condition[] {
  let result = conditions;
  for (const { type, member, calm } of OPERATOR_CONDITIONS) {
    const news = facts[member] ?? { status: calm, reason: 'AsExpected', message: '' };
    ({ conditions: result } = setCondition(result, { type, ...news }, now));
  }
  return result;
}

/** The facts of an operator from those of its parts, by name: the worst of each, with the parts that are to blame. */
export function summarizeOperator(parts: Readonly<Record<string, OperatorFacts>>): OperatorFacts {
  const entries = OPERATOR_CONDITIONS.flatMap(({ member, calm }) => {
    const issues = Object.entries(parts).flatMap(([name, facts]) => {
      const news = facts[member];
      return news === undefined || news.status === calm ? [] : [{ name, news }];
    });
    const bad = issues.filter(({ news }) => news.status !== 'Unknown');
    const shown = bad.length > 0 ? bad : issues;
    const [first] = shown;
    if (first === undefined) return [];
    const news: ConditionNews = {
      status: first.news.status,
      reason: shown.length === 1 ? `${first.name}_${first.news.reason}` : 'IssuesReported',
      message: shown.map(({ name, news: { message } }) => `${name}: ${message}`).join('\n'),
    };
    return [[member, news] as const];
  });
  return Object.fromEntries(entries);
}
