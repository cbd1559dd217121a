import type { JsonObject } from '../../object/json.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { finalizersOf } from '../rest/object-meta.ts';
import { listPrefix } from '../rest/services.ts';
import type { Entry, Store } from '../store/store.ts';
import type { Remains } from './namespace-conditions.ts';
import { collectionPath, objectPath, RequestFailed, type SelfRequests } from './self-requests.ts';
import type { StoredObjects } from './stored-objects.ts';

export interface ContentServices {
  readonly store: Store;
  readonly registry: Registry;
  readonly objects: StoredObjects;
  readonly requests: SelfRequests;
}

/** How much of a namespace is left. */
export interface Emptied {
  readonly remains: Remains;
  readonly isEmpty: boolean;
}

// Dependents go because everything goes: nobody has to wait for the garbage collector, and nothing is orphaned.
const OPTIONS: JsonObject = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' };

/** Deletes everything in a namespace, pods before all else (G2), and tells what is still there. */
export async function emptyNamespace(services: ContentServices, namespace: string): Promise<Emptied> {
  const resources = contentKinds(services.registry);
  const isPod = ({ group, plural }: Resource) => group === '' && plural === 'pods';
  const pods = await deleteKinds(services, namespace, resources.filter(isPod));
  // As upstream: while pods are left nothing else is touched, and the conditions do not speak of them.
  if (pods.resources.size > 0) {
    return { isEmpty: false, remains: { ...NOTHING, problems: pods.problems } };
  }
  const others = resources.filter((resource) => !isPod(resource));
  const remains = await deleteKinds(services, namespace, others);
  const problems = [...pods.problems, ...remains.problems];
  return { isEmpty: remains.resources.size === 0, remains: { ...remains, problems } };
}

const NOTHING: Remains = { resources: new Map(), finalizers: new Map(), problems: [] };

/** Every kind that can be in a namespace, each group and plural once. */
function contentKinds(registry: Registry): readonly Resource[] {
  const kinds = new Map<string, Resource>();
  for (const resource of registry.all()) {
    const { group, plural, version, storageVersion, isNamespaced, verbs } = resource;
    if (!isNamespaced || !verbs.includes('delete')) continue;
    const name = `${plural}.${group}`;
    if (!kinds.has(name) || version === storageVersion) kinds.set(name, resource);
  }
  return [...kinds.values()];
}

async function deleteKinds(
  services: ContentServices,
  namespace: string,
  kinds: readonly Resource[],
): Promise<Remains> {
  const present = kinds.filter((resource) => services.store.count(listPrefix(resource, namespace)) > 0);
  const problems: string[] = [];
  await Promise.all(
    present.map(async (resource) => {
      try {
        await deleteAll(services, resource, namespace);
      } catch (error) {
        if (!(error instanceof RequestFailed)) throw error;
        problems.push(error.message);
      }
    }),
  );
  const resources = new Map<string, number>();
  const finalizers = new Map<string, number>();
  for (const resource of present) {
    const left = [...services.store.list(listPrefix(resource, namespace))];
    if (left.length > 0) resources.set(`${resource.plural}.${resource.group}`, left.length);
    countFinalizers(services, resource, left, finalizers);
  }
  return { resources, finalizers, problems };
}

async function deleteAll(services: ContentServices, resource: Resource, namespace: string): Promise<void> {
  const { requests, store } = services;
  if (resource.verbs.includes('deletecollection')) {
    await requests.delete(collectionPath(resource, namespace), OPTIONS);
    return;
  }
  const prefix = listPrefix(resource, namespace);
  const names = [...store.list(prefix)].map(({ key }) => key.slice(prefix.length));
  for (const name of names) await requests.delete(objectPath(resource, namespace, name), OPTIONS);
}

function countFinalizers(
  { objects }: ContentServices,
  resource: Resource,
  entries: readonly Entry[],
  counts: Map<string, number>,
): void {
  for (const entry of entries) {
    for (const finalizer of finalizersOf(metadataOf(objects.read(entry, resource)))) {
      counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
    }
  }
}
