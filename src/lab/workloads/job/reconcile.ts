import { Job, type JobStatus } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import {
  after,
  DONE,
  type ReconcileContext,
  type Reconciler,
  type Result,
} from '../../../kube/controller/reconcile.ts';
import { type JsonObject, jsonEqual } from '../../../object/json.ts';
import { isReady } from '../pods/pod-state.ts';
import { createPod, deletePod, isNamespaceTerminating } from '../pods/pod-writes.ts';
import { slowStart, worstOf } from '../pods/slow-start.ts';
import { writeStatus } from '../pods/status-write.ts';
import { claimPods, releasePod } from './job-claim.ts';
import { finalCondition, foreignController } from './job-conditions.ts';
import { completion, deadlineInMs, endOf, type JobEnd } from './job-end.ts';
import { isTracked, jobPod } from './job-pod.ts';
import { compactStatus, endSaid, type PodCounts, withCounts, withStart } from './job-status.ts';
import { type JobTally, jobTally, uidOf } from './job-tally.ts';
import { counted, finished, track } from './job-tracking.ts';
import { PodBackoff } from './pod-backoff.ts';
import { type JobPodPlan, podPlan } from './pod-plan.ts';
import { ReleasedPods } from './released-pods.ts';
import { unsimulatedFields } from './unsimulated-fields.ts';

/** What was done about pods, as far as it went. */
interface PodChanges {
  readonly removed: readonly Pod[];
  readonly created: number;
  readonly failures: readonly unknown[];
}

/** What the job is told after its pods were changed. */
interface Ending {
  readonly pods: readonly Pod[];
  readonly tally: JobTally;
  readonly counts: PodCounts;
  readonly end: JobEnd | undefined;
}

/** Runs pods until enough of them have succeeded, or too many have failed (W26–W29). */
export class JobReconciler implements Reconciler<Job> {
  readonly #backoff = new PodBackoff();
  readonly #released = new ReleasedPods();

  async reconcile(stored: Job, context: ReconcileContext): Promise<Result> {
    const { uid = '' } = stored.metadata;
    if (foreignController(stored) !== undefined) return DONE;
    if (finalCondition(stored) !== undefined) {
      this.#backoff.forget(uid);
      return DONE;
    }
    const now = context.now();
    const pods = this.#released.seen(await claimPods(stored, context));
    const job = withStart(stored, now);
    if (stored.status?.startTime === undefined) warnOfUnsimulated(job, context);
    const tally = jobTally(job, pods);
    const failures = this.#backoff.next(uid, pods, tally);
    const decided = endOf(job, pods, tally, now);
    const plan = podPlan({ job, pods, tally, end: decided, failures, now });
    const changes = await changePods(job, plan, context);
    const counts = countsAfter(tally, changes);
    // A job is not over while one of its pods cannot be deleted.
    const isStuck = decided !== undefined && changes.removed.length < plan.remove.length;
    const end = isStuck ? undefined : (decided ?? completion(job, tally.succeeded, counts.active));
    const onListed = () => this.#backoff.keep(uid, failures, now);
    const onReleased = (uids: readonly string[]) => this.#released.add(uids, now);
    const ending = { pods, tally, counts, end };
    const told = tell(stored, { job, ending, onListed, onReleased }, context);
    const hasFailed = changes.failures.length > 0;
    // What failed before says more, and may be why the cache is not to be trusted.
    await (hasFailed ? told.catch(() => {}) : told);
    if (hasFailed) throw worstOf(changes.failures);
    return next(job, plan, now);
  }
}

/** The lab does not act on everything that a job may ask for, and says so. */
function warnOfUnsimulated(job: Job, { events }: ReconcileContext): void {
  const fields = unsimulatedFields(job);
  if (fields.length === 0) return;
  const text = `The lab does not act on ${fields.join(', ')}: the job runs as if that were not set`;
  events.warning(job, 'NotSimulated', text);
}

async function changePods(job: Job, plan: JobPodPlan, context: ReconcileContext): Promise<PodChanges> {
  const { remove, create, isCounted } = plan;
  const removals = remove.map(async (pod) => {
    // A pod that is merely too many is not counted, so nobody waits for it.
    if (!isCounted) await releasePod(pod, context);
    await deletePod(pod, job, context);
    return pod;
  });
  const results = await Promise.allSettled(removals);
  const waiting = [...create];
  const { made, failures } = await slowStart(create.length, () =>
    createPod(jobPod(job, waiting.shift()), job, context),
  );
  return {
    removed: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    created: made.length,
    failures: [
      ...results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : [])),
      ...failures.filter((failure) => !isNamespaceTerminating(failure)),
    ],
  };
}

