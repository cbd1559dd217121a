import type { Compiler } from './compile.ts';
import { compare } from './equality.ts';
import type { Loop, OptionalMap } from './expression.ts';
import { absorbed, type Frame, type Step } from './frame.ts';
import {
  CelError,
  CelList,
  CelMap,
  EntryMap,
  noSuchOverload,
  Optional,
  shown,
  typeNameOf,
  type Value,
} from './value.ts';

// What a turn of a loop costs beside its body, by upstream's expansion of the macros.
const QUANTIFIER_TURN = 3;
const APPEND_TURN = 12;

export function compileLoop(compiler: Compiler, loop: Loop): Step {
  const range = compiler.compile(loop.range);
  const [first = '', second] = loop.variables;
  return compiler.within(first, (slot) => {
    const inner = (secondSlot: number | undefined): Step => {
      const body = compiler.compile(loop.body);
      const filter = loop.filter && compiler.compile(loop.filter);
      const visit = second === undefined ? visitOne(slot) : visitPairs(slot, secondSlot ?? slot);
      return loopStep(loop.macro, { range, visit, body, filter, slot });
    };
    return second === undefined ? inner(undefined) : compiler.within(second, inner);
  });
}

/** Sets the variables for each element in turn and calls `each` until it gives true. */
type Visit = (frame: Frame, range: Value, each: () => boolean) => void;

const visitOne =
  (slot: number): Visit =>
  (frame, range, each) => {
    if (range instanceof CelList) {
      for (let index = 0; index < range.size; index++) {
        frame.slots[slot] = range.at(index);
        if (each()) return;
      }
      return;
    }
    if (!(range instanceof CelMap)) throw new CelError(`got '${goType(range)}', expected iterable type`);
    for (const key of range.keys()) {
      frame.slots[slot] = key;
      if (each()) return;
    }
  };

const visitPairs =
  (slot: number, second: number): Visit =>
  (frame, range, each) => {
    const set = (key: Value, value: Value): void => {
      frame.slots[slot] = key;
      frame.slots[second] = value;
    };
    if (range instanceof CelList) {
      for (let index = 0; index < range.size; index++) {
        set(BigInt(index), range.at(index));
        if (each()) return;
      }
      return;
    }
    if (!(range instanceof CelMap)) throw new CelError(`unsupported comprehension range type: ${goType(range)}`);
    for (const key of range.keys()) {
      set(key, range.find(key) ?? null);
      if (each()) return;
    }
  };

const GO_TYPES: ReadonlyMap<string, string> = new Map([
  ['null_type', 'types.Null'],
  ['google.protobuf.Timestamp', 'types.Timestamp'],
  ['google.protobuf.Duration', 'types.Duration'],
  ['optional_type', '*types.Optional'],
]);

/** The Go type that upstream's messages name. */
function goType(value: Value): string {
  const name = typeNameOf(value);
  return GO_TYPES.get(name) ?? `types.${name[0]?.toUpperCase()}${name.slice(1)}`;
}

interface Parts {
  readonly range: Step;
  readonly visit: Visit;
  readonly body: Step;
  readonly filter: Step | undefined;
  readonly slot: number;
}

function loopStep(macro: Loop['macro'], parts: Parts): Step {
  switch (macro) {
    case 'all':
      return quantifier(parts, false);
    case 'exists':
      return quantifier(parts, true);
    case 'existsOne':
      return existsOne(parts);
    case 'filter':
      return collect({ ...parts, filter: parts.body, body: (frame) => frame.slots[parts.slot] ?? null });
    case 'map':
      return collect(parts);
    case 'transformMap':
      return collectMap(parts, (map, frame, value) => insert(map, frame.slots[parts.slot] ?? null, value));
    case 'transformMapEntry':
      return collectMap(parts, (map, _, value) => insertAll(map, value));
    case 'sortBy':
      return sortBy(parts);
  }
}

/** An element that decides wins over the errors of others. */
function quantifier({ range, visit, body }: Parts, decides: boolean): Step {
  return (frame) => {
    let failure: Error | undefined;
    let isDecided = false;
    visit(frame, range(frame), () => {
      frame.spend(QUANTIFIER_TURN);
      try {
        const value = body(frame);
        isDecided = value === decides;
        if (typeof value !== 'boolean') failure ??= noSuchOverload();
      } catch (error) {
        failure ??= absorbed(error);
      }
      return isDecided;
    });
    if (isDecided) return decides;
    if (failure !== undefined) throw failure;
    return !decides;
  };
}

const isTrue = (value: Value): boolean => {
  if (typeof value !== 'boolean') throw noSuchOverload();
  return value;
};

function existsOne({ range, visit, body }: Parts): Step {
  return (frame) => {
    let count = 0;
    visit(frame, range(frame), () => {
      frame.spend(1);
      if (isTrue(body(frame))) count++;
      return false;
    });
    return count === 1;
  };
}

function collect({ range, visit, body, filter }: Parts): Step {
  return (frame) => {
    const values: Value[] = [];
    visit(frame, range(frame), () => {
      if (filter !== undefined && !isTrue(filter(frame))) {
        frame.spend(1);
        return false;
      }
      values.push(body(frame));
      frame.spend(APPEND_TURN);
      return false;
    });
    return new CelList(values);
  };
}

function collectMap(parts: Parts, put: (map: EntryMap, frame: Frame, value: Value) => void): Step {
  const { range, visit, body, filter } = parts;
  return (frame) => {
    const map = new EntryMap();
    visit(frame, range(frame), () => {
      frame.spend(2);
      if (filter === undefined || isTrue(filter(frame))) put(map, frame, body(frame));
      return false;
    });
    return map;
  };
}

function insert(map: EntryMap, key: Value, value: Value): void {
  if (map.find(key) !== undefined) throw new CelError(`insert failed: key ${shown(key)} already exists`);
  map.set(key, value);
}

function insertAll(map: EntryMap, entries: Value): void {
  if (!(entries instanceof CelMap)) throw noSuchOverload();
  for (const key of entries.keys()) insert(map, key, entries.find(key) ?? null);
}

function sortBy(parts: Parts): Step {
  const { range, visit, body } = parts;
  return (frame) => {
    const list = range(frame);
    if (!(list instanceof CelList)) throw noSuchOverload();
    const keys: Value[] = [];
    visit(frame, list, () => {
      keys.push(body(frame));
      frame.spend(APPEND_TURN);
      return false;
    });
    frame.spend(2 * list.size * list.size);
    return sorted(list, keys);
  };
}

/** The list in the order of its keys. */
export function sorted(list: CelList, keys: readonly Value[]): CelList {
  const [first] = keys;
  if (first === undefined) return list;
  if (keys.some((key) => typeNameOf(key) !== typeNameOf(first))) {
    throw new CelError('list elements must have the same type');
  }
  const order = keys.map((key, index) => ({ key, index }));
  order.sort((a, b) => compare(a.key, b.key));
  return new CelList(order.map(({ index }) => list.at(index)));
}

export function compileOptionalMap(compiler: Compiler, { target, variable, body, isFlat }: OptionalMap): Step {
  const optional = compiler.compile(target);
  return compiler.within(variable, (slot) => {
    const step = compiler.compile(body);
    return (frame) => {
      const held = optional(frame);
      if (!(held instanceof Optional)) throw new CelError(`no such overload: hasValue(${typeNameOf(held)})`);
      if (held.value === undefined) return Optional.none;
      frame.slots[slot] = held.value;
      const result = step(frame);
      return isFlat ? result : new Optional(result);
    };
  });
}
