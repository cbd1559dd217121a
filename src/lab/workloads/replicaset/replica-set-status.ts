import type { ReplicaSet, ReplicaSetCondition, ReplicaSetStatus } from '../../../api/generated/apps-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';
import { availableInMs, isAvailable, isReady } from '../pods/pod-state.ts';

/** Why the number of pods is not what it should be. */
export interface ReplicaFailure {
  readonly reason: 'FailedCreate' | 'FailedDelete';
  readonly message: string;
}

export interface ReplicaFacts {
  readonly active: readonly Pod[];
  readonly terminating: number;
  readonly failure?: ReplicaFailure;
  readonly now: Date;
}

const FAILURE = 'ReplicaFailure';

/** Pure: what a ReplicaSet says of its pods (W18). Counts of zero are left out, as Go leaves them out, except `replicas`. */
export function replicaSetStatus(set: ReplicaSet, facts: ReplicaFacts): ReplicaSetStatus {
  const { active, terminating, now } = facts;
  const { minReadySeconds = 0, template } = set.spec;
  const labels = Object.entries(template?.metadata?.labels ?? {});
  const isFullyLabeled = ({ metadata }: Pod): boolean =>
    labels.every(([key, value]) => metadata.labels?.[key] === value);
  const fullyLabeledReplicas = active.filter(isFullyLabeled).length;
  const readyReplicas = active.filter(isReady).length;
  const availableReplicas = active.filter((pod) => isAvailable(pod, minReadySeconds, now)).length;
  const conditions = conditionsAfter(set, facts);
  const { generation } = set.metadata;
  return {
    replicas: active.length,
    ...(fullyLabeledReplicas > 0 && { fullyLabeledReplicas }),
    ...(readyReplicas > 0 && { readyReplicas }),
    ...(availableReplicas > 0 && { availableReplicas }),
    terminatingReplicas: terminating,
    ...(generation !== undefined && { observedGeneration: generation }),
    ...(conditions.length > 0 && { conditions }),
  };
}

/** The first failure is told until an attempt succeeds; what fails afterwards would only move times. */
function conditionsAfter(set: ReplicaSet, { failure, now }: ReplicaFacts): readonly ReplicaSetCondition[] {
  const before = set.status?.conditions ?? [];
  if (failure === undefined) return before.filter(({ type }) => type !== FAILURE);
  if (before.some(({ type }) => type === FAILURE)) return before;
  return [...before, { type: FAILURE, status: 'True', lastTransitionTime: time(now), ...failure }];
}

/** Pure: when the next pod will be available if nothing else happens (W18); undefined when none is waited for. */
export function nextAvailabilityMs({ spec }: ReplicaSet, active: readonly Pod[], now: Date): number | undefined {
  const { minReadySeconds = 0 } = spec;
  const waits = active.flatMap((pod) => availableInMs(pod, minReadySeconds, now) ?? []);
  return waits.length === 0 ? undefined : Math.min(...waits);
}