const countsAfter = ({ active, ready, terminating }: JobTally, { removed, created }: PodChanges): PodCounts => ({
  active: active.length - removed.length + created,
  ready: ready - removed.filter(isReady).length,
  terminating: terminating + removed.length,
});

interface Telling {
  readonly job: Job;
  readonly ending: Ending;
  /** The status knows of the pods that have ended. */
  readonly onListed: () => void;
  /** These have no finalizer any more. */
  readonly onReleased: (uids: readonly string[]) => void;
}

/** Counts pods in three steps, of which each is written before the next one (W27); then the job may be over. */
async function tell(stored: Job, telling: Telling, context: ReconcileContext): Promise<void> {
  const { job, ending, onListed, onReleased } = telling;
  const { pods, tally, counts, end } = ending;
  const now = context.now();
  const { status: listed, release, isPartial } = track({ job, pods, tally, end });
  const { status, move } = withCounts(listed, { job, counts, end, now });
  const before = await writeIfChanged(stored, status, context);
  onListed();
  if (move !== undefined) context.events.normal(job, move, `Job ${move.toLowerCase()}`);
  const { released, failures } = await releaseAll(release, context);
  const left = pods.filter((pod) => isTracked(pod) && !released.has(uidOf(pod)));
  onReleased([...released, ...untracked(stored, left)]);
  const countedStatus = counted(status, left);
  const isOver = end !== undefined && !isPartial && failures.length === 0;
  const last = isOver ? finished(countedStatus, end, now) : countedStatus;
  await writeIfChanged(before, last, context);
  if (end !== undefined) announce(job, { before: status, after: last, end }, context);
  if (failures.length > 0) throw worstOf(failures);
}

/** Pods that the status knows by uid, and that have lost their finalizer. */
function untracked({ status }: Job, left: readonly Pod[]): readonly string[] {
  const { succeeded = [], failed = [] } = status?.uncountedTerminatedPods ?? {};
  const tracked = new Set(left.map(uidOf));
  return [...succeeded, ...failed].filter((uid) => !tracked.has(uid));
}

/** The job as the server has it then. */
async function writeIfChanged(job: Job, status: JobStatus, context: ReconcileContext): Promise<Job> {
  const compacted = compactStatus(status);
  return jsonEqual(jsonOf(compactStatus(job.status ?? {})), jsonOf(compacted))
    ? job
    : writeStatus(context, Job, job, { status: compacted });
}

// Plain JSON that came from the server, or goes there.
const jsonOf = (status: JobStatus): JsonObject => status as unknown as JsonObject;

async function releaseAll(
  pods: readonly Pod[],
  context: ReconcileContext,
): Promise<{ readonly released: ReadonlySet<string>; readonly failures: readonly unknown[] }> {
  const results = await Promise.allSettled(
    pods.map(async (pod) => {
      await releasePod(pod, context);
      return uidOf(pod);
    }),
  );
  return {
    released: new Set(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))),
    failures: results.flatMap((result): unknown[] => (result.status === 'rejected' ? [result.reason] : [])),
  };
}

interface Announcement {
  readonly before: JobStatus;
  readonly after: JobStatus;
  readonly end: JobEnd;
}

function announce(job: Job, { before, after: status, end }: Announcement, { events }: ReconcileContext): void {
  const said = endSaid(before, status, end);
  if (said === undefined) return;
  if (said.type === 'Failed') return events.warning(job, said.reason ?? '', said.message ?? '');
  const { completions } = job.spec;
  if (completions !== undefined && (status.succeeded ?? 0) > completions)
    events.warning(job, 'TooManySucceededPods', 'Too many succeeded pods running after completion count reached');
  events.normal(job, 'Completed', 'Job completed');
}

/** When something is due, if nothing happens before. */
function next(job: Job, { waitMs }: JobPodPlan, now: Date): Result {
  const waits = [waitMs, deadlineInMs(job, now)].flatMap((ms) => (ms === undefined || ms <= 0 ? [] : [ms]));
  return waits.length === 0 ? DONE : after(Math.min(...waits));
}
