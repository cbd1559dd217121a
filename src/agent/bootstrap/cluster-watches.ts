import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Cache } from '../../kube/cache/cache.ts';
import { byType, labelChanged, or, type Predicate } from '../../kube/controller/predicates.ts';
import { isInstalling } from '../cluster-facts/installation.ts';

/** The names of the Clusters that an object is of: one of the Cluster's own kind, or by label. */
function clusterNames(object: KubeObject, cache: Pick<Cache, 'informer'>): readonly string[] {
  const { name, namespace = '', labels = {} } = object.metadata;
  if (object.kind === Cluster.kind) return [name];
  const label = labels[CLUSTER_NAME_LABEL] ?? '';
  if (label !== '') return [label];
  if (object.kind !== AgentClusterInstall.kind) return [];
  // One that somebody else made has no label of ours; the ClusterDeployment that names it has.
  return cache
    .informer(ClusterDeployment)
    .list({ namespace })
    .filter(({ spec }) => spec?.clusterInstallRef?.name === name)
    .flatMap(({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] ?? []);
}

/** The configs of the cluster that an object is of; only of its namespace (X4). */
export const configsOf = (
  object: KubeObject,
  cache: Pick<Cache, 'informer'>,
): readonly OpenshiftAssistedConfig[] =>
  clusterNames(object, cache).flatMap((name) =>
    cache
      .informer(OpenshiftAssistedConfig)
      .list({ namespace: object.metadata.namespace ?? '', labels: { [CLUSTER_NAME_LABEL]: name } }),
  );

/** Progress is told often, and mostly means nothing here. */
export const installChanged: Predicate<AgentClusterInstall> = byType({
  update: ({ old, object }) =>
    old === undefined || isInstalling(old) !== isInstalling(object) || stateOf(old) !== stateOf(object),
});
const stateOf = ({ status }: AgentClusterInstall): string => status?.debugInfo?.state ?? '';

export const deploymentChanged: Predicate<ClusterDeployment> = or<ClusterDeployment>(
  labelChanged,
  byType({ update: ({ old, object }) => installName(old) !== installName(object) }),
);
const installName = (deployment: ClusterDeployment | undefined): string =>
  deployment?.spec?.clusterInstallRef?.name ?? '';

const isPaused = (cluster: Cluster | undefined): boolean => cluster?.spec?.paused === true;
export const pauseChanged: Predicate<Cluster> = byType({
  update: ({ old, object }) => isPaused(old) !== isPaused(object),
});

const isProvisioned = (cluster: Cluster | undefined): boolean =>
  cluster?.status?.initialization?.infrastructureProvisioned === true;
export const clusterChanged: Predicate<Cluster> = or<Cluster>(
  pauseChanged,
  byType({ update: ({ old, object }) => isProvisioned(old) !== isProvisioned(object) }),
);
