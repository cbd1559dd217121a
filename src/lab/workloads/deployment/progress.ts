import type {
  Deployment,
  DeploymentCondition,
  DeploymentStatus,
  ReplicaSet,
} from '../../../api/generated/apps-v1-types.ts';
import {
  type Conditions,
  conditionNow,
  conditionOf,
  sinceBefore,
  withCondition,
  withoutCondition,
} from './deployment-conditions.ts';
import { deploymentStatus } from './deployment-status.ts';
import { desiredReplicas, type Rollout, setsOf } from './rollout.ts';

const PROGRESSING = 'Progressing';
const FAILURE = 'ReplicaFailure';
const TIMED_OUT = 'ProgressDeadlineExceeded';
const AVAILABLE = 'NewReplicaSetAvailable';
const PAUSED = 'DeploymentPaused';
/** What stands for no deadline. */
const FOREVER = 2 ** 31 - 1;
/** Times have no fractions of a second: a check that comes too early would find nothing. */
const LATE_MS = 1000;

const deadlineMs = ({ spec: { progressDeadlineSeconds: seconds } }: Deployment): number | undefined =>
  seconds === undefined || seconds === FOREVER ? undefined : seconds * 1000;

export const progressOf = (status: DeploymentStatus | undefined): DeploymentCondition | undefined =>
  conditionOf(status?.conditions, PROGRESSING);

/** How a rollout goes. */
export interface Progress {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/** Pure: the status with this said about the rollout; as it was without a deadline, since then nothing is said (W12). */
export function withProgress(deployment: Deployment, progress: Progress, now: Date): DeploymentStatus {
  const before = deployment.status ?? {};
  if (deadlineMs(deployment) === undefined) return before;
  const condition = conditionNow({ type: PROGRESSING, ...progress }, now);
  return { ...before, conditions: withCondition(before.conditions ?? [], condition) };
}

/** Pure: the status of a Deployment that was paused or resumed since it was last looked at (W9); else as it is. */
export function pauseStatus(deployment: Deployment, now: Date): DeploymentStatus {
  const reason = progressOf(deployment.status)?.reason;
  const isPaused = deployment.spec.paused === true;
  // A rollout that failed stays failed.
  if (reason === TIMED_OUT || isPaused === (reason === PAUSED)) return deployment.status ?? {};
  return isPaused
    ? withProgress(deployment, { status: 'Unknown', reason: PAUSED, message: 'Deployment is paused' }, now)
    : withProgress(
        deployment,
        { status: 'Unknown', reason: 'DeploymentResumed', message: 'Deployment is resumed' },
        now,
      );
}

/** Pure: whether all that is wanted is new and available, and nothing else is there. */
export function isComplete(deployment: Deployment, status: DeploymentStatus = {}): boolean {
  const desired = desiredReplicas(deployment);
  const { updatedReplicas = 0, replicas = 0, availableReplicas = 0, observedGeneration = 0 } = status;
  const isAll = updatedReplicas === desired && replicas === desired && availableReplicas === desired;
  return isAll && observedGeneration >= (deployment.metadata.generation ?? 0);
}

/** Pure: whether more new pods, fewer old ones, more ready or more available ones are there than the stored status says. */
export function isProgress(before: DeploymentStatus = {}, now: DeploymentStatus): boolean {
  const old = ({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number => replicas - updatedReplicas;
  return (
    (now.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(now) < old(before) ||
    (now.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (now.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

/** Pure: whether nothing has happened for longer than the deadline allows. */
export function isTimedOut(deployment: Deployment, progress: DeploymentCondition | undefined, now: Date): boolean {
  const limitMs = deadlineMs(deployment);
  // A rollout that was complete is not late: whoever began the next one will say so.
  if (limitMs === undefined || progress === undefined || progress.reason === AVAILABLE) return false;
  return progress.reason === TIMED_OUT || lastUpdateMs(progress) + limitMs < now.getTime();
}

const lastUpdateMs = ({ lastUpdateTime = '' }: DeploymentCondition): number => Date.parse(lastUpdateTime) || 0;

/** Pure: the status during a rollout: that of its pods, how it goes, and why pods cannot be made (W10–W13). */
export function rolloutStatus(rollout: Rollout, now: Date): DeploymentStatus {
  const status = deploymentStatus(rollout, now);
  const progressed = progressConditions(rollout, status, now);
  const failure = replicaFailure(rollout);
  const conditions =
    failure === undefined ? withoutCondition(progressed, FAILURE) : withCondition(progressed, failure);
  return { ...status, conditions };
}

function progressConditions(rollout: Rollout, status: DeploymentStatus, now: Date): Conditions {
  const { deployment } = rollout;
  const conditions = status.conditions ?? [];
  if (deadlineMs(deployment) === undefined) return withoutCondition(conditions, PROGRESSING);
  const before = progressOf(deployment.status);
  const say = (value: 'True' | 'False', reason: string, message: string): DeploymentCondition =>
    conditionNow({ type: PROGRESSING, status: value, reason, message: `${subjectOf(rollout)} ${message}.` }, now);
  const done = say('True', AVAILABLE, 'has successfully progressed');
  // Upstream does not ask which set it was about, and may name one of a rollout before for ever.
  const isOver = before?.reason === AVAILABLE && before.message === done.message;
  if (isOver && (status.replicas ?? 0) === (status.updatedReplicas ?? 0)) return conditions;
  if (isComplete(deployment, status))
    return [...withoutCondition(conditions, PROGRESSING), sinceBefore(done, before)];
  if (isProgress(deployment.status, status)) {
    // Also when it says the same: from `lastUpdateTime` on the deadline counts.
    const condition = sinceBefore(say('True', 'ReplicaSetUpdated', 'is progressing'), before);
    return [...withoutCondition(conditions, PROGRESSING), condition];
  }
  if (!isTimedOut(deployment, before, now)) return conditions;
  return withCondition(conditions, say('False', TIMED_OUT, 'has timed out progressing'));
}

const subjectOf = ({ deployment, newSet }: Rollout): string =>
  newSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newSet.metadata.name}"`;

/** Why a set cannot make or delete pods: of the new one if it says so, else of any. */
function replicaFailure(rollout: Rollout): DeploymentCondition | undefined {
  const { newSet } = rollout;
  const sets: readonly ReplicaSet[] = [...(newSet === undefined ? [] : [newSet]), ...setsOf(rollout)];
  const failure = sets.flatMap(({ status }) => status?.conditions ?? []).find(({ type }) => type === FAILURE);
  if (failure === undefined) return undefined;
  const { lastTransitionTime } = failure;
  return { ...failure, ...(lastTransitionTime !== undefined && { lastUpdateTime: lastTransitionTime }) };
}

/**
 * Pure: when to look again whether the rollout is late (W13); undefined when it is over, late already, or has no limit.
 * Upstream looks again and again at a rollout that was over and lost a pod since, though it cannot be late any more.
 */
export function progressCheckMs(deployment: Deployment, now: Date): number | undefined {
  const progress = progressOf(deployment.status);
  const limitMs = deadlineMs(deployment);
  if (limitMs === undefined || progress === undefined) return undefined;
  if (progress.reason === TIMED_OUT || progress.reason === AVAILABLE) return undefined;
  if (isComplete(deployment, deployment.status)) return undefined;
  return Math.max(0, lastUpdateMs(progress) + limitMs - now.getTime()) + LATE_MS;
}
