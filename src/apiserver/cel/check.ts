import { checkLoop, checkOptionalMap } from './check-loop.ts';
import type { Call, Expression, ListLiteral, MapLiteral, Select } from './expression.ts';
import type { Functions, Overload } from './function.ts';
import type { Issue } from './source.ts';
import {
  type Bindings,
  BOOL,
  type CelType,
  DYN,
  ERROR,
  formatType,
  isDynOrError,
  isOptional,
  isSameType,
  listOf,
  mapOf,
  moreGeneral,
  optionalOf,
  param,
  substitute,
  unify,
} from './type.ts';

/** What names mean: variables, and types used as values. */
export interface Declarations {
  readonly functions: Functions;
  readonly variables: ReadonlyMap<string, CelType>;
  /** `int`, `net.IP`, …: the type of such an expression. */
  readonly types: ReadonlyMap<string, CelType>;
}

/** What the checker found out; the compiler needs it. */
export interface Checked {
  readonly type: CelType;
  readonly issues: readonly Issue[];
  readonly overloads: ReadonlyMap<Call, readonly Overload[]>;
  /** Selections that are the qualified name of a type. */
  readonly typeNames: ReadonlyMap<Expression, string>;
  /** Variables of the declarations that occur. */
  readonly used: ReadonlySet<string>;
  readonly typeOf: (part: Expression) => CelType;
}

export function checkExpression(expression: Expression, declarations: Declarations): Checked {
  const checker = new Checker(declarations);
  const type = substitute(checker.bindings, checker.check(expression), true);
  if (checker.issues.length === 0) checker.checkLiterals();
  const { issues, overloads, typeNames, used } = checker;
  const typeOf = (part: Expression): CelType => substitute(checker.bindings, checker.types.get(part) ?? DYN, true);
  return { type, issues, overloads, typeNames, used, typeOf };
}

/** `a.b.c` as one name, when it is nothing but names. */
function qualifiedName(expression: Expression): string | undefined {
  if (expression.kind === 'ident') return expression.name;
  if (expression.kind !== 'select' || expression.mode !== 'value') return undefined;
  const operand = qualifiedName(expression.operand);
  return operand === undefined ? undefined : `${operand}.${expression.field}`;
}

/** Finds the type of every part; wherever that fails it notes an issue and goes on. */
export class Checker {
  readonly issues: Issue[] = [];
  readonly overloads = new Map<Call, readonly Overload[]>();
  readonly typeNames = new Map<Expression, string>();
  readonly used = new Set<string>();
  readonly types = new Map<Expression, CelType>();
  readonly #declarations: Declarations;
  readonly #scopes: (readonly [string, CelType])[] = [];
  bindings: Bindings = new Map();
  #free = 0;
  /** Inside the arguments of `format` lists may be mixed. */
  #isMixedAllowed = 0;
  readonly #literals: (readonly (readonly [number, CelType])[])[] = [];

  constructor(declarations: Declarations) {
    this.#declarations = declarations;
  }

  check(expression: Expression): CelType {
    const type = this.#check(expression);
    this.types.set(expression, type);
    return type;
  }

