import { compare, entryId, equal, itemId, listContains } from './equality.ts';
import { type Cost, global, type Overload } from './function.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  K,
  listOf,
  mapOf,
  optionalOf,
  STRING,
  T,
  TIMESTAMP,
  UINT,
  V,
} from './type.ts';
import {
  CelError,
  CelList,
  type CelMap,
  Duration,
  int64,
  Optional,
  shown,
  sizeOf,
  Timestamp,
  Uint,
  type Value,
} from './value.ts';

// Strings cost a tenth of a unit per letter.
const TENTH = 0.1;
export const bySize =
  (factor = 1, index = 0): Cost =>
  (args) =>
    Math.ceil(sizeOf(args[index] ?? null) * factor * TENTH);
const bySmaller: Cost = ([a = null, b = null]) => Math.ceil(Math.min(sizeOf(a), sizeOf(b)) * TENTH);
const bySum: Cost = ([a = null, b = null]) => Math.ceil((sizeOf(a) + sizeOf(b)) * TENTH);

const operator = (
  symbol: string,
  type: typeof INT,
  call: (a: bigint, b: bigint) => bigint,
): readonly Overload[] => [
  global(`_${symbol}_`, [type, type], type, { call: (a, b) => int64(call(a, b)) }),
  global(`_${symbol}_`, [UINT, UINT], UINT, { call: (a, b) => new Uint(call(a.value, b.value)) }),
];

const nonZero = (divisor: bigint, message: string): bigint => {
  if (divisor === 0n) throw new CelError(message);
  return divisor;
};

const arithmetic: readonly Overload[] = [
  ...operator('+', INT, (a, b) => a + b),
  ...operator('-', INT, (a, b) => a - b),
  ...operator('*', INT, (a, b) => a * b),
  ...operator('/', INT, (a, b) => a / nonZero(b, 'division by zero')),
  ...operator('%', INT, (a, b) => a % nonZero(b, 'modulus by zero')),
  global('_+_', [DOUBLE, DOUBLE], DOUBLE, { call: (a, b) => a + b }),
  global('_-_', [DOUBLE, DOUBLE], DOUBLE, { call: (a, b) => a - b }),
  global('_*_', [DOUBLE, DOUBLE], DOUBLE, { call: (a, b) => a * b }),
  global('_/_', [DOUBLE, DOUBLE], DOUBLE, { call: (a, b) => a / b }),
  global('-_', [INT], INT, { call: (a) => int64(-a) }),
  global('-_', [DOUBLE], DOUBLE, { call: (a) => -a }),
  global('!_', [BOOL], BOOL, { call: (a) => !a }),
];

const sums: readonly Overload[] = [
  global('_+_', [STRING, STRING], STRING, { call: (a, b) => a + b, cost: bySum }),
  global('_+_', [BYTES, BYTES], BYTES, { call: (a, b) => Buffer.concat([a, b]), cost: bySum }),
  global('_+_', [listOf(T), listOf(T)], listOf(T), { call: addLists }),
  global('_+_', [DURATION, DURATION], DURATION, { call: (a, b) => new Duration(a.nanos + b.nanos) }),
  global('_+_', [TIMESTAMP, DURATION], TIMESTAMP, { call: (a, b) => new Timestamp(a.nanos + b.nanos, a.offset) }),
  global('_+_', [DURATION, TIMESTAMP], TIMESTAMP, { call: (a, b) => new Timestamp(a.nanos + b.nanos, b.offset) }),
  global('_-_', [DURATION, DURATION], DURATION, { call: (a, b) => new Duration(a.nanos - b.nanos) }),
  global('_-_', [TIMESTAMP, TIMESTAMP], DURATION, { call: (a, b) => new Duration(a.nanos - b.nanos) }),
  global('_-_', [TIMESTAMP, DURATION], TIMESTAMP, { call: (a, b) => new Timestamp(a.nanos - b.nanos, a.offset) }),
];

