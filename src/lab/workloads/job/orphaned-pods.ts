import { Job } from '../../../api/generated/batch-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf, type OwnerReference } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { DONE, type ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { controllerReferenceOf, isControlledBy } from '../../../object/owner-references.ts';
import { releasePod } from './job-claim.ts';
import { finalCondition, foreignController } from './job-conditions.ts';
import { isTracked } from './job-pod.ts';

/** The pods of a job that still wait to be counted. */
const trackedPods: MapFunction<Job> = (job, { cache }) => {
  const { namespace = '' } = job.metadata;
  const pods = cache.informer(Pod).list({ namespace });
  return pods.filter((pod) => isTracked(pod) && isControlledBy(pod, job)).map(keyOf);
};

/**
 * Takes the finalizer from pods that no job will count any more: it would keep them for ever (W27). Part of the Job
 * controller of Kubernetes, in a queue of its own because the job need not exist any more.
 */
export const orphanedPodController = (): Controller =>
  controllerFor(Pod, { name: 'job-orphans', predicates: [({ object }) => isTracked(object)] })
    .watches(Job, trackedPods)
    .needs(needs(Pod, ['patch']))
    .reconcile({
      async reconcile(pod, context) {
        if (isTracked(pod) && !(await isAwaited(pod, context))) await releasePod(pod, context);
        return DONE;
      },
    });

/** Whether a job, or somebody else, will still look at the pod. */
async function isAwaited(pod: Pod, context: ReconcileContext): Promise<boolean> {
  const reference = controllerReferenceOf(pod);
  if (reference === undefined) return false;
  if (reference.kind !== 'Job' || !reference.apiVersion.startsWith('batch/')) return true;
  const job = await jobOf(pod, reference, context);
  if (job === undefined) return false;
  return foreignController(job) !== undefined || finalCondition(job) === undefined;
}

/** The cache may not have a job that was made just now: who does not find it there asks the server. */
async function jobOf(
  { metadata: { namespace = '' } }: Pod,
  { name, uid }: OwnerReference,
  { client, signal }: ReconcileContext,
): Promise<Job | undefined> {
  const cached = await client.find(Job, { namespace, name }, { signal });
  if (cached?.metadata.uid === uid) return cached;
  const live = await client.live.find(Job, { namespace, name }, { signal });
  return live?.metadata.uid === uid ? live : undefined;
}
