import type { ContainerStatus, Pod } from '../../../api/generated/core-v1-types.ts';
import { hasEnded } from '../pods/pod-state.ts';
import type { JobTally } from './job-tally.ts';

const FIRST_MS = 10_000;
const LONGEST_MS = 10 * 60_000;
/** Longer than any delay; what is older can still be told from the pods that are there. */
const FORGET_MS = 2 * LONGEST_MS;

/** Failures since the last success of a job, and when the last one was. */
export interface FailureRecord {
  readonly failures: number;
  readonly lastMs: number;
}

const NO_FAILURES: FailureRecord = { failures: 0, lastMs: 0 };

/** Pure: 10 s after the first failure, twice as long after each further one, at most 10 minutes (W28). */
export function backoffLeftMs({ failures, lastMs }: FailureRecord, now: Date): number {
  if (failures === 0) return 0;
  // 2^7 × 10 s is beyond the longest delay already.
  const delayMs = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(failures - 1, 7));
  return Math.max(0, lastMs + delayMs - now.getTime());
}

/** Pure: the record with pods that have ended since. A success makes the failures before it forgotten. */
export function withEnded(
  record: FailureRecord,
  succeeded: readonly Pod[],
  failed: readonly Pod[],
): FailureRecord {
  const lastSuccessMs = Math.max(-1, ...succeeded.map(finishedMs));
  const counted = failed.map(finishedMs).filter((ms) => ms > lastSuccessMs);
  const before = succeeded.length > 0 ? NO_FAILURES : record;
  if (counted.length === 0) return before;
  return { failures: before.failures + counted.length, lastMs: Math.max(...counted) };
}

/** When a pod ended: its last container, else when it was not ready any more, else when it was deleted. */
export function finishedMs(pod: Pod): number {
  const { metadata, status } = pod;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const unreadyAt = ready?.status === 'False' ? ready.lastTransitionTime : undefined;
  const at = containersFinishedAt(pod) ?? unreadyAt;
  if (at !== undefined) return Date.parse(at);
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, creationTimestamp } = metadata;
  if (deletionTimestamp === undefined) return Date.parse(creationTimestamp ?? '') || 0;
  return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
}

/** Undefined unless all containers have ended, and those init containers that run beside them. */
function containersFinishedAt({ spec, status }: Pod): string | undefined {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const names = new Set(sidecars.map(({ name }) => name));
  const beside = (status?.initContainerStatuses ?? []).filter(({ name }) => names.has(name));
  const times = [...(status?.containerStatuses ?? []), ...beside].map(finishedAt);
  return times.every((each) => each !== undefined) ? times.toSorted().at(-1) : undefined;
}

const finishedAt = ({ state }: ContainerStatus): string | undefined => state?.terminated?.finishedAt;

interface Kept {
  readonly record: FailureRecord;
  readonly sinceMs: number;
}

/**
 * What is known about the failures of each job. Kept in memory, since pods that were deleted cannot be asked; after a
 * restart, those that are left tell. Holds one entry for each job with pods that ended in the last 20 minutes.
 */
export class PodBackoff {
  readonly #kept = new Map<string, Kept>();

  /** What `keep` is to be told once the status knows of the new pods, so that none is counted twice. */
  next(job: string, pods: readonly Pod[], { newSucceeded, newFailed }: JobTally): FailureRecord {
    const known = pods.filter((pod) => hasEnded(pod) && !newSucceeded.includes(pod) && !newFailed.includes(pod));
    return withEnded(this.#kept.get(job)?.record ?? recordOf(known), newSucceeded, newFailed);
  }

  keep(job: string, record: FailureRecord, now: Date): void {
    const nowMs = now.getTime();
    for (const [key, { sinceMs }] of this.#kept) {
      if (nowMs - sinceMs > FORGET_MS) this.#kept.delete(key);
    }
    this.#kept.set(job, { record, sinceMs: nowMs });
  }

  forget(job: string): void {
    this.#kept.delete(job);
  }
}

const recordOf = (pods: readonly Pod[]): FailureRecord =>
  withEnded(
    NO_FAILURES,
    pods.filter(({ status }) => status?.phase === 'Succeeded'),
    pods.filter(({ status }) => status?.phase === 'Failed'),
  );
