import { Deployment, ReplicaSet, StatefulSet } from '../../../api/generated/apps-v1.ts';
import { Pod, ReplicationController } from '../../../api/generated/core-v1.ts';
import { PodDisruptionBudget } from '../../../api/generated/policy-v1.ts';
import { type KubeObject, keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { generationChanged } from '../../../kube/controller/predicates.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { matchesLabels } from '../../../object/label-selector.ts';
import { knownObjects } from '../pods/known-objects.ts';
import { budgetSelector } from './budget-selector.ts';
import { DisruptionReconciler } from './reconcile.ts';

const budgetsOfPod: MapFunction<Pod> = ({ metadata }, { cache }) => {
  const { namespace = '', labels } = metadata;
  const budgets = knownObjects(cache, PodDisruptionBudget, { namespace });
  return budgets.filter((budget) => matchesLabels(budgetSelector(budget), { ...labels })).map(keyOf);
};

/** Who controls pods that a budget is for shows only in the pods; there are few budgets. */
const budgetsBeside: MapFunction<KubeObject> = ({ metadata: { namespace = '' } }, { cache }) =>
  knownObjects(cache, PodDisruptionBudget, { namespace }).map(keyOf);

/** Stands in for the disruption controller of Kubernetes (W33). */
export const disruptionController = (): Controller =>
  controllerFor(PodDisruptionBudget, { name: 'disruption' })
    .watches(Pod, budgetsOfPod)
    .watches(Deployment, budgetsBeside, [generationChanged])
    .watches(ReplicaSet, budgetsBeside, [generationChanged])
    .watches(StatefulSet, budgetsBeside, [generationChanged])
    .watches(ReplicationController, budgetsBeside, [generationChanged])
    .needs(needs(PodDisruptionBudget, ['update'], { subresource: 'status' }))
    .reconcile(new DisruptionReconciler());
