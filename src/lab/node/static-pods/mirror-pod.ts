import type { Node, Pod } from '../../../api/generated/core-v1-types.ts';
import type { CreateOf } from '../../../api/object.ts';
import { CONFIG_HASH, CONFIG_MIRROR } from './static-pod.ts';

/** What is to be done about the object that shows a static pod. */
export type MirrorStep =
  | { readonly kind: 'none' }
  | { readonly kind: 'create'; readonly pod: Pod }
  | { readonly kind: 'delete'; readonly mirror: Pod }
  /** Somebody else's pod has the name. */
  | { readonly kind: 'taken' };

/** Pure: the next step towards a mirror that shows exactly the static pod of its name, or no mirror without one (N38). */
export function mirrorStep(wanted: Pod | undefined, found: Pod | undefined, node: string): MirrorStep {
  if (wanted === undefined) {
    return found !== undefined && isMirrorOn(found, node) ? { kind: 'delete', mirror: found } : { kind: 'none' };
  }
  if (found === undefined) return { kind: 'create', pod: wanted };
  const shown = found.metadata.annotations?.[CONFIG_MIRROR];
  if (shown === undefined) return { kind: 'taken' };
  const isShown =
    shown === wanted.metadata.annotations?.[CONFIG_HASH] &&
    found.spec.nodeName === node &&
    found.metadata.deletionTimestamp === undefined;
  return isShown ? { kind: 'none' } : { kind: 'delete', mirror: found };
}

/** Whether a pod is the mirror of a static pod of this node. */
export const isMirrorOn = ({ metadata, spec }: Pod, node: string): boolean =>
  metadata.annotations?.[CONFIG_MIRROR] !== undefined && spec.nodeName === node;

/** Pure: the object that shows a static pod; it goes with its Node. */
export function mirrorOf({ metadata, spec }: Pod, node: Node): CreateOf<Pod> {
  const { name, namespace, labels, annotations = {} } = metadata;
  const owner = { apiVersion: 'v1', kind: 'Node', name: node.metadata.name, uid: node.metadata.uid ?? '' };
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels !== undefined && { labels }),
      annotations: { ...annotations, [CONFIG_MIRROR]: annotations[CONFIG_HASH] ?? '' },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec,
  };
}
