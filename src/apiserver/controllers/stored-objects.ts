import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes } from '../../object/json-text.ts';
import type { Registry } from '../registry/registry.ts';
import type { Resource } from '../registry/resource.ts';
import type { Codec } from '../rest/codec.ts';
import type { Entry } from '../store/store.ts';

/** Where the key of an object points: `/registry/apps/deployments/` + `ns/name`. */
export interface Place {
  readonly prefix: string;
  readonly namespace: string;
  readonly name: string;
}

/** Segments of a key; undefined for a key that is not one of an object. */
export function placeOf(key: string): Place | undefined {
  const [empty, root, group, plural, first, second, ...rest] = key.split('/');
  if (empty !== '' || root === undefined || group === undefined || plural === undefined) return undefined;
  if (first === undefined || rest.length > 0) return undefined;
  const prefix = `/${root}/${group}/${plural}/`;
  return second === undefined
    ? { prefix, namespace: '', name: first }
    : { prefix, namespace: first, name: second };
}

/** The namespace in a key, without taking the key apart; empty for objects of the cluster. */
export function namespaceInKey(key: string): string {
  const afterPlural = nthSlash(key, 4) + 1;
  const end = afterPlural === 0 ? -1 : key.indexOf('/', afterPlural);
  return end < 0 ? '' : key.slice(afterPlural, end);
}

function nthSlash(text: string, count: number): number {
  let at = -1;
  for (let found = 0; found < count; found++) {
    at = text.indexOf('/', at + 1);
    if (at < 0) return -1;
  }
  return at;
}

export function parseEntry({ bytes }: Entry): JsonObject {
  const { value } = parseJsonBytes(bytes);
  return isJsonObject(value) ? value : {};
}

/** Finds the resource of stored objects; remembers until something else is served. */
export class StoredObjects {
  readonly #registry: Registry;
  readonly #codec: Codec;
  #byPrefix = new Map<string, Resource>();
  #generation = 0;

  constructor(registry: Registry, codec: Codec) {
    this.#registry = registry;
    this.#codec = codec;
  }

  /** The resource whose objects are below a prefix: in the storage version when that is served. */
  resource(prefix: string): Resource | undefined {
    if (this.#generation !== this.#registry.generation) {
      this.#generation = this.#registry.generation;
      this.#byPrefix = byPrefix(this.#registry.all());
    }
    return this.#byPrefix.get(prefix);
  }

  /** The object of an entry; parsed only when it was not written a moment ago. Shared: not to be changed. */
  read(entry: Entry, resource: Resource | undefined): JsonObject {
    return resource === undefined ? parseEntry(entry) : this.#codec.stored(entry, resource);
  }
}

function byPrefix(resources: readonly Resource[]): Map<string, Resource> {
  const found = new Map<string, Resource>();
  for (const resource of resources) {
    const { group, storageGroup = group, version, storageVersion, prefix } = resource;
    const isStorage = version === storageVersion && group === storageGroup;
    if (isStorage || !found.has(prefix)) found.set(prefix, resource);
  }
  return found;
}
