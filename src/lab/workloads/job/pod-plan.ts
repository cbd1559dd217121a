import type { Job } from '../../../api/generated/batch-v1-types.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { isTerminating } from '../pods/pod-state.ts';
import { podsToDelete } from '../replicaset/deletion-order.ts';
import { isSuspended } from './job-conditions.ts';
import type { JobEnd } from './job-end.ts';
import { completionIndex, isIndexed } from './job-pod.ts';
import type { JobTally } from './job-tally.ts';
import { backoffLeftMs, type FailureRecord } from './pod-backoff.ts';

/** Pods that are made or deleted in one go; the rest follows when these are seen. */
const MOST_CHANGES = 500;

/** What is to be done about the pods of a job. Either some go, or some are made. */
export interface JobPodPlan {
  readonly remove: readonly Pod[];
  /** Those that go because the job is over are counted; those that are too many are not. */
  readonly isCounted: boolean;
  /** One for each pod to be made: the index it works on, if the job has such. */
  readonly create: readonly (number | undefined)[];
  /** Pods are missing, but it is too early to make them. */
  readonly waitMs?: number;
}

export interface PlanFacts {
  readonly job: Job;
  readonly pods: readonly Pod[];
  readonly tally: JobTally;
  readonly end: JobEnd | undefined;
  readonly failures: FailureRecord;
  readonly now: Date;
}

const NOTHING: JobPodPlan = { remove: [], isCounted: false, create: [] };

/** Pure: as many pods as may work at once, and no more than are needed (W26). */
export function podPlan(facts: PlanFacts): JobPodPlan {
  const { job, tally, end } = facts;
  const { active } = tally;
  if (end !== undefined) return { ...NOTHING, remove: active, isCounted: true };
  if (job.metadata.deletionTimestamp !== undefined) return NOTHING;
  if (isSuspended(job)) return { ...NOTHING, remove: active };
  const wanted = wantedActive(job, tally);
  const remove = surplus(facts, active.length - wanted);
  return remove.length > 0 ? { ...NOTHING, remove } : creation(facts, wanted);
}

/** Without a number of completions, the first success ends it: nobody begins after that. */
function wantedActive({ spec }: Job, { active, succeeded }: JobTally): number {
  const { parallelism = 1, completions } = spec;
  if (completions === undefined) return succeeded > 0 ? active.length : parallelism;
  return Math.max(0, Math.min(completions - succeeded, parallelism));
}

/** `count` pods, whose loss hurts least; those with no index, or with that of another pod, in any case. */
function surplus({ job, tally: { active }, now }: PlanFacts, count: number): readonly Pod[] {
  const wrong = isIndexed(job) ? wronglyIndexed(job, active, now) : [];
  const others = active.filter((pod) => !wrong.includes(pod));
  const more = podsToDelete(others, Math.max(0, count - wrong.length), { related: [], now });
  return [...wrong, ...more].slice(0, MOST_CHANGES);
}

function wronglyIndexed(job: Job, active: readonly Pod[], now: Date): readonly Pod[] {
  const groups = Map.groupBy(active, (pod) => completionIndex(pod, job));
  return [...groups].flatMap(([index, pods]) =>
    index === undefined ? pods : podsToDelete(pods, pods.length - 1, { related: [], now }),
  );
}

function creation({ job, pods, tally, failures, now }: PlanFacts, wanted: number): JobPodPlan {
  const leaving = job.spec.podReplacementPolicy === 'Failed' ? pods.filter(isTerminating) : [];
  const missing = Math.min(wanted - leaving.length - tally.active.length, MOST_CHANGES);
  if (missing <= 0) return NOTHING;
  const waitMs = backoffLeftMs(failures, now);
  if (waitMs > 0) return { ...NOTHING, waitMs };
  if (!isIndexed(job)) return { ...NOTHING, create: Array.from({ length: missing }, () => undefined) };
  const taken = [...tally.active, ...leaving].flatMap((pod) => completionIndex(pod, job) ?? []);
  return { ...NOTHING, create: tally.indexes.with(taken).missing(missing, job.spec.completions ?? 0) };
}
