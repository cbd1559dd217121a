import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { ClusterDeployment, type ClusterInstallReference } from '../../api/hive/hive-v1.ts';
import { apiVersionOf } from '../../api/object.ts';
import { terminalError } from '../../base/errors.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { controlPlaneLabels } from './labels.ts';
import { isOfControlPlane, namespaceOf, plainOwner } from './ownership.ts';
import { pullSecretName } from './pull-secret.ts';

export const clusterInstallReference = (name: string): ClusterInstallReference => ({
  group: AgentClusterInstall.group,
  version: AgentClusterInstall.version,
  kind: AgentClusterInstall.kind,
  name,
});

/** What assisted-service and Hive know the cluster by (C9). Pure. */
function desiredClusterDeployment(object: OpenshiftAssistedControlPlane, clusterName: string): ClusterDeployment {
  const { name } = object.metadata;
  const { clusterName: givenName = '', baseDomain = '' } = object.spec.config ?? {};
  return {
    apiVersion: apiVersionOf(ClusterDeployment),
    kind: ClusterDeployment.kind,
    metadata: {
      namespace: namespaceOf(object),
      name,
      labels: controlPlaneLabels(object, clusterName),
      ownerReferences: [plainOwner(object)],
    },
    spec: {
      clusterName: givenName === '' ? clusterName : givenName,
      baseDomain,
      platform: { agentBareMetal: { agentSelector: {} } },
      pullSecretRef: { name: pullSecretName(object) },
      clusterInstallRef: clusterInstallReference(name),
    },
  };
}

/** Creates it where there is none, and never changes it afterwards: Hive refuses needless changes. */
export async function ensureClusterDeployment(
  client: KubeClient,
  object: OpenshiftAssistedControlPlane,
  clusterName: string,
): Promise<void> {
  const key = { namespace: namespaceOf(object), name: object.metadata.name };
  const found = await client.find(ClusterDeployment, key);
  if (found !== undefined) return checkOwner(found, object);
  try {
    await client.create(ClusterDeployment, desiredClusterDeployment(object, clusterName));
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    checkOwner(await client.live.get(ClusterDeployment, key), object);
  }
}

function checkOwner(found: ClusterDeployment, object: OpenshiftAssistedControlPlane): void {
  if (isOfControlPlane(found, object)) return;
  const what = `ClusterDeployment ${found.metadata.name} exists and does not belong to this control plane`;
  throw terminalError(
    'ClusterDeploymentConflict',
    `${what}; delete it, or give the ${OpenshiftAssistedControlPlane.kind} another name`,
  );
}
