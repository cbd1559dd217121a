import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { retryError } from '../../base/errors.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { mergeFrom } from '../../kube/client/patches.ts';
import { setOwnerReference } from '../../object/owner-references.ts';
import { namespaceOf, plainOwner } from './ownership.ts';

/** The Secret that both providers share where users give none; assisted-service insists on one (E4, C8). */
const PLACEHOLDER = 'placeholder-pull-secret';
const KEY = '.dockerconfigjson';
const PLACEHOLDER_AUTHS = '{"auths":{"fake-pull-secret":{"auth":"cGxhY2Vob2xkZXI6c2VjcmV0Cg=="}}}';

/** What the control plane uses; its spec stays as its users wrote it (X13). */
export function pullSecretName({ spec }: OpenshiftAssistedControlPlane): string {
  const { name = '' } = spec.config?.pullSecretRef ?? {};
  return name === '' ? PLACEHOLDER : name;
}

/**
 * Makes the placeholder where it is needed. One that is there already belongs to several: it goes with the last of its
 * owners, not with the first.
 */
export async function ensurePullSecret(client: KubeClient, object: OpenshiftAssistedControlPlane): Promise<void> {
  if (pullSecretName(object) !== PLACEHOLDER) return;
  const key = { namespace: namespaceOf(object), name: PLACEHOLDER };
  const found = await client.live.find(Secret, key);
  if (found === undefined) return createPlaceholder(client, object);
  const { ownerReferences = [] } = found.metadata;
  // Without an owner it is a user's own.
  if (ownerReferences.length === 0 || ownerReferences.some(({ uid }) => uid === object.metadata.uid)) return;
  await client.patch(Secret, key, mergeFrom(found, setOwnerReference(object, found), { optimisticLock: true }));
}

async function createPlaceholder(client: KubeClient, object: OpenshiftAssistedControlPlane): Promise<void> {
  try {
    await client.create(Secret, {
      metadata: {
        namespace: namespaceOf(object),
        name: PLACEHOLDER,
        ownerReferences: [plainOwner(object)],
      },
      data: { [KEY]: Buffer.from(PLACEHOLDER_AUTHS).toString('base64') },
    });
  } catch (error) {
    // The other provider, or another cluster of the namespace, was faster.
    if (!isAlreadyExists(error)) throw error;
  }
}

/** The text of the pull secret; no cache holds all Secrets, so the server is asked. */
export async function readPullSecret(
  client: Pick<KubeClient, 'live'>,
  object: OpenshiftAssistedControlPlane,
): Promise<string> {
  const key = { namespace: namespaceOf(object), name: pullSecretName(object) };
  const secret = await client.live.find(Secret, key);
  const where = `Secret ${key.name}, which spec.config.pullSecretRef names,`;
  if (secret === undefined) throw unavailable(`${where} does not exist in namespace ${key.namespace}; create it`);
  const encoded = secret.data?.[KEY];
  if (encoded === undefined)
    throw unavailable(`${where} has no key ${KEY}; add it, with the registries and their auths`);
  return Buffer.from(encoded, 'base64').toString('utf8');
}

const unavailable = (message: string) => retryError('PullSecretUnavailable', message);
