import type { Job } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { type ConditionFields, heldCondition, isSuspended } from './job-conditions.ts';
import type { JobTally } from './job-tally.ts';

/** That a job is over, though its pods may not be (W29). */
export interface JobEnd {
  /** What is said now, before the pods are gone. */
  readonly interim: ConditionFields;
  /** What is said when they are. */
  readonly final: ConditionFields;
}

const DEFAULT_BACKOFF_LIMIT = 6;

function endAs(type: 'Complete' | 'Failed', reason: string, message: string): JobEnd {
  const interim = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
  return {
    interim: { type: interim, status: 'True', reason, message },
    final: { type, status: 'True', reason, message },
  };
}

/** Pure: why the job is over, whatever its pods do; undefined while it is not. What was said once stays said. */
export function endOf(
  job: Job,
  pods: readonly Pod[],
  { failed }: Pick<JobTally, 'failed'>,
  now: Date,
): JobEnd | undefined {
  const succeeded = heldCondition(job, 'SuccessCriteriaMet');
  if (succeeded !== undefined) return endAs('Complete', succeeded.reason ?? '', succeeded.message ?? '');
  const doomed = heldCondition(job, 'FailureTarget');
  if (doomed !== undefined) return endAs('Failed', doomed.reason ?? '', doomed.message ?? '');
  const { backoffLimit = DEFAULT_BACKOFF_LIMIT } = job.spec;
  if (failed > backoffLimit || hasRestartedTooOften(job, pods))
    return endAs('Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
  const leftMs = deadlineInMs(job, now);
  return leftMs !== undefined && leftMs <= 0
    ? endAs('Failed', 'DeadlineExceeded', 'Job was active longer than specified deadline')
    : undefined;
}

/** Containers that are started again in their pod count like pods that are made again (W28). */
function hasRestartedTooOften({ spec }: Job, pods: readonly Pod[]): boolean {
  const { backoffLimit = DEFAULT_BACKOFF_LIMIT, template } = spec;
  if (template.spec?.restartPolicy !== 'OnFailure') return false;
  const running = pods.filter(({ status }) => status?.phase === 'Running' || status?.phase === 'Pending');
  const statuses = running.flatMap(({ status }) => [
    ...(status?.initContainerStatuses ?? []),
    ...(status?.containerStatuses ?? []),
  ]);
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0);
  return backoffLimit === 0 ? restarts > 0 : restarts >= backoffLimit;
}

/** How long the job may still be active; undefined when nothing limits it, or it has not begun. */
export function deadlineInMs(job: Job, now: Date): number | undefined {
  const { activeDeadlineSeconds } = job.spec;
  const { startTime } = job.status ?? {};
  if (activeDeadlineSeconds === undefined || startTime === undefined || isSuspended(job)) return undefined;
  return Date.parse(startTime) + activeDeadlineSeconds * 1000 - now.getTime();
}

/** Pure: the success of a job that has as many succeeded pods as it asks for, and none left that runs. */
export function completion({ spec }: Job, succeeded: number, active: number): JobEnd | undefined {
  const isEnough = spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions;
  return isEnough && active === 0
    ? endAs('Complete', 'CompletionsReached', 'Reached expected number of succeeded pods')
    : undefined;
}
