import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { parseJsonBytes, stringifyJson } from '../../object/json-text.ts';
import type { Registry } from '../registry/registry.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import type { Entry, Render } from '../store/store.ts';

/** Turns objects of one resource from one version into another. All have the same resource, not the same version. */
export interface Converter {
  /** Synchronous unless a webhook has to be asked. */
  convert(objects: readonly JsonObject[], to: Resource): Promise<readonly JsonObject[]> | readonly JsonObject[];
}

type Maybe<T> = T | Promise<T>;
type FieldReader = (object: JsonObject) => string;

// Parsed objects are several times as large as their bytes (I7): only what is in use stays parsed.
const PARSED_LIMIT = 2000;

/** Between stored bytes and objects (I2, I3). Objects it gives out are shared: nobody may change them. */
export class Codec {
  readonly #registry: Registry;
  readonly #converter: Converter;
  readonly #parsed = new Map<Entry, JsonObject>();
  readonly #labels = new WeakMap<Entry, JsonObject>();
  /** By what reads them: one or two for each. */
  readonly #fields = new WeakMap<Entry, Map<FieldReader, string>>();
  /** Bytes in a version or under a schema other than the stored one, by resource. */
  readonly #derived = new WeakMap<Resource, WeakMap<Entry, Uint8Array>>();
  readonly #prefixes = new WeakMap<Resource, Uint8Array>();
  /** Entries from this revision on were written under the schema that is served now. */
  readonly #since = new WeakMap<Resource, number>();

  constructor(registry: Registry, converter: Converter) {
    this.#registry = registry;
    this.#converter = converter;
  }

  /** Says that objects of a custom resource before `revision` may lack defaults of its schema (X10). */
  servedSince(resource: Resource, revision: number): void {
    this.#since.set(resource, revision);
  }

  /** The object as stored: in the storage version, with kind and apiVersion. */
  stored(entry: Entry, resource: Resource): JsonObject {
    const known = this.#parsed.get(entry);
    if (known !== undefined) return known;
    const { value } = parseJsonBytes(entry.bytes);
    if (!isJsonObject(value)) throw new Error(`${entry.key} does not hold an object`);
    const object = resource.isCustom
      ? value
      : {
          kind: resource.kind,
          apiVersion: storageApiVersion(resource),
          ...value,
        };
    this.remember(entry, object);
    return object;
  }

  /** Keeps an object that was just written, so that nobody has to parse it again. */
  remember(entry: Entry, object: JsonObject): void {
    if (this.#parsed.size >= PARSED_LIMIT) {
      const oldest = this.#parsed.keys().next().value;
      if (oldest !== undefined) this.#parsed.delete(oldest);
    }
    this.#parsed.set(entry, object);
  }

