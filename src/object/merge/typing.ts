import type { Schema } from '../../api/schema/structural.ts';
import type { Json } from '../json.ts';
import { OBJECT_META } from '../validation/object-meta.ts';

export type Scalar = 'numeric' | 'string' | 'boolean' | 'untyped';

/**
 * How a value is owned (spec 13.1). A schema without a type allows several forms; the value then decides. Map goes before
 * scalar and list where it does not (a null).
 */
export interface Ownership {
  readonly scalar?: Scalar;
  readonly list?: ListOwnership;
  readonly map?: MapOwnership;
}

export interface ListOwnership {
  /** Owned as a whole. */
  readonly isAtomic: boolean;
  /** Items are told apart by these fields, sorted; empty for a set of scalars. */
  readonly keys: readonly string[];
  readonly element: Ownership;
  /** The value a key field has when an item leaves it out; `null` if none. */
  readonly keyDefault: (key: string) => Json;
}

/** A map or a structure. Made on demand: schemas may refer to themselves. */
export class MapOwnership {
  readonly isAtomic: boolean;
  readonly #properties: Readonly<Record<string, Schema>> | undefined;
  readonly #preserves: boolean;
  readonly #declared = new Map<string, Ownership>();
  readonly #element: () => Ownership | undefined;
  #elementMade: Ownership | undefined;

  constructor(schema: Schema, preserves: boolean) {
    this.isAtomic = schema['x-kubernetes-map-type'] === 'atomic';
    this.#properties = withIdentity(schema);
    this.#preserves = preserves;
    this.#element = elementOf(schema, preserves, this.#properties !== undefined);
  }

  /** Nothing is declared and anything goes: upstream does not reconcile such a map with schema changes. */
  get isFree(): boolean {
    return this.#properties === undefined && this.#elementOwnership()?.scalar === 'untyped';
  }

  /** The ownership of a field that the schema names. */
  declared(name: string): Ownership | undefined {
    if (this.#properties === undefined) return undefined;
    const known = this.#declared.get(name);
    if (known !== undefined) return known;
    const schema = Object.hasOwn(this.#properties, name) ? this.#properties[name] : undefined;
    if (schema === undefined) return undefined;
    const made = ownershipOf(schema, this.#preserves);
    this.#declared.set(name, made);
    return made;
  }

  /** The ownership of any field; `undefined` if the schema does not allow it. */
  at(name: string): Ownership | undefined {
    return this.declared(name) ?? this.#elementOwnership();
  }

  #elementOwnership(): Ownership | undefined {
    return (this.#elementMade ??= this.#element());
  }

  defaultOf(name: string): Json {
    const properties = this.#properties;
    if (properties === undefined || !Object.hasOwn(properties, name)) return null;
    return properties[name]?.default ?? null;
  }
}

const ATOMIC: Ownership = {
  scalar: 'untyped',
  get list() {
    return ATOMIC_LIST;
  },
  get map() {
    return ATOMIC_MAP;
  },
};
const ATOMIC_LIST: ListOwnership = { isAtomic: true, keys: [], element: ATOMIC, keyDefault: () => null };
const ATOMIC_MAP = new MapOwnership({ 'x-kubernetes-map-type': 'atomic' }, false);
/** What nobody described: maps by key, lists and scalars as a whole. */
const DEDUCED: Ownership = { scalar: 'untyped', list: ATOMIC_LIST, map: new MapOwnership({}, false) };

function elementOf(schema: Schema, preserves: boolean, hasProperties: boolean): () => Ownership | undefined {
  const extra = schema.additionalProperties;
  if (typeof extra === 'object') return () => ownershipOf(extra, preserves);
  if (extra === undefined ? preserves || !hasProperties : extra) return () => DEDUCED;
  return () => undefined;
}

/** An embedded resource has the fields of every object, whatever its schema says about them. */
function withIdentity(schema: Schema): Readonly<Record<string, Schema>> | undefined {
  const { properties } = schema;
  if (schema['x-kubernetes-embedded-resource'] === true) return { ...properties, ...IDENTITY };
  return properties === undefined || Object.keys(properties).length === 0 ? undefined : properties;
}

const IDENTITY: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string' },
  kind: { type: 'string' },
  metadata: OBJECT_META,
};

interface Made {
  plain?: Ownership;
  preserving?: Ownership;
}
const made = new WeakMap<Schema, Made>();
const roots = new WeakMap<Schema, Ownership>();

/** The ownership of whole objects of a kind. */
export function objectOwnership(schema: Schema): Ownership {
  const known = roots.get(schema);
  if (known !== undefined) return known;
  // A free-form object has identity fields too, but then it is no longer free-form: upstream declares them first.
  const root = ownershipOf(
    { ...schema, type: 'object', properties: { ...schema.properties, ...IDENTITY } },
    false,
  );
  roots.set(schema, root);
  return root;
}

/** `preserves`: a node above allows unknown fields, which holds for everything below it. */
function ownershipOf(schema: Schema, preserves: boolean): Ownership {
  // ObjectMeta is a type of its own: what is around it does not matter.
  const inherits =
    schema !== OBJECT_META && (preserves || schema['x-kubernetes-preserve-unknown-fields'] === true);
  const entry = made.get(schema) ?? {};
  const known = inherits ? entry.preserving : entry.plain;
  if (known !== undefined) return known;
  const ownership = ownershipMade(schema, inherits);
  made.set(schema, inherits ? { ...entry, preserving: ownership } : { ...entry, plain: ownership });
  return ownership;
}

function ownershipMade(schema: Schema, preserves: boolean): Ownership {
  switch (schema.type) {
    case 'object':
      return { map: new MapOwnership(schema, preserves) };
    case 'array':
      return { list: listOwnership(schema, preserves) };
    case undefined:
      return isQuantity(schema)
        ? { scalar: 'untyped' }
        : { scalar: 'untyped', list: listOwnership(schema, preserves), map: new MapOwnership(schema, preserves) };
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
  }
  return { scalar: scalarOf(schema) };
}

function scalarOf({ type, format }: Schema): Scalar {
  if (type === 'boolean') return 'boolean';
  if (type !== 'string') return 'numeric';
  return format === undefined || isPlainFormat(format) ? 'string' : 'untyped';
}

const isPlainFormat = (format: string): boolean => format === '' || format === 'byte';

/** A quantity is a string or a number and nothing else, so it is never mistaken for a map. */
const isQuantity = ({ oneOf }: Schema): boolean =>
  oneOf?.length === 2 && oneOf[0]?.type === 'string' && oneOf[1]?.type === 'number';

function listOwnership(schema: Schema, preserves: boolean): ListOwnership {
  const { items } = schema;
  const keys = keysOf(schema);
  let element: Ownership | undefined;
  const elementMade = (): Ownership => (element ??= items === undefined ? ATOMIC : ownershipOf(items, preserves));
  return {
    isAtomic: keys === undefined,
    keys: keys ?? [],
    get element() {
      return elementMade();
    },
    keyDefault: (key) => elementMade().map?.defaultOf(key) ?? null,
  };
}

/** The key fields of an associative list, none for a set; `undefined` if the list is owned as a whole. */
function keysOf(schema: Schema): readonly string[] | undefined {
  switch (schema['x-kubernetes-list-type']) {
    case 'map':
      return (schema['x-kubernetes-list-map-keys'] ?? []).toSorted();
    case 'set':
      return [];
    case 'atomic':
      return undefined;
    case undefined:
  }
  const strategy = schema['x-kubernetes-patch-strategy'];
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return undefined;
  const key = schema['x-kubernetes-patch-merge-key'];
  return key === undefined ? [] : [key];
}
