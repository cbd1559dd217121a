import {
  CLUSTER_NAME_LABEL,
  Cluster,
  Machine,
  MachineDeployment,
  MachineSet,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { CustomResourceDefinition } from '../../../api/generated/apiextensions-v1.ts';
import type { Kind, KubeObject } from '../../../api/object.ts';
import { type Controller, controllerFor } from '../../../kube/controller/controller.ts';
import type { MapFunction } from '../../../kube/controller/event-keys.ts';
import { type Need, needs, type Verb } from '../../../kube/rbac/need.ts';
import { ClusterReconciler } from './cluster-reconcile.ts';
import { clusterMatters } from './cluster-scope.ts';
import { ExternalObjects } from './external-objects.ts';
import { MachineDeploymentReconciler } from './machine-deployment-reconcile.ts';
import { MachineReconciler } from './machine-reconcile.ts';
import { MachineSetReconciler } from './machine-set-reconcile.ts';
import { type ProviderResources, USUAL_PROVIDERS } from './provider-resources.ts';
import { type ConnectWorkload, WorkloadNodes } from './workload-nodes.ts';

export interface CoreOptions {
  /** To the cluster that a kubeconfig in Secret `<cluster>-kubeconfig` names; rejects when it cannot. */
  readonly connectWorkload: ConnectWorkload;
  /**
   * For which resources of providers the controllers declare rights. Whatever a Cluster refers to works when they have
   * the right anyway; those of this project and of Metal3 unless told otherwise.
   */
  readonly providers?: readonly ProviderResources[];
}

/** Stands in for the core of Cluster API: Cluster, MachineDeployment, MachineSet, Machine (S1–S10, S28). */
export function coreControllers({
  connectWorkload,
  providers = USUAL_PROVIDERS,
}: CoreOptions): readonly Controller[] {
  const externals = new ExternalObjects();
  const nodes = new WorkloadNodes(connectWorkload);
  const rights = (...groups: readonly (keyof Omit<ProviderResources, 'group'>)[]) =>
    providerNeeds(providers, groups);
  const cluster = controllerFor(Cluster, { name: 'capi-cluster' })
    .watches(Machine, clusterKeys)
    .watches(MachineDeployment, clusterKeys)
    .watches(MachineSet, clusterKeys)
    .watchesChannel(externals.clusters)
    .needs(
      ...writing(Cluster),
      needs(MachineDeployment, ['delete']),
      needs(MachineSet, ['delete']),
      needs(Machine, ['delete']),
      ...rights('clusters'),
    )
    .reconcile(new ClusterReconciler(externals));
  const deployment = controllerFor(MachineDeployment, { name: 'capi-machinedeployment' })
    .owns(MachineSet)
    .watches(Cluster, keysOf(MachineDeployment), [clusterMatters])
    .needs(...writing(MachineDeployment), needs(MachineSet, ['create', 'patch', 'delete']))
    .reconcile(new MachineDeploymentReconciler());
  const set = controllerFor(MachineSet, { name: 'capi-machineset' })
    .owns(Machine)
    .watches(Cluster, keysOf(MachineSet), [clusterMatters])
    .watches(MachineDeployment, setKeys)
    .needs(
      ...writing(MachineSet),
      ...writing(Machine),
      needs(Machine, ['create', 'delete']),
      ...rights('machines', 'templates'),
    )
    .reconcile(new MachineSetReconciler(externals));
  const machine = controllerFor(Machine, { name: 'capi-machine' })
    .watches(Cluster, keysOf(Machine), [clusterMatters])
    .watchesChannel(externals.machines)
    .needs(
      ...writing(Machine),
      needs(Machine, ['update'], { subresource: 'finalizers' }),
      needs(Cluster, ['update'], { subresource: 'finalizers' }),
      needs(CustomResourceDefinition, ['get']),
      ...WorkloadNodes.needs,
      ...rights('machines', 'clusters'),
    )
    .reconcile(new MachineReconciler({ externals, nodes }));
  return [cluster, deployment, set, machine].map((controller) => externals.around(controller));
}

const writing = (kind: Pick<Kind, 'group' | 'plural' | 'scope'>): readonly Need[] => [
  needs(kind, ['patch']),
  needs(kind, ['patch'], { subresource: 'status' }),
];

const READING: readonly Verb[] = ['get', 'list', 'watch'];
const VERBS: Readonly<Record<keyof Omit<ProviderResources, 'group'>, readonly Verb[]>> = {
  clusters: [...READING, 'patch', 'delete'],
  machines: [...READING, 'create', 'patch', 'delete'],
  templates: [...READING, 'patch'],
};

const providerNeeds = (
  providers: readonly ProviderResources[],
  groups: readonly (keyof Omit<ProviderResources, 'group'>)[],
): readonly Need[] =>
  providers.flatMap(({ group, ...resources }) =>
    groups.flatMap((name) => (resources[name] ?? []).map((plural) => needs({ group, plural }, VERBS[name]))),
  );

const clusterKeys: MapFunction<KubeObject> = ({ metadata: { namespace, labels = {} } }) => [
  { namespace, name: labels[CLUSTER_NAME_LABEL] },
];

interface OfCluster extends KubeObject {
  readonly spec: { readonly clusterName: string };
}

/** The objects of a Cluster: they wait for it, for its infrastructure, or for the end of a pause. */
const keysOf =
  <T extends OfCluster>(kind: Kind<T>): MapFunction<Cluster> =>
  ({ metadata: { namespace = '', name } }, { cache }) =>
    cache
      .informer(kind)
      .list({ namespace })
      .filter(({ spec }) => spec.clusterName === name)
      .map(({ metadata }) => ({ namespace, name: metadata.name }));

/** Whether the Machines of a set are up to date is decided by its deployment. */
const setKeys: MapFunction<MachineDeployment> = ({ metadata: { namespace = '', uid } }, { cache }) =>
  cache
    .informer(MachineSet)
    .list({ namespace })
    .filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid) === true)
    .map(({ metadata }) => ({ namespace, name: metadata.name }));
