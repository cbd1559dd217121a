import { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import type { Predicate } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { controllerReferenceOf, hasControllerReference } from '../../../object/owner-references.ts';
import { selectorOf } from '../pods/claims.ts';
import { hasEnded } from '../pods/pod-state.ts';
import { DeploymentReconciler } from './reconcile.ts';
import { isRolling } from './rollout.ts';

/** The Deployments that may want a ReplicaSet which nobody controls. */
const orphanKeys: MapFunction<ReplicaSet> = (set, { cache }) => {
  const { namespace = '', labels } = set.metadata;
  if (hasControllerReference(set)) return [];
  const deployments = cache.informer(Deployment).list({ namespace });
  return deployments.filter(({ spec }) => matchesLabels(selectorOf(spec.selector), { ...labels })).map(keyOf);
};

/** Whoever recreates waits for the last old pod (W7b). */
const recreatedKeys: MapFunction<Pod> = (pod, { cache }) => {
  const { namespace = '' } = pod.metadata;
  const owner = controllerReferenceOf(pod);
  const set =
    owner?.kind === 'ReplicaSet' ? cache.informer(ReplicaSet).get({ namespace, name: owner.name }) : undefined;
  const name = set === undefined ? undefined : controllerReferenceOf(set)?.name;
  const deployment = name === undefined ? undefined : cache.informer(Deployment).get({ namespace, name });
  return deployment === undefined || isRolling(deployment) ? [] : [keyOf(deployment)];
};

const isOver: Predicate<Pod> = ({ type, object }) => type === 'delete' || hasEnded(object);

/** Stands in for the Deployment controller of Kubernetes (W1–W14). */
export const deploymentController = (): Controller =>
  controllerFor(Deployment)
    .owns(ReplicaSet)
    .watches(ReplicaSet, orphanKeys)
    .watches(Pod, recreatedKeys, [isOver])
    .needs(
      needs(ReplicaSet, ['create', 'patch', 'delete']),
      needs(Deployment, ['update'], { subresource: 'status' }),
    )
    .reconcile(new DeploymentReconciler());
