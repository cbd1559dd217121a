import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Cluster, Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../api/generated/apiextensions-v1.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import { keyOf } from '../../api/object.ts';
import { type Controller, controllerFor } from '../../kube/controller/controller.ts';
import { type Need, needs } from '../../kube/rbac/need.ts';
import { comesOrGoes } from '../cluster-deployment/watches.ts';
import { factsChanged, saidIn, wishesOf } from '../cluster-facts/facts-changed.ts';
import { controlPlaneOfCluster, controlPlanesOfLabel } from './ownership.ts';
import type { ControlPlaneReconciler } from './reconcile.ts';

/** Kinds of one infrastructure provider: their rights cannot be told from references that users write later. */
export interface InfrastructureKind {
  readonly group: string;
  /** Plural of the machines, such as `metal3machines`. */
  readonly machines: string;
  /** Plural of their templates, such as `metal3machinetemplates`. */
  readonly templates: string;
}

export const METAL3: InfrastructureKind = {
  group: 'infrastructure.cluster.x-k8s.io',
  machines: 'metal3machines',
  templates: 'metal3machinetemplates',
};

const infrastructureNeeds = ({ group, machines, templates }: InfrastructureKind): readonly Need[] => [
  needs({ group, plural: machines, scope: 'Namespaced' }, ['get', 'list', 'watch', 'create', 'delete']),
  needs({ group, plural: templates, scope: 'Namespaced' }, ['get']),
];

/** Every step of a host is told on its Machine. What is counted, summed up or kept in order here is not much of that. */
const MACHINE_CONDITIONS = ['Ready', 'Available', 'UpToDate', 'OwnerRemediated'];
const machineChanged = factsChanged<Machine>((machine) => [
  wishesOf(machine),
  machine.status?.phase,
  saidIn(machine, MACHINE_CONDITIONS),
]);

const clusterChanged = factsChanged<Cluster>((cluster) => [
  wishesOf(cluster),
  cluster.status?.initialization,
  cluster.status?.failureDomains,
]);

export const controlPlaneController = (
  reconciler: ControlPlaneReconciler,
  infrastructure: readonly InfrastructureKind[],
): Controller =>
  controllerFor(OpenshiftAssistedControlPlane, { name: 'openshiftassistedcontrolplane' })
    .owns(Machine, { predicates: [machineChanged] })
    .watches(Cluster, controlPlaneOfCluster, [clusterChanged])
    .watches(OpenshiftAssistedConfig, controlPlanesOfLabel, [comesOrGoes])
    .watches(ClusterDeployment, (deployment) => [keyOf(deployment)], [comesOrGoes])
    .needs(
      needs(OpenshiftAssistedControlPlane, ['patch']),
      needs(OpenshiftAssistedControlPlane, ['patch'], { subresource: 'status' }),
      needs(Machine, ['create', 'patch', 'delete']),
      needs(Machine, ['patch'], { subresource: 'status' }),
      needs(OpenshiftAssistedConfig, ['create', 'delete']),
      needs(ClusterDeployment, ['create', 'delete']),
      needs(ClusterImageSet, ['get', 'list', 'watch', 'delete']),
      needs(CustomResourceDefinition, ['get']),
      needs(Secret, ['get', 'create', 'patch'], {
        reason: 'pull secrets and kubeconfigs are named by users and clusters and are in any namespace',
      }),
      ...infrastructure.flatMap(infrastructureNeeds),
    )
    .reconcile(reconciler);
