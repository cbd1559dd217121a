import { ControllerRevision, DaemonSet, type DaemonSetStatus } from '../../../api/generated/apps-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf, keyText } from '../../../api/object.ts';
import { retryError } from '../../../base/errors.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { claimObjects, selectorOf } from '../pods/claims.ts';
import { writeStatus } from '../pods/status-write.ts';
import { HASH_LABEL } from './daemon-pod.ts';
import { expiredRevisions, hashOf, historyOf, isRevisionOf, newRevision } from './revisions.ts';

const NO_STATUS: DaemonSetStatus = {
  currentNumberScheduled: 0,
  desiredNumberScheduled: 0,
  numberMisscheduled: 0,
  numberReady: 0,
};

/** What the history says about the newest template. */
export interface KnownHistory {
  readonly hash: string;
  readonly old: readonly ControllerRevision[];
}

/** Makes sure that the newest template has a revision with the highest number (W22). */
export async function ensureRevision(
  set: DaemonSet,
  pods: readonly Pod[],
  context: ReconcileContext,
): Promise<KnownHistory> {
  const { client, signal } = context;
  const { namespace = '' } = set.metadata;
  const { items } = await client.list(ControllerRevision, { namespace, signal });
  const selector = selectorOf(set.spec.selector);
  const claim = { kind: ControllerRevision, owner: set, ownerKind: DaemonSet, selector };
  const { current, old, revision } = historyOf(set, await claimObjects(items, claim, context));
  const [kept, ...doubles] = current;
  if (kept === undefined) return { hash: hashOf(await createRevision(set, revision, context)), old };
  await removeDoubles(kept, { doubles, pods }, context);
  if (kept.revision < revision) await renumber(kept, revision, context);
  return { hash: hashOf(kept), old };
}

async function createRevision(
  set: DaemonSet,
  revision: number,
  context: ReconcileContext,
): Promise<ControllerRevision> {
  const { client, signal } = context;
  const made = newRevision(set, revision);
  try {
    return await client.create(ControllerRevision, made, { signal });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const { namespace = '' } = set.metadata;
    const found = await client.live.get(ControllerRevision, { namespace, name: made.metadata.name }, { signal });
    if (isRevisionOf(found, set)) return found;
    return await tellCollision(set, context, error);
  }
}

/** Another template has this hash: the next try counts the collision in. */
async function tellCollision(set: DaemonSet, context: ReconcileContext, cause: unknown): Promise<never> {
  const status: DaemonSetStatus = {
    ...NO_STATUS,
    ...set.status,
    collisionCount: (set.status?.collisionCount ?? 0) + 1,
  };
  await writeStatus(context, DaemonSet, set, { status });
  const message = `the revision of ${keyText(keyOf(set))} has the hash of another one; it gets another hash`;
  throw retryError('HashCollision', message, { cause });
}

interface Doubles {
  readonly doubles: readonly ControllerRevision[];
  readonly pods: readonly Pod[];
}

/** Pods are labelled with the revision that stays before the others go. */
async function removeDoubles(
  kept: ControllerRevision,
  { doubles, pods }: Doubles,
  { client, signal }: ReconcileContext,
): Promise<void> {
  if (doubles.length === 0) return;
  const hash = hashOf(kept);
  const others = new Set(doubles.map(hashOf));
  for (const pod of pods) {
    if (!others.has(pod.metadata.labels?.[HASH_LABEL] ?? '')) continue;
    const body = { metadata: { labels: { [HASH_LABEL]: hash } } };
    await client.patch(Pod, keyOf(pod), { type: 'merge', body }, { signal });
  }
  for (const double of doubles) await client.delete(ControllerRevision, keyOf(double), { signal });
}

async function renumber(
  revision: ControllerRevision,
  number: number,
  { client, signal }: ReconcileContext,
): Promise<void> {
  const { uid = '' } = revision.metadata;
  const body = { metadata: { uid }, revision: number };
  await client.patch(ControllerRevision, keyOf(revision), { type: 'merge', body }, { signal });
}

/** Keeps as many old revisions as the daemon set asks for. */
export async function trimHistory(
  set: DaemonSet,
  old: readonly ControllerRevision[],
  pods: readonly Pod[],
  { client, signal }: ReconcileContext,
): Promise<void> {
  for (const revision of expiredRevisions(set, old, pods))
    await client.delete(ControllerRevision, keyOf(revision), { signal });
}
