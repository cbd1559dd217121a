// What discovery says about the built-in resources, and where their objects are kept.
import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../src/object/json.ts';

export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The part of an APIResource that is looked at. */
interface DiscoveredResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

/** Short-hands of the table: most resources have all verbs, most subresources these three. */
const ALL_VERBS = 'create delete deletecollection get list patch update watch';
const SUBRESOURCE_VERBS = 'get patch update';

/** The rows of one group version. `versions` are all of its group: one of them is the storage version. */
export function resourceRows(
  { group, version }: GroupVersion,
  list: { readonly resources: readonly DiscoveredResource[] },
  candidates: readonly GroupVersion[],
): JsonObject[] {
  const mains = list.resources.filter(({ name }) => !name.includes('/'));
  return mains.map((main) => {
    const subresources = list.resources
      .filter(({ name }) => name.startsWith(`${main.name}/`))
      .map((sub) => subresourceRow(sub, main));
    return {
      name: main.name,
      kind: main.kind,
      singular: main.singularName,
      ...(main.namespaced && { namespaced: true }),
      ...unlessDefault('verbs', main.verbs, ALL_VERBS),
      ...(main.shortNames && { shortNames: [...main.shortNames] }),
      ...(main.categories && { categories: [...main.categories] }),
      ...storedAs({ group, version }, main, candidates),
      ...(subresources.length > 0 && { subresources }),
    };
  });
}

function subresourceRow(sub: DiscoveredResource, main: DiscoveredResource): JsonObject {
  return {
    name: sub.name.slice(main.name.length + 1),
    ...(sub.kind !== main.kind && { kind: sub.kind }),
    ...(sub.group !== undefined && { group: sub.group }),
    ...(sub.version !== undefined && { version: sub.version }),
    ...unlessDefault('verbs', sub.verbs, SUBRESOURCE_VERBS),
  };
}

const unlessDefault = (key: string, verbs: readonly string[], usual: string): JsonObject =>
  verbs.join(' ') === usual ? {} : { [key]: [...verbs] };

/** Discovery gives only a hash of what a resource is stored as; it is told by trying. */
function storedAs(own: GroupVersion, main: DiscoveredResource, candidates: readonly GroupVersion[]): JsonObject {
  if (main.storageVersionHash === undefined) return { isStored: false };
  const stored = [own, ...candidates].find(
    ({ group, version }) => hashOf(`${group}/${version}/${main.kind}`) === main.storageVersionHash,
  );
  // Upstream keeps a few kinds in a version that is not served. We keep what we serve, and only tell the same hash.
  if (stored === undefined) return { storageVersionHash: main.storageVersionHash };
  const isOwn = stored.group === own.group && stored.version === own.version;
  return isOwn ? {} : { storedAs: { group: stored.group, version: stored.version } };
}

const hashOf = (text: string): string =>
  createHash('sha256').update(text).digest().subarray(0, 8).toString('base64');

/** The protobuf and schema package of each group version, found by a kind that belongs to it. */
export function packageOf({ group, version }: GroupVersion, schemas: Iterable<readonly [string, Json]>): string {
  for (const [name, schema] of schemas) {
    const kinds = isJsonObject(schema) ? schema['x-kubernetes-group-version-kind'] : undefined;
    // Options belong to every group; a kind of the group itself has only one.
    const [kind] = Array.isArray(kinds) && kinds.length === 1 ? kinds : [];
    if (isJsonObject(kind) && kind['group'] === group && kind['version'] === version) {
      return name.slice(0, name.lastIndexOf('.'));
    }
  }
  throw new Error(`no schema belongs to ${group}/${version}`);
}