  /** The object in the version of `resource`, with the defaults of its schema. */
  read(entry: Entry, resource: Resource): Maybe<JsonObject> {
    const stored = this.stored(entry, resource);
    if (this.#isNative(entry, resource)) return stored;
    const converted = this.#converter.convert([stored], resource);
    return converted instanceof Promise ? converted.then(([object = stored]) => object) : (converted[0] ?? stored);
  }

  /** The same for many; one call of a conversion webhook for all (X34). */
  async readAll(entries: readonly Entry[], resource: Resource): Promise<readonly JsonObject[]> {
    const stored = entries.map((entry) => this.stored(entry, resource));
    const isNative = entries.every((entry) => this.#isNative(entry, resource));
    return isNative ? stored : await this.#converter.convert(stored, resource);
  }

  /** Objects in another version of their resource. */
  convert(objects: readonly JsonObject[], to: Resource): Maybe<readonly JsonObject[]> {
    return this.#converter.convert(objects, to);
  }

  /** The bytes of one object for a client, kind and apiVersion included. */
  body(entry: Entry, resource: Resource): Maybe<readonly Uint8Array[]> {
    const item = this.item(entry, resource);
    return item instanceof Promise
      ? item.then((bytes) => this.withKind(bytes, resource))
      : this.withKind(item, resource);
  }

  /** The bytes of one object as a list holds it: built-ins without kind and apiVersion (C8). */
  item(entry: Entry, resource: Resource): Maybe<Uint8Array> {
    if (this.#isNative(entry, resource)) return entry.bytes;
    const known = this.#derivedOf(resource).get(entry);
    if (known !== undefined) return known;
    const object = this.read(entry, resource);
    const keep = (value: JsonObject) => {
      const bytes = encode(value, resource);
      this.#derivedOf(resource).set(entry, bytes);
      return bytes;
    };
    return object instanceof Promise ? object.then(keep) : keep(object);
  }

  /** All items of a list; one call of a conversion webhook for all that need it (X34). */
  async items(entries: readonly Entry[], resource: Resource): Promise<readonly Uint8Array[]> {
    const foreign = entries.filter(
      (entry) => !this.#isNative(entry, resource) && !this.#derivedOf(resource).has(entry),
    );
    if (foreign.length > 0) {
      const objects = await this.#converter.convert(
        foreign.map((entry) => this.stored(entry, resource)),
        resource,
      );
      foreign.forEach((entry, index) => {
        const object = objects[index];
        if (object !== undefined) this.#derivedOf(resource).set(entry, encode(object, resource));
      });
    }
    return entries.map((entry) =>
      this.#isNative(entry, resource) ? entry.bytes : (this.#derivedOf(resource).get(entry) ?? entry.bytes),
    );
  }

  withKind(bytes: Uint8Array, resource: Resource): readonly Uint8Array[] {
    if (resource.isCustom) return [bytes];
    return [this.#prefix(resource), bytes.subarray(1)];
  }

  /** Converts an object of the request's version to what is stored; `render` puts the revision in. */
  toStorage(object: JsonObject, resource: Resource): Maybe<JsonObject> {
    if (isStorage(resource)) return object;
    const storage = this.#registry.storageOf(resource);
    if (storage === undefined) return { ...object, apiVersion: storageApiVersion(resource) };
    const converted = this.#converter.convert([object], storage);
    return converted instanceof Promise ? converted.then(([first = object]) => first) : (converted[0] ?? object);
  }

  /** What to hand to the store for an object in the storage version. The object keeps the revision it gets. */
  renderer(object: JsonObject, resource: Resource): Render {
    return (revision) => {
      setResourceVersion(object, revision);
      return encode(object, resource);
    };
  }

  /** Labels by which lists and watches select; parsed at most once per state. */
  labels(entry: Entry, resource: Resource): JsonObject {
    const known = this.#labels.get(entry);
    if (known !== undefined) return known;
    const labels = labelsOf(this.stored(entry, resource));
    this.#labels.set(entry, labels);
    return labels;
  }

  /** A field by which lists and watches select; read at most once per state, though many may ask for it again. */
  field(entry: Entry, resource: Resource, read: FieldReader): string {
    const known = this.#fields.get(entry) ?? new Map<FieldReader, string>();
    const found = known.get(read) ?? read(this.stored(entry, resource));
    this.#fields.set(entry, known.set(read, found));
    return found;
  }

  /** Whether the stored bytes are what a client of this resource gets. */
  #isNative(entry: Entry, resource: Resource): boolean {
    if (!isStorage(resource)) return false;
    return !resource.isCustom || entry.revision >= (this.#since.get(resource) ?? 0);
  }

  #derivedOf(resource: Resource): WeakMap<Entry, Uint8Array> {
    let derived = this.#derived.get(resource);
    if (derived === undefined) {
      derived = new WeakMap();
      this.#derived.set(resource, derived);
    }
    return derived;
  }

  #prefix(resource: Resource): Uint8Array {
    let prefix = this.#prefixes.get(resource);
    if (prefix === undefined) {
      prefix = Buffer.from(
        `{"kind":${JSON.stringify(resource.kind)},"apiVersion":${JSON.stringify(apiVersionOf(resource))},`,
      );
      this.#prefixes.set(resource, prefix);
    }
    return prefix;
  }
}

/** Whether objects are stored as this resource in this version. */
const isStorage = ({ version, storageVersion, group, storageGroup = group }: Resource): boolean =>
  version === storageVersion && group === storageGroup;

const storageApiVersion = ({ group, storageGroup = group, storageVersion }: Resource): string =>
  apiVersionOf({ group: storageGroup, version: storageVersion });

const NO_LABELS: JsonObject = Object.freeze({});

export function labelsOf(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isJsonObject(metadata) || !isJsonObject(metadata['labels'])) return NO_LABELS;
  return metadata['labels'];
}

export function setResourceVersion(object: JsonObject, revision: number): void {
  const { metadata } = object;
  if (isJsonObject(metadata)) metadata['resourceVersion'] = String(revision);
}

/** Bytes as they are stored and listed: built-ins without kind and apiVersion. */
function encode(object: JsonObject, resource: Resource): Uint8Array {
  if (resource.isCustom) return Buffer.from(stringifyJson(object));
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return Buffer.from(stringifyJson(rest));
}
