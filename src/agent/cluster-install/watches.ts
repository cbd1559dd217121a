import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/object.ts';
import { type Controller, controllerFor } from '../../kube/controller/controller.ts';
import { generationChanged } from '../../kube/controller/predicates.ts';
import { needs } from '../../kube/rbac/need.ts';
import { factsChanged, saidIn, wishesOf } from '../cluster-facts/facts-changed.ts';
import { OF_CLUSTER_INSTALL_CONTROLLER } from '../control-plane/conditions.ts';
import { controlPlaneOfCluster } from '../control-plane/ownership.ts';
import type { ClusterInstallReconciler } from './reconcile.ts';

/** What others say of a control plane is no business of this controller; what it said itself it says again. */
const controlPlaneChanged = factsChanged<OpenshiftAssistedControlPlane>((object) => [
  wishesOf(object),
  object.status?.initialization,
  saidIn(object, OF_CLUSTER_INSTALL_CONTROLLER),
]);

export const clusterInstallController = (reconciler: ClusterInstallReconciler): Controller =>
  controllerFor(AgentClusterInstall, { name: 'agentclusterinstall' })
    .watches(OpenshiftAssistedControlPlane, (object) => [keyOf(object)], [controlPlaneChanged])
    .watches(Cluster, controlPlaneOfCluster, [generationChanged])
    .needs(
      needs(OpenshiftAssistedControlPlane, ['patch'], { subresource: 'status' }),
      needs(OpenshiftAssistedControlPlane, ['update'], { subresource: 'finalizers' }),
      needs(Secret, ['get', 'create', 'patch'], {
        reason: 'assisted-service says only in an AgentClusterInstall which Secret has the kubeconfig',
      }),
    )
    .reconcile(reconciler);
