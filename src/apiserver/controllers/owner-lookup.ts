import type { JsonObject } from '../../object/json.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { FOREGROUND_FINALIZER } from '../rest/deletion.ts';
import { finalizersOf } from '../rest/object-meta.ts';
import { keyOf } from '../rest/services.ts';
import type { Store } from '../store/store.ts';
import { contains } from './byte-search.ts';
import type { OwnerIndex, OwnerReference } from './owner-index.ts';
import type { StoredObjects } from './stored-objects.ts';

/** What became of an owner. `misplaced`: it exists, in another namespace than the reference means. */
export type OwnerState =
  | { readonly type: 'solid' }
  | { readonly type: 'waiting'; readonly key: string }
  | { readonly type: 'absent'; readonly isMisplaced: boolean }
  /** Nobody knows the kind: no decision is possible (G9). */
  | { readonly type: 'unknown-kind' }
  /** An object of the cluster cannot have an owner in a namespace (G8). */
  | { readonly type: 'impossible'; readonly isMisplaced: boolean };

export interface LookupServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly objects: StoredObjects;
  readonly index: OwnerIndex;
}

/** Looks for the owner a reference names, from where the dependent is. */
export function lookUpOwner(services: LookupServices, owner: OwnerReference, namespace: string): OwnerState {
  const { index, registry } = services;
  if (index.isGone(owner.uid)) return { type: 'absent', isMisplaced: false };
  const resource = kindOf(registry, owner);
  if (resource === undefined) return { type: 'unknown-kind' };
  if (resource.isNamespaced && namespace === '') {
    return { type: 'impossible', isMisplaced: isElsewhere(services, resource, owner.uid) };
  }
  const found = read(services, resource, namespace, owner);
  if (found === undefined) {
    const isMisplaced = resource.isNamespaced && isElsewhere(services, resource, owner.uid);
    return { type: 'absent', isMisplaced };
  }
  return isWaiting(found) ? { type: 'waiting', key: keyOf(resource, namespace, owner.name) } : { type: 'solid' };
}

/** Whether an owner is being deleted and waits for its dependents (G6). */
export function isWaiting(object: JsonObject): boolean {
  const metadata = metadataOf(object);
  return metadata['deletionTimestamp'] !== undefined && finalizersOf(metadata).includes(FOREGROUND_FINALIZER);
}

function kindOf(registry: Registry, { apiVersion, kind }: OwnerReference): Resource | undefined {
  const slash = apiVersion.indexOf('/');
  return registry.findKind(apiVersion.slice(0, Math.max(slash, 0)), apiVersion.slice(slash + 1), kind);
}

function read(
  { store, objects }: LookupServices,
  resource: Resource,
  namespace: string,
  owner: OwnerReference,
): JsonObject | undefined {
  const key = keyOf(resource, namespace, owner.name);
  // An owner on its way to the disk is there; one on its way out is, until its removal is seen.
  for (const entry of [store.get(key), store.head(key)]) {
    if (entry === undefined) continue;
    const object = objects.read(entry, resource);
    if (metadataOf(object)['uid'] === owner.uid) return object;
  }
  return undefined;
}

/** Whether another namespace has the object. Rare, so it is looked for instead of kept in mind for every object. */
const isElsewhere = (services: LookupServices, resource: Resource, uid: string): boolean =>
  services.index.searched(uid, resource.prefix, () => search(services, resource, uid));

function search({ store, objects }: LookupServices, resource: Resource, uid: string): boolean {
  const needle = `"uid":"${uid}"`;
  for (const entry of store.list(resource.prefix)) {
    if (!contains(entry.bytes, needle)) continue;
    if (metadataOf(objects.read(entry, resource))['uid'] === uid) return true;
  }
  return false;
}
