import {
  CLONED_FROM_GROUP_KIND_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
} from '../../api/cluster-api/core-v1beta2.ts';
import type { Metal3Machine, Metal3MachineTemplate } from '../../api/metal3/infrastructure-v1beta2.ts';
import { type Kind, keyOf, type ObjectKey } from '../../api/object.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { hasLiveImage, liveImagePatch } from './live-image.ts';
import type { Metal3Kinds } from './metal3-kinds.ts';

/** The infrastructure machine of a Machine, and the template of the user that it stems from. */
export interface InfraMachine {
  readonly kind: Kind<Metal3Machine>;
  readonly machine: Metal3Machine;
  /** Undefined for one that somebody made by hand. */
  readonly clonedFrom: string | undefined;
}

/** Read from the server: there is no cache, since nobody else here needs these kinds and they may not be served. */
export async function findInfraMachine(
  client: KubeClient,
  { machine: kind, template }: Metal3Kinds,
  key: ObjectKey,
): Promise<InfraMachine | undefined> {
  const machine = await client.live.find(kind, key);
  return machine === undefined ? undefined : { kind, machine, clonedFrom: clonedFrom(machine, template) };
}

/** Pure: what whoever cloned it wrote down. */
function clonedFrom(
  { metadata: { annotations = {} } }: Metal3Machine,
  { kind, group }: Kind<Metal3MachineTemplate>,
): string | undefined {
  const groupKind = annotations[CLONED_FROM_GROUP_KIND_ANNOTATION] ?? `${kind}.${group}`;
  return groupKind === `${kind}.${group}` ? annotations[CLONED_FROM_NAME_ANNOTATION] : undefined;
}

/** Makes a machine boot an ISO; nothing is sent where it does already. */
export async function ensureLiveImage(
  client: KubeClient,
  { kind, machine }: InfraMachine,
  url: string,
): Promise<void> {
  if (hasLiveImage(machine, url, kind.version)) return;
  await client.patch(kind, keyOf(machine), { type: 'merge', body: liveImagePatch(url, kind.version) });
}
