import type { Job, JobStatus } from '../../../api/generated/batch-v1-types.ts';
import { time } from '../../../api/time.ts';
import { conditionIn, isSuspended, withCondition } from './job-conditions.ts';
import type { JobEnd } from './job-end.ts';

/** How many pods there are after this reconcile has made and deleted some. */
export interface PodCounts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

/** Pure: when the job began, if it may: a job that is created suspended begins when it is resumed. */
export const withStart = (job: Job, now: Date): Job =>
  job.status?.startTime !== undefined || isSuspended(job)
    ? job
    : { ...job, status: { ...job.status, startTime: time(now) } };

export interface StatusFacts {
  readonly job: Job;
  readonly counts: PodCounts;
  readonly end: JobEnd | undefined;
  readonly now: Date;
}

export type Move = 'Suspended' | 'Resumed';

/** Pure: the status with the numbers of this reconcile, and what they mean; which way the job moved, if it did (W29). */
export function withCounts(
  status: JobStatus,
  { job, counts, end, now }: StatusFacts,
): { readonly status: JobStatus; readonly move?: Move } {
  const counting = { ...status, ...counts };
  const { conditions = [] } = counting;
  if (end !== undefined)
    return { status: { ...counting, conditions: withCondition(conditions, end.interim, now) } };
  if (job.metadata.deletionTimestamp !== undefined) return { status: counting };
  const moved = withCondition(conditions, isSuspended(job) ? SUSPENDED : RESUMED, now);
  if (moved === conditions) return { status: counting };
  const { startTime: _, ...rest } = counting;
  // The time that a job is suspended is not time that it works: it begins anew.
  return isSuspended(job)
    ? { status: { ...rest, conditions: moved }, move: 'Suspended' }
    : { status: { ...rest, conditions: moved, startTime: time(now) }, move: 'Resumed' };
}

const SUSPENDED = { type: 'Suspended', status: 'True', reason: 'JobSuspended', message: 'Job suspended' };
const RESUMED = { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' };

/** Pure: as the server keeps it, which leaves out numbers that are zero, but not all of them. */
export function compactStatus(status: JobStatus): JobStatus {
  const { active = 0, succeeded = 0, failed = 0, completedIndexes = '', conditions = [], ...rest } = status;
  return {
    ...rest,
    ...(conditions.length > 0 && { conditions }),
    ...(active > 0 && { active }),
    ...(succeeded > 0 && { succeeded }),
    ...(failed > 0 && { failed }),
    ...(completedIndexes !== '' && { completedIndexes }),
  };
}

/** The condition that this status says and the one before did not, if it ends the job. */
export const endSaid = (before: JobStatus, after: JobStatus, { final }: JobEnd) =>
  conditionIn(before.conditions, final.type) === undefined ? conditionIn(after.conditions, final.type) : undefined;
