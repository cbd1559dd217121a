import { CLUSTER_NAME_LABEL, Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import {
  HOST_ANNOTATION,
  Metal3Cluster,
  Metal3DataTemplate,
  Metal3Machine,
} from '../../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import { keyOf } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { needs } from '../../../kube/rbac/need.ts';
import { clusterMatters } from '../core/cluster-scope.ts';
import { type ConnectWorkload, WorkloadNodes } from '../core/workload-nodes.ts';
import type { HostPower } from '../host/host-power.ts';
import { type HostFaults, HostReconciler } from './host-reconcile.ts';
import { type HostPace, USUAL_PACE } from './host-states.ts';
import { Metal3ClusterReconciler } from './metal3-cluster-reconcile.ts';
import { Metal3MachineReconciler } from './metal3-machine-reconcile.ts';

export interface Metal3Options {
  /** The switches of the machines that BareMetalHosts stand for. */
  readonly hosts: HostPower;
  /** To the cluster that a kubeconfig in Secret `<cluster>-kubeconfig` names; rejects when it cannot. */
  readonly connectWorkload: ConnectWorkload;
  /** How long hosts take; each may be told alone. */
  readonly pace?: Partial<HostPace>;
  readonly faults?: HostFaults;
}

/** Machines take their time to start, each for itself. */
const HOSTS_AT_ONCE = 8;

/** Stands in for Metal3: its Cluster API provider and its operator of hosts (S11–S15). */
export function metal3Controllers(options: Metal3Options): readonly Controller[] {
  const { hosts, connectWorkload, pace, faults = {} } = options;
  return [
    controllerFor(Metal3Cluster, { name: 'metal3-cluster' })
      .watches(Cluster, infrastructureKeys)
      .watches(Machine, clusterKeys)
      .needs(needs(Metal3Cluster, ['patch']), needs(Metal3Cluster, ['patch'], { subresource: 'status' }))
      .reconcile(new Metal3ClusterReconciler()),
    // One at a time: two would take the same host.
    controllerFor(Metal3Machine, { name: 'metal3-machine', maxConcurrent: 1 })
      .watches(Machine, machineKeys)
      .watches(Cluster, keysOfCluster, [clusterMatters])
      .watches(BareMetalHost, consumerKeys)
      .needs(
        needs(Metal3Machine, ['patch']),
        needs(Metal3Machine, ['patch'], { subresource: 'status' }),
        needs(Metal3Machine, ['update'], { subresource: 'finalizers' }),
        needs(BareMetalHost, ['patch']),
        needs(Metal3Cluster, ['get', 'list', 'watch']),
        needs(Metal3DataTemplate, ['get']),
        needs(Secret, ['create']),
        ...WorkloadNodes.needs,
      )
      .reconcile(new Metal3MachineReconciler(connectWorkload)),
    controllerFor(BareMetalHost, { name: 'metal3-host', maxConcurrent: HOSTS_AT_ONCE })
      .needs(
        needs(BareMetalHost, ['patch']),
        needs(BareMetalHost, ['patch'], { subresource: 'status' }),
        needs(Secret, ['get'], { reason: 'hosts name Secrets with what they boot' }),
      )
      .reconcile(new HostReconciler({ hosts, pace: { ...USUAL_PACE, ...pace }, faults })),
  ];
}

const infrastructureKeys: MapFunction<Cluster> = ({ metadata: { namespace }, spec }) => {
  const { kind, name } = spec?.infrastructureRef ?? {};
  return kind === Metal3Cluster.kind ? [{ namespace, name }] : [];
};

const machineKeys: MapFunction<Machine> = ({ metadata: { namespace }, spec: { infrastructureRef } }) =>
  infrastructureRef.kind === Metal3Machine.kind ? [{ namespace, name: infrastructureRef.name }] : [];

/** A cluster that is deleted waits for its last Machine. */
const clusterKeys: MapFunction<Machine> = ({ metadata: { namespace = '', labels = {} } }, { cache }) => {
  const { [CLUSTER_NAME_LABEL]: name } = labels;
  return name === undefined
    ? []
    : cache
        .informer(Metal3Cluster)
        .list({ namespace, labels: { [CLUSTER_NAME_LABEL]: name } })
        .map(keyOf);
};

const keysOfCluster: MapFunction<Cluster> = ({ metadata: { namespace = '', name } }, { cache }) =>
  cache
    .informer(Metal3Machine)
    .list({ namespace, labels: { [CLUSTER_NAME_LABEL]: name } })
    .map(keyOf);

/** Its consumer; a host that is free concerns everybody who has none. */
const consumerKeys: MapFunction<BareMetalHost> = ({ metadata: { namespace = '' }, spec }, { cache }) => {
  const { kind, name } = spec?.consumerRef ?? {};
  if (kind === Metal3Machine.kind) return [{ namespace, name }];
  const machines = cache.informer(Metal3Machine).list({ namespace });
  return machines.filter(({ metadata }) => metadata.annotations?.[HOST_ANNOTATION] === undefined).map(keyOf);
};
