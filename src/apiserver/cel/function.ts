import type { CelType, TypeKind, TypeOf } from './type.ts';
import { CelList, CelMap, CelObject, Duration, Timestamp, TypeValue, Uint, type Value } from './value.ts';

/** What a call costs; 1 unless said otherwise. */
export type Cost = (args: readonly Value[], result: Value) => number;

/** One way to call a function: what it takes and gives, and what it does. */
export interface Overload {
  readonly name: string;
  readonly isMember: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly call: (...args: Value[]) => Value;
  readonly cost: Cost | undefined;
}

/** What a type holds; any value when TypeScript does not know it. */
type Held<P> = P extends TypeOf<infer H> ? (unknown extends H ? Value : H) : never;
type ValuesOf<P extends readonly unknown[]> = { [I in keyof P]: Held<P[I]> };

/** A function of `params`, called `name(a, b)`. The checker and the dispatch see to the types of the arguments. */
export const global = <const P extends readonly CelType[]>(
  name: string,
  params: P,
  result: CelType,
  { call, cost }: Implementation<P>,
): Overload => ({
  name,
  isMember: false,
  params,
  result,
  call: call as unknown as Overload['call'],
  cost,
});

interface Implementation<P extends readonly CelType[]> {
  readonly call: (...args: ValuesOf<P>) => Value;
  readonly cost?: Cost | undefined;
}

/** A function whose first parameter is the receiver: `a.name(b)`. */
export const member = <const P extends readonly CelType[]>(
  name: string,
  params: P,
  result: CelType,
  implementation: Implementation<P>,
): Overload => ({ ...global(name, params, result, implementation), isMember: true });

export type Functions = ReadonlyMap<string, readonly Overload[]>;

export function functionTable(...libraries: readonly (readonly Overload[])[]): Functions {
  const table = new Map<string, Overload[]>();
  for (const overload of libraries.flat()) {
    const known = table.get(overload.name);
    if (known === undefined) table.set(overload.name, [overload]);
    else known.push(overload);
  }
  return table;
}

const always = (): boolean => true;
const isNamed = (value: Value, { name }: CelType): boolean =>
  value instanceof CelObject && value.typeName === name;

const TESTS: Readonly<Record<TypeKind, (value: Value, type: CelType) => boolean>> = {
  dyn: always,
  param: always,
  error: always,
  int: (value) => typeof value === 'bigint',
  double: (value) => typeof value === 'number',
  bool: (value) => typeof value === 'boolean',
  string: (value) => typeof value === 'string',
  null: (value) => value === null,
  bytes: (value) => value instanceof Uint8Array,
  uint: (value) => value instanceof Uint,
  timestamp: (value) => value instanceof Timestamp,
  duration: (value) => value instanceof Duration,
  type: (value) => value instanceof TypeValue,
  list: (value) => value instanceof CelList,
  map: (value) => value instanceof CelMap,
  opaque: isNamed,
  // A schema object is a map while it runs.
  object: (value, type) => value instanceof CelMap || isNamed(value, type),
};

/** Whether a value may be passed for a parameter: what dispatch needs where the checker saw only dyn. */
export const accepts = (type: CelType, value: Value): boolean => TESTS[type.kind](value, type);
