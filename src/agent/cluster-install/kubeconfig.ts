import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { retryError } from '../../base/errors.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { isControlledBy, ownedBy } from '../../object/owner-references.ts';
import { namespaceOf } from '../control-plane/ownership.ts';

/** Where assisted-service puts it, and where core looks for it. */
const SOURCE_KEY = 'kubeconfig';
const CLUSTER_KEY = 'value';

export interface KubeconfigFacts {
  readonly object: OpenshiftAssistedControlPlane;
  readonly clusterName: string;
  /** The Secret of assisted-service. */
  readonly source: string;
}

/** Publishes the kubeconfig of assisted-service where core looks for it, and keeps it up to date (K3, K4, X21). */
export async function publishKubeconfig(client: KubeClient, facts: KubeconfigFacts): Promise<void> {
  const { object, clusterName, source: name } = facts;
  const key = { namespace: namespaceOf(object), name };
  const source = await client.live.find(Secret, key);
  if (source === undefined) throw unavailable(`error retrieving Kubeconfig: Secret ${name} does not exist`);
  const kubeconfig = source.data?.[SOURCE_KEY];
  if (kubeconfig === undefined)
    throw unavailable(`error creating Kubeconfig secret: Secret ${name} has no key ${SOURCE_KEY}`);
  if (source.metadata.labels?.[CLUSTER_NAME_LABEL] !== clusterName) {
    const body = { metadata: { labels: { [CLUSTER_NAME_LABEL]: clusterName } } };
    await client.patch(Secret, key, { type: 'merge', body });
  }
  await ensureClusterSecret(client, facts, kubeconfig);
}

async function ensureClusterSecret(
  client: KubeClient,
  { object, clusterName }: KubeconfigFacts,
  kubeconfig: string,
): Promise<void> {
  const key = { namespace: namespaceOf(object), name: `${clusterName}-kubeconfig` };
  const found =
    (await client.live.find(Secret, key)) ??
    (await created(client, desiredSecret(object, clusterName, kubeconfig)));
  // One that somebody else made is theirs, as upstream has it.
  if (found === undefined || !isControlledBy(found, object) || found.data?.[CLUSTER_KEY] === kubeconfig) return;
  await client.patch(Secret, key, { type: 'merge', body: { data: { [CLUSTER_KEY]: kubeconfig } } });
}

/** Undefined when it was made; the one that is there when somebody was faster. */
async function created(client: KubeClient, secret: ReturnType<typeof desiredSecret>): Promise<Secret | undefined> {
  try {
    await client.create(Secret, secret);
    return undefined;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const { namespace, name } = secret.metadata;
  return client.live.get(Secret, { namespace, name });
}

const desiredSecret = (object: OpenshiftAssistedControlPlane, clusterName: string, kubeconfig: string) => ({
  metadata: {
    namespace: namespaceOf(object),
    name: `${clusterName}-kubeconfig`,
    labels: { [CLUSTER_NAME_LABEL]: clusterName },
    ...ownedBy(object),
  },
  type: CLUSTER_SECRET_TYPE,
  data: { [CLUSTER_KEY]: kubeconfig },
});

const unavailable = (message: string) => retryError('KubeconfigUnavailable', message);
