import type { CelList, CelMap, Duration, Optional, Timestamp, TypeValue, Uint, Value } from './value.ts';

export type TypeKind =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'type'
  | 'list'
  | 'map'
  | 'opaque'
  | 'object'
  | 'param';

/** The static type of an expression. */
export interface CelType {
  readonly kind: TypeKind;
  /** As error messages print it, without its parameters. */
  readonly name: string;
  readonly params: readonly CelType[];
  /** Objects only: the type of a field, `undefined` when there is none. */
  readonly field?: (name: string) => CelType | undefined;
}

/** A type whose values TypeScript knows, so that a library function gets what it declares. */
export interface TypeOf<T> extends CelType {
  readonly holds?: T;
}

const simple = <T>(kind: TypeKind, name: string = kind): TypeOf<T> => ({ kind, name, params: [] });

export const BOOL = simple<boolean>('bool');
export const INT = simple<bigint>('int');
export const UINT = simple<Uint>('uint');
export const DOUBLE = simple<number>('double');
export const STRING = simple<string>('string');
export const BYTES = simple<Uint8Array>('bytes');
export const NULL = simple<null>('null');
export const TIMESTAMP = simple<Timestamp>('timestamp');
export const DURATION = simple<Duration>('duration');
export const DYN = simple<Value>('dyn');
export const ERROR = simple<Value>('error', '!error!');
export const param = (name: string): TypeOf<Value> => simple('param', name);
export const T = param('T');
export const K = param('K');
export const V = param('V');

export const listOf = (item: CelType): TypeOf<CelList> => ({ kind: 'list', name: 'list', params: [item] });
export const mapOf = (key: CelType, value: CelType): TypeOf<CelMap> => ({
  kind: 'map',
  name: 'map',
  params: [key, value],
});
export const optionalOf = (item: CelType): TypeOf<Optional> => opaque('optional_type', item);
export const typeOfType = (item: CelType): TypeOf<TypeValue> => ({ kind: 'type', name: 'type', params: [item] });
export const opaque = <O>(name: string, ...params: CelType[]): TypeOf<O> => ({ kind: 'opaque', name, params });
/** Types with a name of their own and no parameters; they take null where an opaque type does too. */
export const objectType = <O>(name: string, field: CelType['field'] = () => undefined): TypeOf<O> => ({
  kind: 'object',
  name,
  params: [],
  field,
});

export function formatType(type: CelType): string {
  if (type.params.length === 0) return type.name;
  return `${type.name}(${type.params.map(formatType).join(', ')})`;
}

/** The value of a type used as an expression, such as `int` in `type(x) == int`. */
export const typeValueName = (type: CelType): string => {
  if (type.kind === 'timestamp') return 'google.protobuf.Timestamp';
  if (type.kind === 'duration') return 'google.protobuf.Duration';
  return type.kind === 'null' ? 'null_type' : type.name;
};

export const isOptional = (type: CelType): boolean => type.kind === 'opaque' && type.name === 'optional_type';
export const isDynOrError = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'error';

export function isSameType(a: CelType, b: CelType): boolean {
  return a === b || (a.kind === b.kind && haveSameShape(a, b, isSameType));
}

/** What stands for the type parameters met so far. */
export type Bindings = ReadonlyMap<string, CelType>;

/** Replaces what is bound; what is not stays a parameter, or becomes dyn. */
export function substitute(bindings: Bindings, type: CelType, isFreeDyn = false): CelType {
  if (type.kind === 'param') {
    const bound = bindings.get(type.name);
    if (bound !== undefined) return substitute(bindings, bound, isFreeDyn);
    return isFreeDyn ? DYN : type;
  }
  if (type.params.length === 0) return type;
  return { ...type, params: type.params.map((item) => substitute(bindings, item, isFreeDyn)) };
}

/** The bindings under which every type on the left takes the one on the right; `undefined` when there are none. */
export function unify(
  bindings: Bindings,
  left: readonly CelType[],
  right: readonly CelType[],
): Bindings | undefined {
  if (left.length !== right.length) return undefined;
  const trial = new Map(bindings);
  return left.every((type, index) => isAssignable(trial, type, right[index] ?? ERROR)) ? trial : undefined;
}

function isAssignable(bindings: Map<string, CelType>, a: CelType, b: CelType): boolean {
  if (b.kind === 'param') return bind(bindings, b, a);
  if (a.kind === 'param') return bind(bindings, a, b);
  if (isDynOrError(a) || isDynOrError(b)) return true;
  if (a.kind === 'null' || b.kind === 'null') return a.kind === b.kind || takesNull(a.kind === 'null' ? b : a);
  if (a.kind !== b.kind) return false;
  return a.kind === 'type' || haveSameShape(a, b, (left, right) => isAssignable(bindings, left, right));
}

/** The same name, and parameters that fit one by one. */
const haveSameShape = (a: CelType, b: CelType, fits: (left: CelType, right: CelType) => boolean): boolean =>
  a.name === b.name &&
  a.params.length === b.params.length &&
  a.params.every((item, index) => fits(item, b.params[index] ?? ERROR));

const takesNull = ({ kind }: CelType): boolean =>
  kind === 'opaque' || kind === 'object' || kind === 'timestamp' || kind === 'duration';

function bind(bindings: Map<string, CelType>, parameter: CelType, type: CelType): boolean {
  if (isSameType(parameter, type)) return true;
  const bound = bindings.get(parameter.name);
  if (bound === undefined) {
    if (refersTo(bindings, type, parameter)) return false;
    bindings.set(parameter.name, type);
    return true;
  }
  if (isSameType(bound, type)) return true;
  if (!isAssignable(bindings, type, bound)) return false;
  const general = moreGeneral(type, bound);
  if (!refersTo(bindings, general, parameter)) bindings.set(parameter.name, general);
  return true;
}

/** Whether binding the parameter to the type would make the type hold itself. */
function refersTo(bindings: Bindings, type: CelType, parameter: CelType): boolean {
  if (type.kind === 'param') {
    if (type.name === parameter.name) return true;
    const bound = bindings.get(type.name);
    return bound !== undefined && refersTo(bindings, bound, parameter);
  }
  return type.params.some((item) => refersTo(bindings, item, parameter));
}

export const moreGeneral = (a: CelType, b: CelType): CelType => (isMoreGeneral(a, b) ? a : b);

function isMoreGeneral(a: CelType, b: CelType): boolean {
  if (a.kind === 'dyn' || a.kind === 'param') return true;
  if (b.kind === 'dyn' || b.kind === 'param' || a.kind !== b.kind) return false;
  return a.kind === 'type' || haveSameShape(a, b, isMoreGeneral);
}
