import type { KubeObject } from '../../api/object.ts';

/** What must be there before what: the namespace before its content, definitions before their objects (H5). */
const RANKS: readonly (readonly string[])[] = [
  ['Namespace'],
  ['CustomResourceDefinition'],
  ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'],
  ['PriorityClass', 'StorageClass', 'RuntimeClass', 'ResourceQuota', 'LimitRange', 'NetworkPolicy'],
  ['ConfigMap', 'Secret', 'PersistentVolume', 'PersistentVolumeClaim', 'Service'],
  ['Pod', 'ReplicaSet', 'Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'],
  [],
  // Last: they decide about all that comes after them, and need the workloads to answer.
  ['APIService', 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
];
const OTHERS = RANKS.findIndex((kinds) => kinds.length === 0);

function rankOf(kind: string): number {
  const rank = RANKS.findIndex((kinds) => kinds.includes(kind));
  return rank < 0 ? OTHERS : rank;
}

/** In the order of dependency; those that do not depend on each other stay as they are. */
export const inApplyOrder = <T extends Pick<KubeObject, 'kind'>>(objects: readonly T[]): readonly T[] =>
  objects.toSorted((a, b) => rankOf(a.kind) - rankOf(b.kind));
