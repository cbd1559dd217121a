import { isPlain } from './plain-copy.ts';

// Objects out of caches come again and again: each is looked through once. Weak, so that it keeps nothing alive.
const deeplyFrozen = new WeakSet<object>();

/**
 * Frozen through and through, without freezing anything that is not (ccm/I1): what is not frozen yet is copied, what is
 * comes as it is, so that objects of a cache cost nothing. Bytes, which cannot be frozen, are copied. Functions and
 * objects with a class are handed on.
 */
export function frozenCopy<T>(value: T): T {
  // A copy of a value has the type of the value.
  return frozen(value) as T;
}

function frozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || deeplyFrozen.has(value)) return value;
  // Not `value.slice()`: that of a Buffer shares its memory.
  if (value instanceof Uint8Array) return Uint8Array.prototype.slice.call(value);
  if (value instanceof Map) return frozenMap(value);
  if (value instanceof RegExp) return Object.isFrozen(value) ? value : Object.freeze(new RegExp(value));
  if (!Array.isArray(value) && !isPlain(value)) return value;
  if (isFrozenThrough(value)) return remembered(value);
  return remembered(Object.freeze(Array.isArray(value) ? value.map(frozen) : copiedRecord(value)));
}

/** Whether there is nothing to copy: only looks, so that an object of a cache costs no memory. */
function isFrozenThrough(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || deeplyFrozen.has(value)) return true;
  if (!Array.isArray(value) && !isPlain(value)) return frozen(value) === value;
  return Object.isFrozen(value) && Object.values(value).every(isFrozenThrough);
}

const copiedRecord = (record: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(record).map(([key, field]) => [key, frozen(field)]));

/** A Map has no frozen form: a copy, so that what its receiver does to it stays with the receiver. */
const frozenMap = (map: ReadonlyMap<unknown, unknown>): ReadonlyMap<unknown, unknown> =>
  new Map([...map].map(([key, item]) => [key, frozen(item)]));

function remembered(value: object): object {
  deeplyFrozen.add(value);
  return value;
}
