import { Job } from '../../../api/generated/batch-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import { after, DONE } from '../../../kube/controller/reconcile.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { finalCondition } from './job-conditions.ts';

/** How long a job is still wanted; undefined for one that nobody wants to be cleaned up, or that runs, or goes already. */
export function expiresInMs(job: Job, now: Date): number | undefined {
  const { ttlSecondsAfterFinished } = job.spec;
  const { lastTransitionTime } = finalCondition(job) ?? {};
  if (ttlSecondsAfterFinished === undefined || lastTransitionTime === undefined) return undefined;
  if (job.metadata.deletionTimestamp !== undefined) return undefined;
  return Date.parse(lastTransitionTime) + ttlSecondsAfterFinished * 1000 - now.getTime();
}

/** Stands in for the controller of Kubernetes that deletes jobs `ttlSecondsAfterFinished` after they ended (W26). */
export const finishedJobController = (): Controller =>
  controllerFor(Job, { name: 'ttl-after-finished' })
    .needs(needs(Job, ['delete']))
    .reconcile({
      async reconcile(job, { client, now, signal }) {
        const leftMs = expiresInMs(job, now());
        if (leftMs === undefined) return DONE;
        if (leftMs > 0) return after(leftMs);
        // Somebody may have prolonged its life, and the cache may not know.
        const live = await client.live.find(Job, keyOf(job), { signal });
        if (live === undefined || (expiresInMs(live, now()) ?? 1) > 0) return DONE;
        const { uid = '' } = live.metadata;
        const propagationPolicy = 'Foreground';
        await client.delete(Job, keyOf(job), { propagationPolicy, preconditions: { uid }, signal });
        return DONE;
      },
    });
