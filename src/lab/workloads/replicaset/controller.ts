import { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { hasControllerReference } from '../../../object/owner-references.ts';
import { selectorOf } from '../pods/claims.ts';
import { ReplicaSetReconciler } from './reconcile.ts';

/** The ReplicaSets that may want a pod which nobody controls. */
const orphanKeys: MapFunction<Pod> = (pod, { cache }) => {
  const { namespace = '', labels } = pod.metadata;
  if (hasControllerReference(pod)) return [];
  const sets = cache.informer(ReplicaSet).list({ namespace });
  return sets.filter(({ spec }) => matchesLabels(selectorOf(spec.selector), { ...labels })).map(keyOf);
};

/** Stands in for the ReplicaSet controller of Kubernetes (W15–W18). */
export const replicaSetController = (): Controller =>
  controllerFor(ReplicaSet)
    .owns(Pod)
    .watches(Pod, orphanKeys)
    .needs(needs(Pod, ['create', 'patch', 'delete']), needs(ReplicaSet, ['update'], { subresource: 'status' }))
    .reconcile(new ReplicaSetReconciler());
