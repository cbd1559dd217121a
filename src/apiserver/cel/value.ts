import type { Json, JsonObject } from '../../object/json.ts';

/**
 * A value while a rule runs. Integers are `bigint`, doubles `number`; everything JavaScript has no type for is one of the
 * classes below, so that `instanceof` tells the types apart.
 */
export type Value = null | boolean | bigint | number | string | Uint8Array | CelObject;

/** An evaluation that failed: absorbed by `&&`, `||` and the quantifiers when the other side decides. */
export class CelError extends Error {}

/** The rule used up its budget. Nothing absorbs this. */
export class CostError extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded');
  }
}

export const noSuchOverload = (): CelError => new CelError('no such overload');

/** Base of all values that are objects in JavaScript; `typeName` is what `type(value)` gives. */
export abstract class CelObject {
  abstract readonly typeName: string;
}

export class Uint extends CelObject {
  readonly typeName = 'uint';
  readonly value: bigint;
  constructor(value: bigint) {
    super();
    if (value < 0n || value > MAX_UINT) throw new CelError('unsigned integer overflow');
    this.value = value;
  }
}

/** Nanoseconds since 1970, within the years 1 to 9999. */
export class Timestamp extends CelObject {
  readonly typeName = 'google.protobuf.Timestamp';
  readonly nanos: bigint;
  /** Minutes east of UTC of the zone it was written in; matters only when it becomes a string again. */
  readonly offset: number;
  constructor(nanos: bigint, offset = 0) {
    super();
    if (nanos < MIN_TIMESTAMP || nanos > MAX_TIMESTAMP) throw new CelError('timestamp overflow');
    this.nanos = nanos;
    this.offset = offset;
  }
}

export class Duration extends CelObject {
  readonly typeName = 'google.protobuf.Duration';
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    super();
    if (nanos < MIN_INT || nanos > MAX_INT) throw new CelError('duration overflow');
    this.nanos = nanos;
  }
}

export class TypeValue extends CelObject {
  readonly typeName = 'type';
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
}

export class Optional extends CelObject {
  static readonly none = new Optional(undefined);
  readonly typeName = 'optional_type';
  /** `undefined` is the empty optional. */
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    super();
    this.value = value;
  }
}

/** How a list compares and adds: lists of type set and map have no order, atomic lists (`undefined`) do. */
export type ListIdentity = 'set' | { readonly keys: readonly string[] } | undefined;
export type Convert = (json: Json) => Value;

/** A list of values, or a list of JSON values that are converted when somebody looks. */
export class CelList extends CelObject {
  readonly typeName = 'list';
  readonly size: number;
  readonly identity: ListIdentity;
  readonly #items: (Value | undefined)[];
  readonly #json: readonly Json[] | undefined;
  readonly #convert: Convert | undefined;

  constructor(items: readonly Value[] | { json: readonly Json[]; convert: Convert }, identity?: ListIdentity) {
    super();
    this.identity = identity;
    if ('json' in items) {
      this.#items = [];
      this.#json = items.json;
      this.#convert = items.convert;
      this.size = items.json.length;
    } else {
      this.#items = items as Value[];
      this.size = items.length;
    }
  }

  at(index: number): Value {
    const known = this.#items[index];
    if (known !== undefined) return known;
    const json = this.#json?.[index];
    if (json === undefined || this.#convert === undefined) throw new CelError(`index out of bounds: ${index}`);
    const value = this.#convert(json);
    this.#items[index] = value;
    return value;
  }

  values(): Value[] {
    return Array.from({ length: this.size }, (_, index) => this.at(index));
  }
}

export abstract class CelMap extends CelObject {
  readonly typeName = 'map';
  abstract readonly size: number;
  /** `undefined` when there is no such key. */
  abstract find(key: Value): Value | undefined;
  abstract keys(): Value[];
}

/** A map that an expression built. Keys of equal numbers are one key, whatever their type. */
export class EntryMap extends CelMap {
  readonly #entries = new Map<string, readonly [Value, Value]>();

