import type { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import type { V1beta1Condition } from '../../api/cluster-api/core-v1beta2.ts';
import type { Condition } from '../../api/object.ts';
import { setV1beta1Condition } from '../../object/condition-dialects.ts';
import { type ConditionFields, findCondition, removeCondition, setCondition } from '../../object/conditions.ts';
import type { Verdict } from './verdict.ts';

const DATA_SECRET_AVAILABLE = 'DataSecretAvailable';
const PAUSED = 'Paused';
const DELETING = 'Deleting';
export const AGENTS_MATCHED = 'AgentsMatched';
/** What this controller alone says of configs. */
export const OWNED_CONDITIONS = ['Ready', DATA_SECRET_AVAILABLE, AGENTS_MATCHED, DELETING, PAUSED];

type Status = NonNullable<OpenshiftAssistedConfig['status']>;
type Severity = 'Info' | 'Warning';

/** What there is to say of a config. */
export interface StatusNews {
  readonly verdict: Verdict;
  /** Undefined: it is not paused. Absent: nobody knows, and nothing is said. */
  readonly pause?: { readonly message: string | undefined };
  /** Why it does not go although it was deleted. */
  readonly deleting?: { readonly reason: string; readonly message: string };
  /** Undefined: there are no Agents to tell of. Absent: as it was. */
  readonly agents?: { readonly condition: ConditionFields | undefined };
}

/** Pure: the status as it should be. Both lists say the same of `Ready` and `DataSecretAvailable` (B1, X5). */
export function configStatus(config: OpenshiftAssistedConfig, news: StatusNews, now: Date): Status {
  const { status: old = {} } = config;
  const data = dataCondition(news.verdict);
  const { generation } = config.metadata;
  const set = (conditions: readonly Condition[], fields: ConditionFields): readonly Condition[] =>
    setCondition(
      conditions,
      { ...fields, ...(generation !== undefined && { observedGeneration: generation }) },
      now,
    ).conditions;
  const wanted = [
    ...(data === undefined ? [] : [ready(data), data]),
    ...(news.agents?.condition === undefined ? [] : [news.agents.condition]),
    ...(news.deleting === undefined ? [] : [{ type: DELETING, status: 'True', ...news.deleting } as const]),
    ...(news.pause === undefined ? [] : [pausedCondition(news.pause.message)]),
  ];
  const conditions = wanted.reduce<readonly Condition[]>(
    (list, { severity: _severity, ...fields }: ConditionFields & { readonly severity?: Severity }) =>
      set(list, fields),
    withoutAgents(old.conditions ?? [], news),
  );
  return {
    ...old,
    ...(news.verdict.type === 'available' && {
      initialization: { ...old.initialization, dataSecretCreated: true },
      dataSecretName: news.verdict.secretName,
    }),
    ...(conditions.length > 0 && { conditions }),
    ...(data !== undefined && { v1beta1Conditions: v1beta1(old.v1beta1Conditions ?? [], data, now) }),
  };
}

const withoutAgents = (conditions: readonly Condition[], { agents }: StatusNews): readonly Condition[] =>
  agents !== undefined && agents.condition === undefined
    ? removeCondition(conditions, AGENTS_MATCHED).conditions
    : conditions;

type DataCondition = ConditionFields & { readonly severity?: Severity };

/** Undefined where nothing is said of the data: then it is as it was. */
function dataCondition(verdict: Verdict): DataCondition | undefined {
  if (verdict.type === 'idle') return undefined;
  if (verdict.type === 'available')
    return { type: DATA_SECRET_AVAILABLE, status: 'True', reason: DATA_SECRET_AVAILABLE, message: '' };
  const { reason, message, isWarning = false } = verdict;
  return {
    type: DATA_SECRET_AVAILABLE,
    status: 'False',
    reason,
    message,
    severity: isWarning ? 'Warning' : 'Info',
  };
}

/** The data is all that a config is for. */
const ready = (data: DataCondition): DataCondition => ({
  ...data,
  type: 'Ready',
  reason: data.status === 'True' ? 'Ready' : data.reason,
});

const pausedCondition = (message: string | undefined): ConditionFields => ({
  type: PAUSED,
  status: message === undefined ? 'False' : 'True',
  reason: message === undefined ? 'NotPaused' : 'Paused',
  message: message ?? '',
});

/** As upstream shows them: what is True needs no reason, and Ready says what the only other one says. */
function v1beta1(
  old: readonly V1beta1Condition[],
  { status, reason, message, severity }: DataCondition,
  now: Date,
): readonly V1beta1Condition[] {
  const said =
    status === 'True'
      ? {}
      : { reason, ...(message !== '' && { message }), ...(severity !== undefined && { severity }) };
  const known = old.map(({ severity: word, ...rest }) => ({
    ...rest,
    ...(word !== undefined && word !== '' && { severity: word }),
  }));
  return ['Ready', DATA_SECRET_AVAILABLE].reduce<readonly KnownCondition[]>(
    (list, type) => setV1beta1Condition(list, { type, status, ...said }, now).conditions,
    known,
  );
}

type KnownCondition = Parameters<typeof setV1beta1Condition>[0][number];

/** Pure: whether what is said of the data is news, for events. */
export function isNews({ status }: OpenshiftAssistedConfig, verdict: Verdict): boolean {
  const next = dataCondition(verdict);
  if (next === undefined) return false;
  const old = findCondition(status, DATA_SECRET_AVAILABLE);
  return old?.status !== next.status || old.reason !== next.reason;
}
