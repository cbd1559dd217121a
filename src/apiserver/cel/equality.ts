import { type Json, jsonEqual } from '../../object/json.ts';
import {
  CelError,
  CelList,
  CelMap,
  CelObject,
  Duration,
  JsonMap,
  keyId,
  noSuchOverload,
  Optional,
  shown,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './value.ts';

/** Values of the Kubernetes libraries bring their own equality. */
export abstract class OpaqueValue extends CelObject {
  abstract equals(other: this): boolean;
}

/** `==` of CEL: numbers compare across their types, anything else of different types is unequal. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (typeof a === 'object') return objectsEqual(a, b);
  return (typeof a === 'bigint' || typeof a === 'number') && numbersEqual(a, b);
}

function numbersEqual(a: bigint | number, b: Value): boolean {
  const other = b instanceof Uint ? b.value : b;
  // biome-ignore lint/suspicious/noDoubleEquals: exactly the comparison of a bigint with a number that is needed.
  return (typeof other === 'bigint' || typeof other === 'number') && a == other;
}

function objectsEqual(a: Exclude<Value, null>, b: Exclude<Value, null>): boolean {
  if (a instanceof CelList) return b instanceof CelList && listsEqual(a, b);
  if (a instanceof CelMap) return b instanceof CelMap && mapsEqual(a, b);
  if (a instanceof OpaqueValue) {
    if (b instanceof OpaqueValue && b.constructor === a.constructor) return a.equals(b);
    throw noSuchOverload();
  }
  return scalarsEqual(a, b);
}

function scalarsEqual(a: Value, b: Value): boolean {
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Uint) return numbersEqual(a.value, b);
  if (a instanceof Optional) return b instanceof Optional && optionalsEqual(a, b);
  return momentsEqual(a, b);
}

function momentsEqual(a: Value, b: Value): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  return a instanceof TypeValue && b instanceof TypeValue && a.name === b.name;
}

function optionalsEqual(a: Optional, b: Optional): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value);
}

function listsEqual(a: CelList, b: CelList): boolean {
  if (a.size !== b.size) return false;
  if (a.identity === 'set') return sameItems(a, b);
  if (a.identity !== undefined) return sameEntries(a, b, a.identity.keys);
  for (let index = 0; index < a.size; index++) {
    if (!equal(a.at(index), b.at(index))) return false;
  }
  return true;
}

/** Upstream looks only whether every item of the other is in this one. */
const sameItems = (a: CelList, b: CelList): boolean => {
  const ids = new Set(a.values().map((item) => itemId(item)));
  return b.values().every((item) => ids.has(itemId(item)));
};

function sameEntries(a: CelList, b: CelList, keys: readonly string[]): boolean {
  const entries = new Map(a.values().map((item) => [entryId(item, keys), item]));
  return b.values().every((item) => {
    const own = entries.get(entryId(item, keys));
    return own !== undefined && equal(own, item);
  });
}

/** An identity for scalars; other items of a set are compared by what they hold. */
export function itemId(item: Value): string {
  const id = keyId(item);
  if (id !== undefined) return id;
  if (item instanceof Timestamp || item instanceof Duration) return `t${item.nanos}`;
  if (item instanceof Uint8Array) return `y${Buffer.from(item).toString('base64')}`;
  if (item instanceof CelList) return `[${item.values().map(itemId).join(',')}]`;
  if (item instanceof CelMap) {
    const pairs = item.keys().map((key) => `${itemId(key)}:${itemId(item.find(key) ?? null)}`);
    return `{${pairs.sort().join(',')}}`;
  }
  return `o${shown(item)}`;
}

/** The values of the list-map keys; an absent key counts like any other value. */
export const entryId = (item: Value, keys: readonly string[]): string => {
  if (!(item instanceof CelMap))
    throw new CelError('unexpected data format for element of array with x-kubernetes-list-type=map');
  const parts = keys.map((key) => {
    const value = item.find(key);
    return value === undefined ? '' : itemId(value);
  });
  return JSON.stringify(parts);
};

function mapsEqual(a: CelMap, b: CelMap): boolean {
  if (a.size !== b.size) return false;
  if (a instanceof JsonMap) return jsonMapEqual(a, b);
  return a.keys().every((key) => sameAt(a, b, key));
}

function sameAt(a: CelMap, b: CelMap, key: Value): boolean {
  const own = a.find(key);
  const other = b.find(key);
  if (own === undefined || other === undefined) return own === other;
  return equal(own, other);
}

/** What the schema does not show compares as plain data, and only where both sides have it. */
function jsonMapEqual(a: JsonMap, b: CelMap): boolean {
  return Object.keys(a.json).every((jsonKey) => {
    if (a.shape.convert(jsonKey) !== undefined) {
      const key = a.shape.celKey(jsonKey);
      return key === undefined || sameAt(a, b, key);
    }
    const other: Json | undefined =
      b instanceof JsonMap && Object.hasOwn(b.json, jsonKey) ? b.json[jsonKey] : undefined;
    return other === undefined || jsonEqual(a.json[jsonKey], other);
  });
}

/** Whether a list holds a value; an error when that cannot be told. */
export function listContains(list: CelList, value: Value): boolean {
  for (let index = 0; index < list.size; index++) {
    if (equal(list.at(index), value)) return true;
  }
  return false;
}

/** Negative, zero or positive; numbers compare across their types. */
export function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if ((a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Duration && b instanceof Duration)) {
    return compareOrdered(a.nanos, b.nanos);
  }
  return compareNumbers(a, b);
}

function compareNumbers(a: Value, b: Value): number {
  const left = a instanceof Uint ? a.value : a;
  const right = b instanceof Uint ? b.value : b;
  if (!isNumber(left) || !isNumber(right)) throw noSuchOverload();
  if (Number.isNaN(left) || Number.isNaN(right)) throw new CelError('NaN values cannot be ordered');
  return compareOrdered(left, right);
}

const isNumber = (value: Value): value is bigint | number =>
  typeof value === 'bigint' || typeof value === 'number';

const compareOrdered = (a: bigint | number, b: bigint | number): number => {
  if (a === b) return 0;
  return a < b ? -1 : Number(a > b);
};

/** By code points, as Go compares UTF-8: surrogate pairs sort after the rest of the basic plane. */
function compareText(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  for (let index = 0; index < end; index++) {
    const left = a.charCodeAt(index);
    const right = b.charCodeAt(index);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

const rank = (unit: number): number => {
  if (unit < 0xd800) return unit;
  return unit >= 0xe000 ? unit - 0x800 : unit + 0x2000;
};
