import { createHash } from 'node:crypto';
import type { AgentClusterInstall } from '../../../api/assisted/hive-extensions-v1beta1.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import type { ClusterDeployment } from '../../../api/hive/hive-v1.ts';
import { keyOf } from '../../../api/object.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile.ts';
import { setOwnerReference } from '../../../object/owner-references.ts';
import { isCompleted } from './install-conditions.ts';

/** Before an installation is completed, nobody knows the certificates of the ingress. */
const NO_INGRESS = '# Without the certificates of the ingress.\n';

const kubeconfigSecretName = ({ metadata }: ClusterDeployment): string => `${metadata.name}-admin-kubeconfig`;
const passwordSecretName = ({ metadata }: ClusterDeployment): string => `${metadata.name}-admin-password`;

/** Pure: what administrators of a cluster are given in this state of its installation (S20, S21). */
export function adminSecrets(
  deployment: ClusterDeployment,
  { state, kubeconfig }: { readonly state: string; readonly kubeconfig: string },
): readonly Secret[] {
  const isDone = isCompleted(state);
  return [
    secret(deployment, {
      name: kubeconfigSecretName(deployment),
      type: 'kubeconfig',
      data: { kubeconfig: isDone ? kubeconfig : `${NO_INGRESS}${kubeconfig}` },
    }),
    ...(isDone
      ? [
          secret(deployment, {
            name: passwordSecretName(deployment),
            type: 'kubeadmincreds',
            data: { username: 'kubeadmin', password: passwordOf(deployment) },
          }),
        ]
      : []),
  ];
}

/** In the form that OpenShift gives it; the same for the same cluster. */
function passwordOf({ metadata: { uid = '' } }: ClusterDeployment): string {
  const digest = createHash('sha256')
    .update(`kubeadmin ${uid}`)
    .digest('base64url')
    .replaceAll(/[^A-Za-z0-9]/g, 'x');
  return [0, 5, 10, 15].map((at) => digest.slice(at, at + 5)).join('-');
}

interface SecretFields {
  readonly name: string;
  readonly type: string;
  readonly data: Readonly<Record<string, string>>;
}

function secret(deployment: ClusterDeployment, { name, type, data }: SecretFields): Secret {
  const { namespace = '' } = deployment.metadata;
  return setOwnerReference(deployment, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      namespace,
      name,
      labels: {
        'hive.openshift.io/cluster-deployment-name': deployment.metadata.name,
        'hive.openshift.io/secret-type': type,
      },
    },
    data: Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    ),
    type: 'Opaque',
  });
}

/** Creates it, or brings its data up to date; labels that others put on it stay. */
export async function ensureSecret(wanted: Secret, { client, signal }: ReconcileContext): Promise<void> {
  const found = await client.live.find(Secret, keyOf(wanted), { signal });
  if (found === undefined) return void (await client.create(Secret, wanted, { signal }));
  const data = { ...wanted.data };
  const isSame = Object.entries(data).every(([key, value]) => found.data?.[key] === value);
  if (!isSame) await client.patch(Secret, keyOf(wanted), { type: 'merge', body: { data } }, { signal });
}

type Metadata = NonNullable<NonNullable<AgentClusterInstall['spec']>['clusterMetadata']>;

/** Pure: what the installation tells Hive of its cluster. */
export const clusterMetadata = (
  deployment: ClusterDeployment,
  { state, clusterId, infraId }: { readonly state: string; readonly clusterId: string; readonly infraId: string },
): Metadata => ({
  clusterID: clusterId,
  infraID: infraId,
  adminKubeconfigSecretRef: { name: kubeconfigSecretName(deployment) },
  ...(isCompleted(state) && { adminPasswordSecretRef: { name: passwordSecretName(deployment) } }),
});
