import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL, type Machine } from '../../api/cluster-api/core-v1beta2.ts';
import { ClusterDeployment } from '../../api/hive/hive-v1.ts';
import { keyText, type ObjectKey } from '../../api/object.ts';
import type { Reader } from '../../kube/client/kube-client.ts';
import { isControlPlane } from './config-owner.ts';

/** What assisted-service installs for a Cluster. */
export interface Installation {
  readonly deployment: ClusterDeployment;
  readonly install: AgentClusterInstall;
}

/** What there is instead, for people. */
export interface NoInstallation {
  readonly missing: string;
}

/**
 * The one ClusterDeployment with the label of a Cluster, in its namespace: another namespace may have a Cluster of the
 * same name (B7, B8, X2, X4).
 */
export async function findInstallation(
  client: Reader,
  { namespace = '', name }: ObjectKey,
): Promise<Installation | NoInstallation> {
  const { items } = await client.list(ClusterDeployment, { namespace, labels: { [CLUSTER_NAME_LABEL]: name } });
  const [deployment, second] = items;
  const label = `the label ${CLUSTER_NAME_LABEL}=${name}`;
  if (deployment === undefined)
    return { missing: `no ClusterDeployment in namespace ${namespace} has ${label}; the control plane makes it` };
  if (second !== undefined) {
    const names = items.map(({ metadata }) => metadata.name).toSorted();
    return { missing: `ClusterDeployments ${names.join(', ')} all have ${label}; take it from all but one` };
  }
  const ref = deployment.spec?.clusterInstallRef;
  if (ref === undefined)
    return { missing: `ClusterDeployment ${keyText(deployment.metadata)} names no AgentClusterInstall yet` };
  const install = await client.find(AgentClusterInstall, { namespace, name: ref.name });
  if (install === undefined)
    return {
      missing: `AgentClusterInstall ${namespace}/${ref.name} does not exist yet; the control plane makes it`,
    };
  return { deployment, install };
}

/** Before anything is installed, or after all of it: a host that comes now is taken in. */
const OPEN = new Set(['', 'insufficient', 'pending-for-input', 'adding-hosts']);

/**
 * Pure: whether an installation runs that takes no more hosts (B9). One that is `ready` still waits for hosts as long as
 * its requirements are not met, and holding them back would be a deadlock (X9).
 */
export function isInstalling({ status }: AgentClusterInstall): boolean {
  const state = status?.debugInfo?.state ?? '';
  if (OPEN.has(state)) return false;
  if (state !== 'ready') return true;
  return (status?.conditions ?? []).some(
    ({ type, status: value }) => type === 'RequirementsMet' && value === 'True',
  );
}

/** Pure: whether a Machine has to wait until the installation is over. Those of the control plane never do (B9). */
export const isHeld = (machine: Machine, install: AgentClusterInstall): boolean =>
  !isControlPlane(machine) && isInstalling(install);
