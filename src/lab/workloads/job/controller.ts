import { Job } from '../../../api/generated/batch-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { hasControllerReference } from '../../../object/owner-references.ts';
import { selectorOf } from '../pods/claims.ts';
import { JobReconciler } from './reconcile.ts';

/** The jobs that may want a pod which nobody controls. */
const orphanKeys: MapFunction<Pod> = (pod, { cache }) => {
  const { namespace = '', labels } = pod.metadata;
  if (hasControllerReference(pod)) return [];
  const jobs = cache.informer(Job).list({ namespace });
  return jobs.filter(({ spec }) => matchesLabels(selectorOf(spec.selector ?? {}), { ...labels })).map(keyOf);
};

/** Stands in for the Job controller of Kubernetes (W26–W29); `orphanedPodController` belongs to it. */
export const jobController = (): Controller =>
  controllerFor(Job)
    .owns(Pod)
    .watches(Pod, orphanKeys)
    .needs(needs(Pod, ['create', 'patch', 'delete']), needs(Job, ['update'], { subresource: 'status' }))
    .reconcile(new JobReconciler());
