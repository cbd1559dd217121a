import type { Resource } from './resource.ts';

/** Every resource that is served, built-in and custom. Changes are seen by the next request. */
export class Registry {
  readonly #byPath = new Map<string, Resource>();
  readonly #byKind = new Map<string, Resource>();
  readonly #custom = new Map<string, readonly Resource[]>();
  readonly #builtins: readonly Resource[];
  readonly #builtinGroups: ReadonlySet<string>;
  readonly #listeners = new Set<() => void>();
  #all: readonly Resource[] | undefined;
  #generation = 1;

  constructor(builtins: readonly Resource[]) {
    this.#builtins = builtins;
    this.#builtinGroups = new Set(builtins.map(({ group }) => group));
    for (const resource of builtins) this.#add(resource);
  }

  /** Goes up with every change of what is served; caches of documents are keyed by it. */
  get generation(): number {
    return this.#generation;
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#byPath.get(pathKey(group, version, plural));
  }

  findKind(group: string, version: string, kind: string): Resource | undefined {
    return this.#byKind.get(pathKey(group, version, kind));
  }

  isBuiltinGroup(group: string): boolean {
    return this.#builtinGroups.has(group);
  }

  all(): readonly Resource[] {
    this.#all ??= [...this.#builtins, ...[...this.#custom.values()].flat()];
    return this.#all;
  }

  /** Resources that are stored, each once: in the version they are stored in. */
  stored(): readonly Resource[] {
    return this.all().filter(
      ({ group, storageGroup = group, version, storageVersion, verbs }) =>
        version === storageVersion && group === storageGroup && verbs.includes('list'),
    );
  }

  /** The resource in the version its objects are stored in; undefined when that version is not served. */
  storageOf(resource: Resource): Resource | undefined {
    return this.find(resource.storageGroup ?? resource.group, resource.storageVersion, resource.plural);
  }

  /** All served versions of the resource whose objects live below a prefix. */
  versionsOf(prefix: string): readonly Resource[] {
    return this.all().filter((resource) => resource.prefix === prefix);
  }

  /** Replaces what one CustomResourceDefinition serves; an empty list removes it. */
  setCustom(definition: string, resources: readonly Resource[]): void {
    for (const resource of this.#custom.get(definition) ?? []) this.#drop(resource);
    if (resources.length === 0) this.#custom.delete(definition);
    else this.#custom.set(definition, resources);
    for (const resource of resources) this.#add(resource);
    this.#all = undefined;
    this.#generation++;
    for (const listener of this.#listeners) listener();
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  #add(resource: Resource): void {
    const { group, version, plural, kind } = resource;
    this.#byPath.set(pathKey(group, version, plural), resource);
    this.#byKind.set(pathKey(group, version, kind), resource);
  }

  #drop({ group, version, plural, kind }: Resource): void {
    this.#byPath.delete(pathKey(group, version, plural));
    this.#byKind.delete(pathKey(group, version, kind));
  }
}

const pathKey = (group: string, version: string, name: string): string => `${group}/${version}/${name}`;
