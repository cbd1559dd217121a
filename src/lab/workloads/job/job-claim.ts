import { Job } from '../../../api/generated/batch-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { keyOf } from '../../../api/object.ts';
import { isInvalid, isNotFound } from '../../../kube/client/api-error.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { ownedBy } from '../../../object/owner-references.ts';
import { claimStep, selectorOf } from '../pods/claims.ts';
import { isTracked, TRACKING_FINALIZER } from './job-pod.ts';

/**
 * The pods of a job, after it has taken orphans that it selects and let go what it does not select any more. What it
 * takes gets the finalizer in the same write: a pod without it would never be counted (W27).
 */
export async function claimPods(job: Job, context: ReconcileContext): Promise<readonly Pod[]> {
  const { client, signal } = context;
  const { items } = await client.list(Pod, { namespace: job.metadata.namespace ?? '', signal });
  const selector = selectorOf(job.spec.selector ?? {});
  const inStep = (step: string) => items.filter((pod) => claimStep(pod, job, selector) === step);
  for (const pod of inStep('release')) await patchPod(pod, releaseBody(job), context);
  const orphans = inStep('adopt');
  if (orphans.length === 0 || !(await isStillThere(job, context))) return inStep('owned');
  const adopted: Pod[] = [];
  for (const pod of orphans) adopted.push(...(await patchPod(pod, adoptionBody(job), context)));
  return [...inStep('owned'), ...adopted];
}

/** A cache may not know yet that the job is gone, or another one: what is adopted now would be collected. */
async function isStillThere(job: Job, { client, signal }: ReconcileContext): Promise<boolean> {
  const found = await client.live.find(Job, keyOf(job), { signal });
  return found?.metadata.uid === job.metadata.uid && found?.metadata.deletionTimestamp === undefined;
}

const adoptionBody = (job: Job): JsonObject => ({
  ownerReferences: ownedBy(job, Job).ownerReferences.map((reference) => ({ ...reference })),
  finalizers: [TRACKING_FINALIZER],
});

const releaseBody = ({ metadata: { uid = '' } }: Job): JsonObject => ({
  ownerReferences: [{ $patch: 'delete', uid }],
  ...WITHOUT_FINALIZER,
});

const WITHOUT_FINALIZER = { '$deleteFromPrimitiveList/finalizers': [TRACKING_FINALIZER] };

/** Takes the finalizer from a pod, whatever its version. One that is gone, or has none, is a success. */
export async function releasePod(pod: Pod, context: Pick<ReconcileContext, 'client' | 'signal'>): Promise<void> {
  if (isTracked(pod)) await patchPod(pod, WITHOUT_FINALIZER, context);
}

/** The pod as it is then; none when it is gone, or has changed hands meanwhile. */
async function patchPod(
  pod: Pod,
  metadata: JsonObject,
  { client, signal }: Pick<ReconcileContext, 'client' | 'signal'>,
): Promise<readonly Pod[]> {
  // Only this very pod, not another one of the same name.
  const { uid = '' } = pod.metadata;
  const body = { metadata: { ...metadata, uid } };
  try {
    return [await client.patch(Pod, keyOf(pod), { type: 'strategic', body }, { signal })];
  } catch (error) {
    if (isNotFound(error) || isInvalid(error)) return [];
    throw error;
  }
}
