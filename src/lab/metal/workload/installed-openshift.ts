import { ClusterVersion, type PlatformSpec, type PlatformStatus } from '../../../api/openshift/config-v1.ts';
import type { Clock } from '../../../base/clock.ts';
import { isAlreadyExists } from '../../../kube/client/api-error.ts';
import { retryOnConflict } from '../../../kube/client/conflict-retry.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import {
  CLUSTER_VERSION,
  completedStatus,
  installingStatus,
  isInstalling,
  unnamedImage,
} from './cluster-version.ts';
import { describeOpenShift, type OpenShiftFacts } from './openshift-objects.ts';
import type { WorkloadWish } from './workload-clusters.ts';

/** Pure: what the installer of a cluster was told, as its objects say it. */
function openShiftFacts(wish: WorkloadWish): OpenShiftFacts {
  const { infraId, version, isSingleNode = false } = wish;
  return {
    infrastructureName: infraId,
    version,
    domain: domainOf(wish),
    topology: isSingleNode ? 'SingleReplica' : 'HighlyAvailable',
    ...platformOf(wish),
  };
}

/** Pure: `<cluster>.<base domain>`. */
export const domainOf = ({ clusterName, baseDomain }: WorkloadWish): string => `${clusterName}.${baseDomain}`;

function platformOf(wish: WorkloadWish): { platformSpec: PlatformSpec; platformStatus: PlatformStatus } {
  const { platform: type, platformName, hasExternalCloudProvider } = wish;
  if (type !== 'External') return { platformSpec: { type }, platformStatus: { type } };
  const state = hasExternalCloudProvider ? 'External' : 'None';
  return {
    platformSpec: { type, ...(platformName !== undefined && { external: { platformName } }) },
    platformStatus: { type, external: { cloudControllerManager: { state } } },
  };
}

/**
 * Makes a cluster one of OpenShift whose installation has begun (S24); its kinds must be there. The ClusterVersion comes
 * last: where it says something, everything is there, and nothing is changed.
 */
export async function beginInstallation(client: KubeClient, wish: WorkloadWish, clock: Clock): Promise<void> {
  if ((await client.find(ClusterVersion, CLUSTER_VERSION))?.status?.history !== undefined) return;
  await describeOpenShift(client, openShiftFacts(wish));
  const created = await ensureClusterVersion(client, clock);
  const { version, releaseImage = unnamedImage(version) } = wish;
  const status = installingStatus({ version, image: releaseImage }, created.metadata.generation ?? 1, clock.now());
  await client.updateStatus(ClusterVersion, { ...created, status });
}

async function ensureClusterVersion(client: KubeClient, clock: Clock): Promise<ClusterVersion> {
  const object = { apiVersion: 'config.openshift.io/v1', kind: 'ClusterVersion', metadata: CLUSTER_VERSION };
  try {
    return await client.create(ClusterVersion, { ...object, spec: { clusterID: clock.uuid() } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await client.live.get(ClusterVersion, CLUSTER_VERSION);
  }
}

/** The installation is done (S24). Again, it changes nothing. */
export function completeInstallation(client: KubeClient, clock: Clock): Promise<void> {
  return retryOnConflict({ clock }, async () => {
    const cv = await client.live.get(ClusterVersion, CLUSTER_VERSION);
    const { status = {} } = cv;
    if (!isInstalling(status)) return;
    await client.updateStatus(ClusterVersion, { ...cv, status: completedStatus(status, clock.now()) });
  });
}
