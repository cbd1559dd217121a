import type { Job, JobStatus, UncountedTerminatedPods } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { time } from '../../../api/time.ts';
import { withCondition } from './job-conditions.ts';
import type { JobEnd } from './job-end.ts';
import { completionIndex, isFailed, isIndexed, isTracked } from './job-pod.ts';
import { type JobTally, uidOf } from './job-tally.ts';

/** As many uids make the status some 20 kB longer; the rest is counted the next time. */
const MOST_UNCOUNTED = 500;

export interface Tracking {
  /** To be written before any finalizer goes: it knows the pods by their uids. */
  readonly status: JobStatus;
  /** Pods whose finalizer may go then. */
  readonly release: readonly Pod[];
  /** There are more of them. */
  readonly isPartial: boolean;
}

export interface TrackingFacts {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly tally: JobTally;
  readonly end: JobEnd | undefined;
}

/**
 * Pure: writes down which pods have ended, by uid, and which finalizers may go after that (W27). A pod is counted in
 * three steps: its uid is listed, its finalizer goes, its uid becomes one more in a number. A crash between two of them
 * neither loses it nor counts it twice: with a finalizer it is listed, without one it is counted.
 */
export function track({ job, pods, tally, end }: TrackingFacts): Tracking {
  const tracked = pods.filter(isTracked);
  const releasable = tracked.filter((pod) => mayGo(pod, job, end));
  const release = releasable.slice(0, MOST_UNCOUNTED);
  const status = counted(job.status ?? {}, tracked);
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const isSuccess = (pod: Pod) => pod.status?.phase === 'Succeeded' && !failed.includes(uidOf(pod));
  const lost = release.filter((pod) => !isSuccess(pod) && isLost(pod, job, end));
  const won = release.filter(isSuccess);
  const indexes = tally.knownIndexes.with(won.flatMap((pod) => completionIndex(pod, job) ?? []));
  const uncounted = {
    // The index of a pod is enough to count it once.
    succeeded: isIndexed(job) ? [] : union(succeeded, won.map(uidOf)),
    failed: union(failed, lost.map(uidOf)),
  };
  return {
    status: {
      ...status,
      ...(isIndexed(job) && { succeeded: indexes.total, completedIndexes: String(indexes) }),
      uncountedTerminatedPods: compact(uncounted),
    },
    release,
    isPartial: release.length < releasable.length,
  };
}

function mayGo(pod: Pod, job: Job, end: JobEnd | undefined): boolean {
  const isOver = end !== undefined || job.metadata.deletionTimestamp !== undefined;
  return isOver || pod.status?.phase === 'Succeeded' || isFailed(pod, job);
}

/** When a job has failed, so have the pods that did not end by themselves. */
function isLost(pod: Pod, job: Job, end: JobEnd | undefined): boolean {
  if (isIndexed(job) && completionIndex(pod, job) === undefined) return false;
  return isFailed(pod, job) || end?.final.type === 'Failed';
}

const union = (listed: readonly string[], more: readonly string[]): readonly string[] => [
  ...new Set([...listed, ...more]),
];

/** Pure: pods that are listed and have no finalizer any more become numbers. */
export function counted(status: JobStatus, tracked: readonly Pod[]): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const waiting = new Set(tracked.map(uidOf));
  const left = {
    succeeded: succeeded.filter((uid) => waiting.has(uid)),
    failed: failed.filter((uid) => waiting.has(uid)),
  };
  return {
    ...status,
    succeeded: (status.succeeded ?? 0) + succeeded.length - left.succeeded.length,
    failed: (status.failed ?? 0) + failed.length - left.failed.length,
    uncountedTerminatedPods: compact(left),
  };
}

const compact = ({ succeeded = [], failed = [] }: UncountedTerminatedPods): UncountedTerminatedPods => ({
  ...(succeeded.length > 0 && { succeeded }),
  ...(failed.length > 0 && { failed }),
});

/** Pure: the status of a job that is over, once every pod is counted and none is on its way out any more (W29). */
export function finished(status: JobStatus, { final }: JobEnd, now: Date): JobStatus {
  const { uncountedTerminatedPods = {}, terminating = 0, conditions = [] } = status;
  if (Object.keys(uncountedTerminatedPods).length > 0 || terminating > 0) return status;
  return {
    ...status,
    conditions: withCondition(conditions, final, now),
    ...(final.type === 'Complete' && { completionTime: time(now) }),
  };
}