  get size(): number {
    return this.#entries.size;
  }

  find(key: Value): Value | undefined {
    const id = keyId(key);
    return id === undefined ? undefined : this.#entries.get(id)?.[1];
  }

  keys(): Value[] {
    return [...this.#entries.values()].map(([key]) => key);
  }

  /** Replaces the value of a key that is there already. */
  set(key: Value, value: Value): void {
    const id = keyId(key);
    if (id === undefined) throw new CelError(`unsupported key type: ${typeNameOf(key)}`);
    this.#entries.set(id, [key, value]);
  }
}

/** How a JSON object looks from a rule: which JSON key an expression's key means, and how its value converts. */
export interface Shape {
  /** The key in the JSON object; `undefined` when the rule cannot name it. */
  jsonKey(key: string): string | undefined;
  /** The inverse of `jsonKey`; `undefined` hides the key. */
  celKey(jsonKey: string): string | undefined;
  convert(jsonKey: string): Convert | undefined;
  /** Objects with properties treat null as absent. */
  readonly isNullAbsent: boolean;
}

export class JsonMap extends CelMap {
  readonly json: JsonObject;
  readonly shape: Shape;
  #size: number | undefined;

  constructor(json: JsonObject, shape: Shape) {
    super();
    this.json = json;
    this.shape = shape;
  }

  /** Counts what is hidden too, as upstream does. */
  get size(): number {
    this.#size ??= Object.keys(this.json).length;
    return this.#size;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') throw noSuchOverload();
    const jsonKey = this.shape.jsonKey(key);
    if (jsonKey === undefined || !Object.hasOwn(this.json, jsonKey)) return undefined;
    const json = this.json[jsonKey];
    if (json === undefined || (json === null && this.shape.isNullAbsent)) return undefined;
    return this.shape.convert(jsonKey)?.(json);
  }

  keys(): Value[] {
    return Object.keys(this.json)
      .map((key) => this.shape.celKey(key))
      .filter((key) => key !== undefined);
  }
}

export const MAX_INT = 2n ** 63n - 1n;
export const MIN_INT = -(2n ** 63n);
const MAX_UINT = 2n ** 64n - 1n;
const NANOS = 1_000_000_000n;
const MIN_TIMESTAMP = -62135596800n * NANOS;
const MAX_TIMESTAMP = 253402300800n * NANOS - 1n;

/** An int64; beyond is an error, never a wrap-around. */
export function int64(value: bigint): bigint {
  if (value > MAX_INT || value < MIN_INT) throw new CelError('integer overflow');
  return value;
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  boolean: 'bool',
  bigint: 'int',
  number: 'double',
  string: 'string',
};

export function typeNameOf(value: Value): string {
  if (value === null) return 'null_type';
  if (typeof value !== 'object') return TYPE_NAMES[typeof value] ?? 'dyn';
  return value instanceof CelObject ? value.typeName : 'bytes';
}

/** Numbers of equal value have one identity; values that cannot be keys have none. */
export function keyId(key: Value): string | undefined {
  if (typeof key === 'string') return `s${key}`;
  if (typeof key === 'bigint') return `n${key}`;
  if (typeof key === 'boolean') return `b${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  return typeof key === 'number' && Number.isInteger(key) ? `n${BigInt(key)}` : undefined;
}

/** A value in a message. */
export function shown(value: Value): string {
  if (value instanceof Uint) return String(value.value);
  if (value instanceof TypeValue) return value.name;
  return value !== null && typeof value === 'object' ? typeNameOf(value) : String(value);
}

/** Code points, not UTF-16 units. */
export function codePointLength(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit < 0xdc00) {
      count--;
      index++;
    }
  }
  return count;
}

/** What `size()` counts and what the cost of a call depends on; 1 for what has no size. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return codePointLength(value);
  if (value === null || typeof value !== 'object') return 1;
  if (value instanceof Uint8Array) return value.length;
  if (value instanceof CelList || value instanceof CelMap) return value.size;
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value);
  return 1;
}
