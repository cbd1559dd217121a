import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Cluster, MachineDeployment } from '../../api/cluster-api/core-v1beta2.ts';
import { ConfigMap, Secret } from '../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import { type KubeObject, keyFromText, keyOf } from '../../api/object.ts';
import { type Controller, controllerFor } from '../../kube/controller/controller.ts';
import { generationChanged, labelMatches, type Predicate } from '../../kube/controller/predicates.ts';
import { needs } from '../../kube/rbac/need.ts';
import { factsChanged, saidIn, wishesOf } from '../cluster-facts/facts-changed.ts';
import { OF_CLUSTER_DEPLOYMENT_CONTROLLER } from '../control-plane/conditions.ts';
import { controlPlaneOfCluster, controlPlanesOfLabel } from '../control-plane/ownership.ts';
import { installStage } from './agent-cluster-install.ts';
import { IMAGE_SET_OWNER } from './image-set.ts';
import type { ClusterDeploymentReconciler } from './reconcile.ts';

/** Only what Cluster API labelled: other ClusterDeployments of a hub are nobody's business here. */
const isOfCluster = labelMatches(CLUSTER_NAME_LABEL);

const sameName = (object: KubeObject) => [keyOf(object)];

/** Configs never change after they are made; their number decides about the architecture of the image (R2). */
export const comesOrGoes: Predicate = ({ type }) => type !== 'update';

/** What others say of a control plane is no business of this controller; what it said itself it says again. */
const controlPlaneChanged = factsChanged<OpenshiftAssistedControlPlane>((object) => [
  wishesOf(object),
  saidIn(object, OF_CLUSTER_DEPLOYMENT_CONTROLLER),
]);

/** Progress is told often; only what may still be changed matters here. */
const installChanged = factsChanged<AgentClusterInstall>((install) => [wishesOf(install), installStage(install)]);

export const clusterDeploymentController = (reconciler: ClusterDeploymentReconciler): Controller =>
  controllerFor(ClusterDeployment, { name: 'clusterdeployment', predicates: [isOfCluster] })
    .watches(OpenshiftAssistedControlPlane, sameName, [controlPlaneChanged])
    .watches(AgentClusterInstall, sameName, [installChanged])
    .watches(MachineDeployment, controlPlanesOfLabel, [isOfCluster])
    .watches(Cluster, controlPlaneOfCluster, [generationChanged])
    .watches(OpenshiftAssistedConfig, controlPlanesOfLabel, [comesOrGoes])
    .watches(ClusterImageSet, ({ metadata: { annotations = {} } }) => {
      const owner = annotations[IMAGE_SET_OWNER];
      return owner === undefined ? [] : [keyFromText(owner)];
    })
    .needs(
      needs(OpenshiftAssistedControlPlane, ['patch'], { subresource: 'status' }),
      needs(OpenshiftAssistedControlPlane, ['update'], { subresource: 'finalizers' }),
      needs(ClusterDeployment, ['patch']),
      needs(AgentClusterInstall, ['create', 'patch']),
      needs(ClusterImageSet, ['create', 'patch']),
      needs(ConfigMap, ['get', 'create', 'patch']),
      needs(Secret, ['get'], { reason: 'pull secrets are named by users and are in any namespace' }),
    )
    .reconcile(reconciler);
