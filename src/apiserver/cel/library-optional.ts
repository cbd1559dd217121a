import { global, member, type Overload } from './function.ts';
import { BOOL, listOf, optionalOf, T } from './type.ts';
import { CelError, CelList, CelMap, Duration, Optional, shown, Timestamp, Uint, type Value } from './value.ts';

/** Zero, empty and null are no values to `ofNonZeroValue`. */
function isZero(value: Value): boolean {
  if (value === null || value === false || value === 0n || value === 0 || value === '') return true;
  if (value instanceof CelList || value instanceof CelMap) return value.size === 0;
  if (value instanceof Uint8Array) return value.length === 0;
  if (value instanceof Uint) return value.value === 0n;
  if (value instanceof Duration) return value.nanos === 0n;
  return value instanceof Timestamp && value.nanos === -62135596800n * 1_000_000_000n;
}

function unwrap(list: CelList): CelList {
  const values = list.values().map((item) => {
    if (!(item instanceof Optional)) throw new CelError(`value ${shown(item)} is not optional`);
    return item.value;
  });
  return new CelList(values.filter((value) => value !== undefined));
}

const onlyTypes = (): never => {
  throw new CelError('no such overload');
};

export const optionals: readonly Overload[] = [
  global('optional.of', [T], optionalOf(T), { call: (value) => new Optional(value) }),
  global('optional.ofNonZeroValue', [T], optionalOf(T), {
    call: (value) => (isZero(value) ? Optional.none : new Optional(value)),
  }),
  global('optional.none', [], optionalOf(T), { call: () => Optional.none }),
  member('hasValue', [optionalOf(T)], BOOL, { call: ({ value }) => value !== undefined }),
  member('value', [optionalOf(T)], T, {
    call: ({ value }) => {
      if (value === undefined) throw new CelError('optional.none() dereference');
      return value;
    },
  }),
  member('or', [optionalOf(T), optionalOf(T)], optionalOf(T), { call: onlyTypes }),
  member('orValue', [optionalOf(T), T], T, { call: onlyTypes }),
  global('optional.unwrap', [listOf(optionalOf(T))], listOf(T), { call: unwrap }),
  member('unwrapOpt', [listOf(optionalOf(T))], listOf(T), { call: unwrap }),
];
