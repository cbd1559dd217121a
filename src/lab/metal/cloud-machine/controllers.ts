import { CLUSTER_NAME_LABEL, Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import { LabCluster, LabMachine } from '../../../api/lab-infrastructure/infrastructure-v1beta2.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { clusterMatters } from '../core/cluster-scope.ts';
import type { HostPower } from '../host/host-power.ts';
import type { InstanceCloud } from './instance-cloud.ts';
import { LabClusterReconciler } from './lab-cluster-reconcile.ts';
import { LabMachineReconciler } from './lab-machine-reconcile.ts';

export interface CloudMachineOptions {
  readonly cloud: InstanceCloud;
  /** Told of every instance that is on, with what it boots. */
  readonly hosts: HostPower;
}

/** An infrastructure provider of Cluster API on the lab's cloud: LabCluster and LabMachine. */
export const cloudMachineControllers = ({ cloud, hosts }: CloudMachineOptions): readonly Controller[] => [
  controllerFor(LabCluster, { name: 'lab-cluster' })
    .watches(Cluster, clusterKeys)
    .needs(needs(LabCluster, ['patch'], { subresource: 'status' }))
    .reconcile(new LabClusterReconciler()),
  controllerFor(LabMachine, { name: 'lab-machine' })
    .watches(Machine, machineKeys)
    .watches(Cluster, keysOfCluster, [clusterMatters])
    .needs(
      needs(LabMachine, ['patch']),
      needs(LabMachine, ['patch'], { subresource: 'status' }),
      needs(Secret, ['get'], { reason: 'Machines name Secrets with what they boot' }),
    )
    .reconcile(new LabMachineReconciler({ cloud, hosts })),
];

const clusterKeys: MapFunction<Cluster> = ({ metadata: { namespace }, spec }) => {
  const { kind, name } = spec?.infrastructureRef ?? {};
  return kind === LabCluster.kind ? [{ namespace, name }] : [];
};

const machineKeys: MapFunction<Machine> = ({ metadata: { namespace }, spec: { infrastructureRef } }) =>
  infrastructureRef.kind === LabMachine.kind ? [{ namespace, name: infrastructureRef.name }] : [];

const keysOfCluster: MapFunction<Cluster> = ({ metadata: { namespace = '', name } }, { cache }) =>
  cache
    .informer(LabMachine)
    .list({ namespace, labels: { [CLUSTER_NAME_LABEL]: name } })
    .map(keyOf);
