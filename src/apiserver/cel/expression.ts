import type { CelType } from './type.ts';
import type { Value } from './value.ts';

interface Node {
  /** Where the source has it: offset of the token that upstream points at. */
  readonly at: number;
}

export interface Literal extends Node {
  readonly kind: 'literal';
  readonly value: Value;
  readonly type: CelType;
}

export interface Ident extends Node {
  readonly kind: 'ident';
  readonly name: string;
}

/** `a.b`, `has(a.b)` and `a.?b`. */
export interface Select extends Node {
  readonly kind: 'select';
  readonly operand: Expression;
  readonly field: string;
  readonly mode: 'value' | 'presence' | 'optional';
}

/** Operators are calls too, under the names error messages use: `_+_`, `_[_]`, `!_`. */
export interface Call extends Node {
  readonly kind: 'call';
  readonly name: string;
  readonly target: Expression | undefined;
  readonly args: readonly Expression[];
}

export interface ListLiteral extends Node {
  readonly kind: 'list';
  readonly items: readonly { readonly value: Expression; readonly isOptional: boolean }[];
}

export interface MapLiteral extends Node {
  readonly kind: 'map';
  readonly entries: readonly {
    readonly key: Expression;
    readonly value: Expression;
    readonly isOptional: boolean;
  }[];
}

export type LoopMacro =
  | 'all'
  | 'exists'
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy';

/** A macro that runs over a list or the keys of a map; with two variables also over the indexes or values. */
export interface Loop extends Node {
  readonly kind: 'loop';
  readonly macro: LoopMacro;
  readonly range: Expression;
  readonly variables: readonly string[];
  readonly filter: Expression | undefined;
  readonly body: Expression;
}

/** `optional.optMap(name, body)` and optFlatMap. */
export interface OptionalMap extends Node {
  readonly kind: 'optionalMap';
  readonly target: Expression;
  readonly variable: string;
  readonly body: Expression;
  readonly isFlat: boolean;
}

export type Expression = Literal | Ident | Select | Call | ListLiteral | MapLiteral | Loop | OptionalMap;