/** Sets unite and map lists merge by key, the items of the left keeping their places; other lists append. */
function addLists(left: CelList, right: CelList): CelList {
  const { identity } = left;
  if (identity === undefined) return new CelList([...left.values(), ...right.values()]);
  const idOf = (item: Value): string => (identity === 'set' ? itemId(item) : entryId(item, identity.keys));
  const merged = new Map(left.values().map((item) => [idOf(item), item]));
  for (const item of right.values()) {
    const id = idOf(item);
    if (identity !== 'set' || !merged.has(id)) merged.set(id, item);
  }
  return new CelList([...merged.values()], identity);
}

const ORDERED: readonly (readonly [CelType, CelType])[] = [
  ...[BOOL, INT, UINT, DOUBLE, STRING, BYTES, TIMESTAMP, DURATION].map((type) => [type, type] as const),
  [INT, UINT],
  [INT, DOUBLE],
  [UINT, INT],
  [UINT, DOUBLE],
  [DOUBLE, INT],
  [DOUBLE, UINT],
];

const ORDER: Readonly<Record<string, (order: number) => boolean>> = {
  '_<_': (order) => order < 0,
  '_<=_': (order) => order <= 0,
  '_>_': (order) => order > 0,
  '_>=_': (order) => order >= 0,
};

const relations: readonly Overload[] = [
  global('_==_', [T, T], BOOL, { call: (a, b) => equal(a, b), cost: bySmaller }),
  global('_!=_', [T, T], BOOL, { call: (a, b) => !equal(a, b), cost: bySmaller }),
  ...Object.entries(ORDER).flatMap(([name, holds]) =>
    ORDERED.map(([left, right]) =>
      global(name, [left, right], BOOL, {
        call: (a: Value, b: Value) => holds(compare(a, b)),
        cost: left === STRING || left === BYTES ? bySmaller : undefined,
      }),
    ),
  ),
];

function indexed(list: CelList, index: bigint): Value {
  if (index < 0n || index >= list.size) throw new CelError(`index out of bounds: ${index}`);
  return list.at(Number(index));
}

function valueAt(map: CelMap, key: Value): Value {
  const value = map.find(key);
  if (value === undefined) throw new CelError(`no such key: ${shown(key)}`);
  return value;
}

const optionalItem = (list: CelList, index: bigint): Optional =>
  index < 0n || index >= list.size ? Optional.none : new Optional(list.at(Number(index)));
const optionalValue = (map: CelMap, key: Value): Optional => {
  const value = map.find(key);
  return value === undefined ? Optional.none : new Optional(value);
};
/** Looks into what an optional holds. */
const inside = <C extends Value>(optional: Optional, look: (value: C) => Optional): Optional =>
  optional.value === undefined ? Optional.none : look(optional.value as C);

const lists: readonly Overload[] = [
  global('@in', [T, listOf(T)], BOOL, {
    call: (value, list) => listContains(list, value),
    cost: ([, list = null]) => sizeOf(list),
  }),
  global('@in', [K, mapOf(K, V)], BOOL, { call: (key, map) => map.find(key) !== undefined }),
  global('_[_]', [listOf(T), INT], T, { call: indexed }),
  global('_[_]', [mapOf(K, V), K], V, { call: valueAt }),
  ...['_[_]', '_[?_]'].flatMap((name) => [
    global(name, [optionalOf(listOf(V)), INT], optionalOf(V), {
      call: (optional, index) => inside<CelList>(optional, (list) => optionalItem(list, index)),
    }),
    global(name, [optionalOf(mapOf(K, V)), K], optionalOf(V), {
      call: (optional, key) => inside<CelMap>(optional, (map) => optionalValue(map, key)),
    }),
  ]),
  global('_[?_]', [listOf(V), INT], optionalOf(V), { call: optionalItem }),
  global('_[?_]', [mapOf(K, V), K], optionalOf(V), { call: optionalValue }),
];

const lazily = (): never => {
  throw new CelError('no such overload');
};

/** Only their types count: they are compiled to steps that leave out what they need not evaluate. */
const conditionals: readonly Overload[] = [
  global('_?_:_', [BOOL, T, T], T, { call: lazily }),
  global('_&&_', [BOOL, BOOL], BOOL, { call: lazily }),
  global('_||_', [BOOL, BOOL], BOOL, { call: lazily }),
  global('dyn', [T], DYN, { call: (value) => value }),
];

export const operators: readonly Overload[] = [...arithmetic, ...sums, ...relations, ...lists, ...conditionals];
