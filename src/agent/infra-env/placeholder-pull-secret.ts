import { Cluster } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/object.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { setOwnerReference } from '../../object/owner-references.ts';

export const PLACEHOLDER_PULL_SECRET = 'placeholder-pull-secret';
/** Assisted-service wants one, and OKD needs none: it is for a registry that does not exist (E4). */
const CONTENT = '{"auths":{"fake-pull-secret":{"auth":"cGxhY2Vob2xkZXI6c2VjcmV0Cg=="}}}';

/**
 * Makes the placeholder of a namespace. Every Cluster that uses it owns it: with the config that happened to come first
 * as its only owner, it would go while others still use it. One that nobody owns is somebody's own and stays so.
 */
export async function ensurePlaceholder(client: KubeClient, cluster: Cluster): Promise<string> {
  const { namespace = '' } = cluster.metadata;
  const wanted: Secret = setOwnerReference(
    cluster,
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace, name: PLACEHOLDER_PULL_SECRET },
      data: { '.dockerconfigjson': Buffer.from(CONTENT).toString('base64') },
    },
    { kind: Cluster },
  );
  const found = await client.live.find(Secret, keyOf(wanted));
  if (found === undefined) await create(client, wanted, cluster);
  else await own(client, found, cluster);
  return PLACEHOLDER_PULL_SECRET;
}

async function create(client: KubeClient, wanted: Secret, cluster: Cluster): Promise<void> {
  try {
    await client.create(Secret, wanted);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await own(client, await client.live.get(Secret, keyOf(wanted)), cluster);
  }
}

async function own(client: KubeClient, found: Secret, cluster: Cluster): Promise<void> {
  const { ownerReferences = [], resourceVersion = '' } = found.metadata;
  if (ownerReferences.length === 0 || ownerReferences.some(({ uid }) => uid === cluster.metadata.uid)) return;
  const owned = setOwnerReference(cluster, found, { kind: Cluster });
  // Its version goes with it: a list is replaced whole.
  const metadata = {
    resourceVersion,
    ownerReferences: (owned.metadata.ownerReferences ?? []).map((reference) => ({ ...reference })),
  };
  await client.patch(Secret, keyOf(found), { type: 'merge', body: { metadata } });
}
