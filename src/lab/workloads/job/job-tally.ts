import type { Job } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { isActive, isReady, isTerminating } from '../pods/pod-state.ts';
import { CompletedIndexes } from './completed-indexes.ts';
import { completionIndex, isFailed, isIndexed, isTracked } from './job-pod.ts';

/** How a job stands: what its status has counted, and what its pods add to that. */
export interface JobTally {
  readonly active: readonly Pod[];
  readonly ready: number;
  readonly terminating: number;
  /** Ended, and nowhere in the status yet. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  /** All that ever succeeded and failed. */
  readonly succeeded: number;
  readonly failed: number;
  /** Of Indexed jobs: those that the status knows, and those with pods that succeeded since. */
  readonly knownIndexes: CompletedIndexes;
  readonly indexes: CompletedIndexes;
}

/** Pure: counts every pod once, whether its finalizer, the uncounted list or a number tells of it (W27). */
export function jobTally(job: Job, pods: readonly Pod[]): JobTally {
  const { succeeded = 0, failed = 0, completedIndexes } = job.status ?? {};
  const { uncountedTerminatedPods: uncounted = {} } = job.status ?? {};
  const isOfJob = (pod: Pod) => isTracked(pod) && (!isIndexed(job) || completionIndex(pod, job) !== undefined);
  // A pod that is listed in one of the lists stays there, whatever becomes of it.
  const listed = new Set([...(uncounted.succeeded ?? []), ...(uncounted.failed ?? [])]);
  const news = pods.filter((pod) => isOfJob(pod) && !listed.has(uidOf(pod)));
  const newSucceeded = news.filter(({ status }) => status?.phase === 'Succeeded');
  const newFailed = news.filter((pod) => isFailed(pod, job));
  const active = pods.filter(isActive);
  const knownIndexes = CompletedIndexes.parse(completedIndexes, job.spec.completions ?? 0);
  const indexes = knownIndexes.with(newSucceeded.flatMap((pod) => completionIndex(pod, job) ?? []));
  return {
    active,
    ready: active.filter(isReady).length,
    terminating: pods.filter(isTerminating).length,
    newSucceeded,
    newFailed,
    succeeded: isIndexed(job)
      ? indexes.total
      : succeeded + newSucceeded.length + (uncounted.succeeded ?? []).length,
    failed: failed + newFailed.length + (uncounted.failed ?? []).length,
    knownIndexes,
    indexes,
  };
}

export const uidOf = ({ metadata }: Pod): string => metadata.uid ?? '';
