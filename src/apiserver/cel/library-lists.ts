import { sorted } from './compile-loop.ts';
import { compare, equal, itemId, listContains } from './equality.ts';
import { type Cost, global, member, type Overload } from './function.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  optionalOf,
  STRING,
  T,
  TIMESTAMP,
  type TypeOf,
  UINT,
} from './type.ts';
import {
  CelError,
  CelList,
  CelMap,
  CostError,
  Duration,
  int64,
  Optional,
  sizeOf,
  Uint,
  type Value,
} from './value.ts';

const COMPARABLE = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];

/** One unit per element; a tenth per letter. */
function traversal(value: Value): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return Math.floor(value.length * 0.1);
  if (value instanceof CelList) return value.values().reduce<number>((sum, item) => sum + traversal(item), 0);
  if (!(value instanceof CelMap)) return 1;
  return value.keys().reduce<number>((sum, key) => sum + traversal(key) + traversal(value.find(key) ?? null), 0);
}
const byTraversal: Cost = ([list = null]) => traversal(list);
const byOutput: Cost = (_, result) => sizeOf(result) + 11;
const bySquare: Cost = ([list = null]) => sizeOf(list) ** 2 * 2 + 11;

function isSorted(list: CelList): boolean {
  for (let index = 1; index < list.size; index++) {
    if (compare(list.at(index - 1), list.at(index)) > 0) return false;
  }
  return true;
}

/** The element that no other precedes; `sign` 1 for the smallest, -1 for the largest. */
function extreme(list: CelList, sign: 1 | -1, name: string): Value {
  if (list.size === 0) throw new CelError(`${name} called on empty list`);
  return list.values().reduce((best, item) => (compare(best, item) * sign > 0 ? item : best));
}

const sumOf = <R extends Value>(type: TypeOf<R>, zero: R, plus: (sum: R, item: R) => R): Overload =>
  member('sum', [listOf(type)], type, {
    call: (list) => list.values().reduce<R>((sum, item) => plus(sum, item as R), zero),
    cost: byTraversal,
  });

const sums: readonly Overload[] = [
  sumOf(INT, 0n, (a, b) => int64(a + b)),
  sumOf(UINT, new Uint(0n), (a, b) => new Uint(a.value + b.value)),
  sumOf(DOUBLE, 0, (a, b) => a + b),
  sumOf(DURATION, new Duration(0n), (a, b) => new Duration(a.nanos + b.nanos)),
];

const comparisons = (type: CelType): readonly Overload[] => [
  member('isSorted', [listOf(type)], BOOL, { call: isSorted, cost: byTraversal }),
  member('min', [listOf(type)], type, { call: (list) => extreme(list, 1, 'min'), cost: byTraversal }),
  member('max', [listOf(type)], type, { call: (list) => extreme(list, -1, 'max'), cost: byTraversal }),
  member('sort', [listOf(type)], listOf(type), { call: (list) => sorted(list, list.values()), cost: bySquare }),
];

/** Elements that cannot be compared are not the one that is searched. */
function isEqual(a: Value, b: Value): boolean {
  try {
    return equal(a, b);
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

const searches: readonly Overload[] = [
  member('indexOf', [listOf(T), T], INT, {
    call: (list, item) => BigInt(list.values().findIndex((known) => isEqual(known, item))),
    cost: byTraversal,
  }),
  member('lastIndexOf', [listOf(T), T], INT, {
    call: (list, item) => BigInt(list.values().findLastIndex((known) => isEqual(known, item))),
    cost: byTraversal,
  }),
];

function slice(list: CelList, start: bigint, end: bigint): CelList {
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0n || end < 0n) throw new CelError(`${call}, negative indexes not supported`);
  if (start > end) throw new CelError(`${call}, start index must be less than or equal to end index`);
  if (end > list.size) throw new CelError(`${call}, list is length ${list.size}`);
  return new CelList(list.values().slice(Number(start), Number(end)));
}

function flatten(list: CelList, depth: bigint): Value[] {
  if (depth < 0n) throw new CelError('level must be non-negative');
  return list
    .values()
    .flatMap((item) => (item instanceof CelList && depth > 0n ? flatten(item, depth - 1n) : [item]));
}

function distinct(list: CelList): CelList {
  const unique = new Map<string, Value[]>();
  const kept = list.values().filter((item) => {
    const id = itemId(item);
    const alike = unique.get(id) ?? [];
    if (alike.some((known) => isEqual(known, item))) return false;
    unique.set(id, [...alike, item]);
    return true;
  });
  return new CelList(kept);
}

// More would cost more than a rule may, but only after the memory was taken.
const LARGEST_RANGE = 1_000_000n;

function range(count: bigint): CelList {
  if (count > LARGEST_RANGE) throw new CostError();
  return new CelList(Array.from({ length: Math.max(0, Number(count)) }, (_, index) => BigInt(index)));
}

const optionalAt = (list: CelList, index: number): Optional =>
  list.size === 0 ? Optional.none : new Optional(list.at(index));

const transformations: readonly Overload[] = [
  member('slice', [listOf(T), INT, INT], listOf(T), { call: slice, cost: byOutput }),
  member('flatten', [listOf(listOf(T))], listOf(T), {
    call: (list) => new CelList(flatten(list, 1n)),
    cost: byOutput,
  }),
  member('flatten', [listOf(DYN), INT], listOf(DYN), {
    call: (list, depth) => new CelList(flatten(list, depth)),
    cost: byOutput,
  }),
  member('reverse', [listOf(T)], listOf(T), {
    call: (list) => new CelList(list.values().toReversed()),
    cost: byOutput,
  }),
  member('distinct', [listOf(T)], listOf(T), { call: distinct, cost: bySquare }),
  global('lists.range', [INT], listOf(INT), { call: range, cost: byOutput }),
  member('first', [listOf(T)], optionalOf(T), { call: (list) => optionalAt(list, 0) }),
  member('last', [listOf(T)], optionalOf(T), { call: (list) => optionalAt(list, list.size - 1) }),
];

const containsAll = (list: CelList, part: CelList): boolean =>
  part.values().every((item) => listContains(list, item));
const byProduct =
  (factor: number): Cost =>
  ([a = null, b = null]) =>
    1 + sizeOf(a) * sizeOf(b) * factor;

const sets: readonly Overload[] = [
  global('sets.contains', [listOf(T), listOf(T)], BOOL, { call: containsAll, cost: byProduct(1) }),
  global('sets.equivalent', [listOf(T), listOf(T)], BOOL, {
    call: (a, b) => containsAll(a, b) && containsAll(b, a),
    cost: byProduct(2),
  }),
  global('sets.intersects', [listOf(T), listOf(T)], BOOL, {
    call: (a, b) => a.values().some((item) => listContains(b, item)),
    cost: byProduct(1),
  }),
];

export const lists: readonly Overload[] = [
  ...sums,
  ...COMPARABLE.flatMap(comparisons),
  ...searches,
  ...transformations,
  ...sets,
];
