import type { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import type { ClusterDeployment } from '../../../api/hive/hive-v1.ts';
import type { WorkloadWish } from '../workload/workload-clusters.ts';
import { platformOf } from './install-state.ts';

/** The installer of OpenShift cuts names so that its own suffixes fit. */
const MOST_NAME_CHARACTERS = 21;

/** Pure: what the installation makes, from what its objects say. */
export function workloadWish(
  install: AgentClusterInstall,
  deployment: ClusterDeployment,
  release: { readonly version: string; readonly image: string },
): WorkloadWish {
  const { spec = {} } = install;
  const { clusterName = deployment.metadata.name, baseDomain = '' } = deployment.spec ?? {};
  const { platformName = '', cloudControllerManager = '' } = spec.external ?? {};
  const platform = knownPlatform(platformOf(spec));
  const isExternal = platform === 'External';
  return {
    version: release.version,
    releaseImage: release.image,
    platform,
    ...(isExternal && platformName !== '' && { platformName }),
    hasExternalCloudProvider: isExternal && cloudControllerManager === 'External',
    isSingleNode: spec.provisionRequirements?.controlPlaneAgents === 1,
    baseDomain,
    clusterName,
    infraId: infraIdOf(clusterName, deployment),
  };
}

/** The lab has no machines of the others: to it they are machines without a platform. */
const knownPlatform = (platform: string): WorkloadWish['platform'] =>
  platform === 'BareMetal' || platform === 'External' ? platform : 'None';

const infraIdOf = (clusterName: string, { metadata: { uid = '' } }: ClusterDeployment): string =>
  `${clusterName.slice(0, MOST_NAME_CHARACTERS)}-${uid.slice(0, 5)}`;
