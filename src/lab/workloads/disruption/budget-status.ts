import type { Pod } from '../../../api/generated/core-v1-types.ts';
import type {
  PodDisruptionBudget,
  PodDisruptionBudgetSpec,
  PodDisruptionBudgetStatus,
} from '../../../api/generated/policy-v1-types.ts';
import { setCondition } from '../../../object/conditions.ts';
import { countOf } from '../pods/int-or-percent.ts';
import { isReady } from '../pods/pod-state.ts';
import { expectedScale, type PodControllers } from './expected-scale.ts';

/** So long a pod may take from its eviction to its deletion; if it is still there, it was not deleted after all. */
export const DELETION_MS = 2 * 60_000;

/** What a decision about a budget is made from. */
export interface BudgetFacts {
  readonly budget: PodDisruptionBudget;
  /** Those that its selector takes in. */
  readonly pods: readonly Pod[];
  readonly controllers: PodControllers;
  readonly now: Date;
}

export interface BudgetResult {
  readonly status: PodDisruptionBudgetStatus;
  readonly unmanaged: readonly string[];
  /** Pods that were evicted and are still there. */
  readonly undeleted: readonly Pod[];
  /** When to look again though nothing happens. */
  readonly recheckInMs?: number;
}

/** Pure: what a budget allows now (W33). Throws a userError when it cannot be said. */
export function budgetStatus({ budget, pods, controllers, now }: BudgetFacts): BudgetResult {
  const { expected, desired, unmanaged } = expectedPods(budget.spec ?? {}, pods, controllers);
  const { disrupted, undeleted, recheckInMs } = disruptedPods(budget, pods, now);
  const current = pods.filter((pod) => isHealthy(pod, disrupted)).length;
  const allowed = expected <= 0 ? 0 : Math.max(0, current - desired);
  const { generation } = budget.metadata;
  const conditions = setCondition(
    budget.status?.conditions ?? [],
    {
      type: 'DisruptionAllowed',
      ...(allowed > 0
        ? { status: 'True' as const, reason: 'SufficientPods' }
        : { status: 'False' as const, reason: 'InsufficientPods' }),
      message: '',
      ...(generation !== undefined && { observedGeneration: generation }),
    },
    now,
  );
  const status: PodDisruptionBudgetStatus = {
    currentHealthy: current,
    desiredHealthy: desired,
    expectedPods: expected,
    disruptionsAllowed: allowed,
    ...(disrupted.size > 0 && { disruptedPods: Object.fromEntries(disrupted) }),
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions: conditions.conditions,
  };
  return { status, unmanaged, undeleted, ...(recheckInMs !== undefined && { recheckInMs }) };
}

/** Pure: nothing is known for sure, so nothing is allowed; what was observed stays. */
export function failedStatus(
  { status }: PodDisruptionBudget,
  message: string,
  now: Date,
): PodDisruptionBudgetStatus {
  const { observedGeneration } = status ?? {};
  const condition = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  } as const;
  return {
    currentHealthy: 0,
    desiredHealthy: 0,
    expectedPods: 0,
    ...status,
    disruptionsAllowed: 0,
    conditions: setCondition(status?.conditions ?? [], condition, now).conditions,
  };
}

interface Expected {
  readonly expected: number;
  readonly desired: number;
  readonly unmanaged: readonly string[];
}

/** A number of pods is compared with those that are there; a part, with what their controllers want. */
function expectedPods(
  { minAvailable, maxUnavailable }: PodDisruptionBudgetSpec,
  pods: readonly Pod[],
  controllers: PodControllers,
): Expected {
  if (maxUnavailable === undefined && typeof minAvailable !== 'string')
    return { expected: minAvailable === undefined ? 0 : pods.length, desired: minAvailable ?? 0, unmanaged: [] };
  const { count, unmanaged } = expectedScale(pods, controllers);
  const desired =
    maxUnavailable === undefined
      ? countOf(minAvailable, count, 'up')
      : Math.max(0, count - countOf(maxUnavailable, count, 'up'));
  return { expected: count, desired, unmanaged };
}

interface Disrupted {
  /** Name and time of eviction. */
  readonly disrupted: ReadonlyMap<string, string>;
  readonly undeleted: readonly Pod[];
  readonly recheckInMs?: number;
}

/** Of the pods that the API server evicted, those whose deletion is still to come. */
function disruptedPods({ status }: PodDisruptionBudget, pods: readonly Pod[], now: Date): Disrupted {
  const noted = pods.flatMap((pod) => {
    const at = status?.disruptedPods?.[pod.metadata.name];
    if (at === undefined || pod.metadata.deletionTimestamp !== undefined) return [];
    return [{ pod, at, leftMs: Date.parse(at) + DELETION_MS - now.getTime() }];
  });
  const waiting = noted.filter(({ leftMs }) => leftMs > 0);
  return {
    disrupted: new Map(waiting.map(({ pod, at }) => [pod.metadata.name, at])),
    undeleted: noted.filter(({ leftMs }) => leftMs <= 0).map(({ pod }) => pod),
    ...(waiting.length > 0 && { recheckInMs: Math.min(...waiting.map(({ leftMs }) => leftMs)) }),
  };
}

const isHealthy = (pod: Pod, disrupted: ReadonlyMap<string, string>): boolean =>
  isReady(pod) && pod.metadata.deletionTimestamp === undefined && !disrupted.has(pod.metadata.name);
