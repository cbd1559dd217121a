import type { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import type { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { ClusterImageSet } from '../../api/hive/hive-v1.ts';
import { apiVersionOf, keyOf, keyText } from '../../api/object.ts';
import { terminalError } from '../../base/errors.ts';
import { isAlreadyExists } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { namespaceOf } from '../control-plane/ownership.ts';

/** On ClusterImageSets, which are in no namespace and so have no owner: the control plane that made it (X19). */
export const IMAGE_SET_OWNER = 'controlplane.cluster.x-k8s.io/owned-by';

type ControlPlane = OpenshiftAssistedControlPlane;

const ownerText = (object: ControlPlane): string => keyText(keyOf(object));

/** Its name, and the one that it takes where another cluster has that. Pure. */
export const imageSetNames = (object: ControlPlane): readonly [string, string] => [
  object.metadata.name,
  `${namespaceOf(object)}-${object.metadata.name}`,
];

export const isImageSetOf = ({ metadata }: ClusterImageSet, object: ControlPlane): boolean =>
  metadata.annotations?.[IMAGE_SET_OWNER] === ownerText(object);

/**
 * Ours, or one that nobody marked and that our installation uses already: made by the provider which this one replaces.
 * Pure.
 */
function isUsable(set: ClusterImageSet, object: ControlPlane, install: AgentClusterInstall | undefined): boolean {
  const isUnmarked = set.metadata.annotations?.[IMAGE_SET_OWNER] === undefined;
  return isImageSetOf(set, object) || (isUnmarked && install?.spec?.imageSetRef?.name === set.metadata.name);
}

/** The one in use first: that another cluster gives its name back is no reason to take another one. Pure. */
const preferredNames = (object: ControlPlane, install: AgentClusterInstall | undefined): readonly string[] => {
  const used = install?.spec?.imageSetRef?.name;
  return imageSetNames(object).toSorted((a, b) => Number(b === used) - Number(a === used));
};

/** Keeps the ClusterImageSet at the release image, by digest (D3); returns its name. */
export async function ensureImageSet(
  client: KubeClient,
  object: ControlPlane,
  facts: { readonly releaseImage: string; readonly install: AgentClusterInstall | undefined },
): Promise<string> {
  for (const name of preferredNames(object, facts.install)) {
    const found = await client.find(ClusterImageSet, { name });
    if (found === undefined && !(await created(client, desiredImageSet(object, name, facts.releaseImage))))
      continue;
    if (found === undefined) return name;
    if (!isUsable(found, object, facts.install)) continue;
    await update(client, found, desiredImageSet(object, name, facts.releaseImage));
    return name;
  }
  const names = imageSetNames(object).join(' and ');
  throw terminalError(
    'ClusterImageSetConflict',
    `ClusterImageSets ${names} exist and belong to others; delete one of them, or rename the control plane`,
  );
}

const desiredImageSet = (object: ControlPlane, name: string, releaseImage: string): ClusterImageSet => ({
  apiVersion: apiVersionOf(ClusterImageSet),
  kind: ClusterImageSet.kind,
  metadata: { name, annotations: { [IMAGE_SET_OWNER]: ownerText(object) } },
  spec: { releaseImage },
});

/** False when somebody else was faster: then the name is theirs, or the next reconcile finds ours. */
async function created(client: KubeClient, wanted: ClusterImageSet): Promise<boolean> {
  try {
    await client.create(ClusterImageSet, wanted);
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const { name, annotations = {} } = wanted.metadata;
  const found = await client.live.find(ClusterImageSet, { name });
  return found?.metadata.annotations?.[IMAGE_SET_OWNER] === annotations[IMAGE_SET_OWNER];
}

async function update(client: KubeClient, found: ClusterImageSet, wanted: ClusterImageSet): Promise<void> {
  const { name, annotations = {} } = wanted.metadata;
  const isSame =
    found.spec?.releaseImage === wanted.spec?.releaseImage &&
    found.metadata.annotations?.[IMAGE_SET_OWNER] === annotations[IMAGE_SET_OWNER];
  if (isSame) return;
  const body = { metadata: { annotations }, spec: { releaseImage: wanted.spec?.releaseImage ?? '' } };
  await client.patch(ClusterImageSet, { name }, { type: 'merge', body });
}