  #check(expression: Expression): CelType {
    switch (expression.kind) {
      case 'literal':
        return expression.type;
      case 'ident':
        return this.#ident(expression, expression.name);
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'loop':
        return checkLoop(this, expression);
      case 'optionalMap':
        return checkOptionalMap(this, expression);
    }
  }

  issue(at: number, message: string): CelType {
    this.issues.push({ at, message });
    return ERROR;
  }

  resolved(type: CelType): CelType {
    return substitute(this.bindings, type);
  }

  newParameter(): CelType {
    return param(`_var${this.#free++}`);
  }

  isAssignable(left: CelType, right: CelType): boolean {
    const bindings = unify(this.bindings, [left], [right]);
    if (bindings === undefined) return false;
    this.bindings = bindings;
    return true;
  }

  mismatch(at: number, expected: CelType, found: CelType): CelType {
    return this.issue(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
  }

  /** Checks `body` with more variables. */
  within(variables: readonly (readonly [string, CelType])[], body: () => CelType): CelType {
    this.#scopes.push(...variables);
    const type = body();
    this.#scopes.length -= variables.length;
    return type;
  }

  #ident(expression: Expression, name: string): CelType {
    const type = this.#lookup(expression, name);
    return type ?? this.issue(expression.at, `undeclared reference to '${name}' (in container '')`);
  }

  #lookup(expression: Expression, name: string): CelType | undefined {
    const local = this.#scopes.findLast(([known]) => known === name);
    if (local !== undefined) return local[1];
    const variable = this.#declarations.variables.get(name);
    if (variable !== undefined) {
      this.used.add(name);
      return variable;
    }
    const type = this.#declarations.types.get(name);
    if (type !== undefined) this.typeNames.set(expression, name);
    return type;
  }

  #select(select: Select): CelType {
    const name = qualifiedName(select);
    const named = name === undefined ? undefined : this.#declarations.types.get(name);
    if (named !== undefined && name !== undefined) {
      this.typeNames.set(select, name);
      return named;
    }
    const operand = this.resolved(this.check(select.operand));
    const target = isOptional(operand) ? (operand.params[0] ?? DYN) : operand;
    const field = this.resolved(this.#field(select, target));
    if (select.mode === 'presence') return BOOL;
    return select.mode === 'optional' || isOptional(operand) ? optionalOf(field) : field;
  }

  #field({ at, field }: Select, target: CelType): CelType {
    if (target.kind === 'map') return target.params[1] ?? DYN;
    if (target.kind === 'object') return target.field?.(field) ?? this.issue(at, `undefined field '${field}'`);
    if (target.kind === 'param') this.isAssignable(DYN, target);
    else if (!isDynOrError(target))
      this.issue(at, `type '${formatType(target)}' does not support field selection`);
    return DYN;
  }

  #call(call: Call): CelType {
    const { name, target } = call;
    if (name === '_&&_' || name === '_||_') return this.#logical(call);
    const isFormat = name === 'format' && target !== undefined;
    if (isFormat) this.#isMixedAllowed++;
    const args = call.args.map((arg) => this.check(arg));
    if (isFormat) this.#isMixedAllowed--;
    if (target === undefined) return this.#resolve(call, name, undefined, args);
    const prefix = qualifiedName(target);
    const qualified = prefix === undefined ? undefined : `${prefix}.${name}`;
    if (qualified !== undefined && this.#declarations.functions.has(qualified)) {
      return this.#resolve(call, qualified, undefined, args);
    }
    return this.#resolve(call, name, this.check(target), args);
  }

  #logical(call: Call): CelType {
    for (const arg of call.args) {
      const type = this.check(arg);
      if (!this.isAssignable(type, BOOL)) this.mismatch(arg.at, BOOL, this.resolved(type));
    }
    return BOOL;
  }

  #resolve(call: Call, name: string, target: CelType | undefined, args: readonly CelType[]): CelType {
    const overloads = this.#declarations.functions.get(name);
    if (overloads === undefined) return this.issue(call.at, `undeclared reference to '${name}' (in container '')`);
    const types = target === undefined ? args : [target, ...args];
    const matching: Overload[] = [];
    let result: CelType | undefined;
    for (const overload of overloads) {
      if (overload.isMember !== (target !== undefined)) continue;
      const given = this.#apply(overload, types);
      if (given === undefined) continue;
      matching.push(overload);
      result = result === undefined || isSameType(result, given) ? given : DYN;
    }
    if (result === undefined) return this.noOverload(call.at, name, types, target !== undefined);
    this.overloads.set(call, matching);
    return result;
  }

  #apply(overload: Overload, types: readonly CelType[]): CelType | undefined {
    const fresh = new Map<string, CelType>();
    const instance = (type: CelType): CelType => {
      if (type.kind !== 'param')
        return type.params.length === 0 ? type : { ...type, params: type.params.map(instance) };
      const known = fresh.get(type.name) ?? this.newParameter();
      fresh.set(type.name, known);
      return known;
    };
    const bindings = unify(this.bindings, types, overload.params.map(instance));
    if (bindings === undefined) return undefined;
    this.bindings = bindings;
    return this.resolved(instance(overload.result));
  }

  noOverload(at: number, name: string, types: readonly CelType[], isMember: boolean): CelType {
    const shown = types.map((type) => formatType(substitute(this.bindings, type, true)));
    const signature = isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
    return this.issue(at, `found no matching overload for '${name}' applied to '${signature}'`);
  }

  #list({ items }: ListLiteral): CelType {
    const elements = items.map(({ value, isOptional }) => [value.at, this.#element(value, isOptional)] as const);
    return listOf(this.#join(elements) ?? this.newParameter());
  }

  #map({ entries }: MapLiteral): CelType {
    const keys = entries.map(({ key }) => [key.at, this.check(key)] as const);
    const values = entries.map(({ value, isOptional }) => [value.at, this.#element(value, isOptional)] as const);
    return mapOf(this.#join(keys) ?? this.newParameter(), this.#join(values) ?? this.newParameter());
  }

  #element(value: Expression, isOptionalElement: boolean): CelType {
    const type = this.check(value);
    if (!isOptionalElement) return type;
    const resolved = this.resolved(type);
    if (isOptional(resolved)) return resolved.params[0] ?? DYN;
    if (!isDynOrError(resolved)) this.mismatch(value.at, optionalOf(resolved), resolved);
    return resolved;
  }

  #join(elements: readonly (readonly [number, CelType])[]): CelType | undefined {
    if (this.#isMixedAllowed === 0) this.#literals.push(elements);
    let joined: CelType | undefined;
    for (const [, type] of elements) {
      if (joined === undefined) joined = type;
      else joined = this.isAssignable(joined, type) ? moreGeneral(joined, type) : DYN;
    }
    return joined;
  }

  /** All elements of a literal must be of one type, once all types are known. */
  checkLiterals(): void {
    for (const elements of this.#literals) {
      const types = elements.map(([at, type]) => [at, substitute(this.bindings, type, true)] as const);
      const expected = types[0]?.[1] ?? DYN;
      const odd = types.find(([, type]) => !isSameType(type, expected));
      if (odd !== undefined) this.mismatch(odd[0], expected, odd[1]);
    }
  }
}
