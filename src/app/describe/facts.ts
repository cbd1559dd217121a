import type { Node } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/object.ts';
import type { Listing } from './hub.ts';
import { type GroupKind, kindText } from './known-kinds.ts';
import type { Reference } from './object-fields.ts';

/** What is known of the Nodes of the cluster that is described. */
export type NodeFacts =
  | { readonly type: 'read'; readonly nodes: readonly Node[] }
  /** There should be some, but nobody answers, or nobody may ask. */
  | { readonly type: 'unread'; readonly why: string }
  /** Its control plane is not there yet, or nobody asked for them. */
  | { readonly type: 'none' };

/** Everything that was read of one cluster, at one moment. Plain objects: what they mean is decided elsewhere. */
export interface ClusterFacts {
  readonly at: Date;
  readonly cluster: KubeObject;
  /** By {@link kindText}; a kind that nobody needed to ask for is absent. */
  readonly listings: ReadonlyMap<string, Listing>;
  readonly nodes: NodeFacts;
}

/** What a reference led to. */
export type Looked =
  | { readonly type: 'found'; readonly object: KubeObject }
  | { readonly type: 'missing'; readonly why: string }
  | { readonly type: 'unread'; readonly why: string };

export const listingOf = ({ listings }: ClusterFacts, kind: GroupKind): Listing | undefined =>
  listings.get(kindText(kind));

export const objectsOf = (facts: ClusterFacts, kind: GroupKind): readonly KubeObject[] =>
  listingOf(facts, kind)?.objects ?? [];

/** A reference is followed within the namespace of the cluster, as Cluster API does. */
export function looked(facts: ClusterFacts, reference: Reference): Looked {
  const listing = listingOf(facts, reference);
  const object = listing?.objects.find(({ metadata }) => metadata.name === reference.name);
  if (object !== undefined) return { type: 'found', object };
  const { namespace = '' } = facts.cluster.metadata;
  if (listing === undefined) return { type: 'unread', why: `nobody asked for ${reference.kind}s` };
  if (listing.unread === undefined)
    return { type: 'missing', why: `it is referenced, but not there in namespace ${namespace}` };
  return listing.isServed ? { type: 'unread', why: listing.unread } : { type: 'missing', why: listing.unread };
}
