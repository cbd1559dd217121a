import { OpenshiftAssistedConfig } from '../../api/agent/bootstrap-v1alpha2.ts';
import { CLUSTER_NAME_LABEL, CLUSTER_SECRET_TYPE } from '../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/object.ts';
import { retryError } from '../../base/errors.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { isControlledBy, setControllerReference } from '../../object/owner-references.ts';

/** Pure: what core hands to the infrastructure provider (B14), with what the contract asks of it (X5). */
export function bootstrapSecret(config: OpenshiftAssistedConfig, cluster: string, value: string): Secret {
  const { name, namespace = '' } = config.metadata;
  const bare: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace, labels: { [CLUSTER_NAME_LABEL]: cluster } },
    type: CLUSTER_SECRET_TYPE,
    data: { value: base64(value), format: base64('ignition') },
  };
  return setControllerReference(config, bare, OpenshiftAssistedConfig);
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/**
 * Makes the Secret; one that exists keeps its data, and gets what the contract asks for where it lacks it. There is
 * seldom one, so nobody looks first.
 */
export async function ensureBootstrapSecret(
  client: KubeClient,
  config: OpenshiftAssistedConfig,
  wanted: Secret,
): Promise<void> {
  try {
    await client.create(Secret, wanted);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    await adopt(client, config, await client.live.get(Secret, keyOf(wanted)), wanted);
  }
}

async function adopt(
  client: KubeClient,
  config: OpenshiftAssistedConfig,
  found: Secret,
  wanted: Secret,
): Promise<void> {
  if (isLeftover(found, config))
    throw retryError(
      'SecretOfFormerConfig',
      `Secret ${found.metadata.name} is being deleted, or belongs to a config of the same name that is gone; when it has gone, another one is made`,
    );
  const { labels = {}, resourceVersion = '' } = found.metadata;
  const cluster = wanted.metadata.labels?.[CLUSTER_NAME_LABEL] ?? '';
  if (labels[CLUSTER_NAME_LABEL] === cluster && isControlledBy(found, config)) return;
  const { ownerReferences = [] } = setControllerReference(config, found, OpenshiftAssistedConfig).metadata;
  const metadata = {
    // A list is replaced whole: only in the version it was made for.
    resourceVersion,
    labels: { [CLUSTER_NAME_LABEL]: cluster },
    ownerReferences: ownerReferences.map((reference) => ({ ...reference })),
  };
  await client.patch(Secret, keyOf(found), { type: 'merge', body: { metadata } });
}

/** Its data is of another life of the Machine, and it goes at any moment. */
const isLeftover = ({ metadata: secret }: Secret, { metadata: { name, uid } }: OpenshiftAssistedConfig): boolean =>
  secret.deletionTimestamp !== undefined ||
  (secret.ownerReferences ?? []).some(
    (owner) => owner.kind === OpenshiftAssistedConfig.kind && owner.name === name && owner.uid !== uid,
  );
