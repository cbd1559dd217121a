import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { retryError } from '../../base/errors.ts';
import { createOrPatch } from '../../kube/client/create-or-update.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { namespaceOf, plainOwner } from '../control-plane/ownership.ts';
import { mirrorManifests } from '../mirrors/mirror-config.ts';

const USUAL_NAME = 'additional-registry-config';

/** The name that upstream gives it, unless another control plane of the namespace has it (X30). Pure. */
function mirrorConfigMapName(
  object: OpenshiftAssistedControlPlane,
  usual: ConfigMap | undefined,
  neighbours: readonly OpenshiftAssistedControlPlane[],
): string {
  const own = `${object.metadata.name}-${USUAL_NAME}`;
  const owners = (usual?.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  if (owners.includes(object.metadata.uid ?? '')) return USUAL_NAME;
  const isTaken = usual !== undefined && (owners.length > 0 || neighbours.some((one) => hasMirrors(one, object)));
  return isTaken ? own : USUAL_NAME;
}

const hasMirrors = (one: OpenshiftAssistedControlPlane, self: OpenshiftAssistedControlPlane): boolean =>
  one.metadata.name !== self.metadata.name && mirrorSource(one) !== undefined;

/** The ConfigMap of users with their registries. */
export function mirrorSource({ spec }: OpenshiftAssistedControlPlane): string | undefined {
  const { name = '' } = spec.config?.imageRegistryRef ?? {};
  return name === '' ? undefined : name;
}

/** Writes the manifests for mirror registries where users gave some (M); returns the name of the ConfigMap. */
export async function ensureMirrorConfigMap(
  client: KubeClient,
  object: OpenshiftAssistedControlPlane,
): Promise<string | undefined> {
  const source = mirrorSource(object);
  if (source === undefined) return undefined;
  const namespace = namespaceOf(object);
  const given = await client.find(ConfigMap, { namespace, name: source });
  if (given === undefined) {
    const what = `ConfigMap ${source}, which spec.config.imageRegistryRef names, does not exist`;
    throw retryError('ImageRegistryNotFound', `${what} in namespace ${namespace}; create it`);
  }
  const data = mirrorManifests(given.data ?? {});
  const usual = await client.find(ConfigMap, { namespace, name: USUAL_NAME });
  const { items: neighbours } = await client.list(OpenshiftAssistedControlPlane, { namespace });
  const name = mirrorConfigMapName(object, usual, neighbours);
  await createOrPatch(client, ConfigMap, { namespace, name }, (draft) => {
    draft.data = { ...data };
    draft.metadata.ownerReferences = [plainOwner(object)];
  });
  return name;
}
