import type { Checked } from './check.ts';
import { compileLoop, compileOptionalMap } from './compile-loop.ts';
import type { Call, Expression, ListLiteral, MapLiteral, Select } from './expression.ts';
import { absorbed, type Frame, type Step } from './frame.ts';
import { accepts, type Overload } from './function.ts';
import {
  CelError,
  CelList,
  CelMap,
  EntryMap,
  noSuchOverload,
  Optional,
  shown,
  TypeValue,
  typeNameOf,
  type Value,
} from './value.ts';

// What upstream's cost model charges.
const LIST_COST = 10;
const MAP_COST = 30;

/** Turns a checked expression into closures, once; variables become slots. */
export class Compiler {
  readonly #checked: Checked;
  readonly #names: string[];
  /** How many slots an evaluation needs. */
  slots: number;

  constructor(checked: Checked, variables: readonly string[]) {
    this.#checked = checked;
    this.#names = [...variables];
    this.slots = variables.length;
  }

  /** Compiles `body` with one more variable. */
  within<R>(name: string, body: (slot: number) => R): R {
    const slot = this.#names.push(name) - 1;
    this.slots = Math.max(this.slots, this.#names.length);
    const result = body(slot);
    this.#names.pop();
    return result;
  }

  compile(expression: Expression): Step {
    const typeName = this.#checked.typeNames.get(expression);
    if (typeName !== undefined) return constant(new TypeValue(typeName));
    switch (expression.kind) {
      case 'literal':
        return constant(expression.value);
      case 'ident':
        return variable(this.#names.lastIndexOf(expression.name));
      case 'select':
        return this.#select(expression);
      case 'call':
        return this.#call(expression);
      case 'list':
        return this.#list(expression);
      case 'map':
        return this.#map(expression);
      case 'loop':
        return compileLoop(this, expression);
      case 'optionalMap':
        return compileOptionalMap(this, expression);
    }
  }

  #select({ operand: node, field, mode }: Select): Step {
    const operand = this.compile(node);
    if (mode === 'presence') return (frame) => isPresent(operand(frame), field);
    if (mode === 'optional') {
      return (frame) => {
        frame.spend(1);
        return optionalField(operand(frame), field);
      };
    }
    return (frame) => {
      frame.spend(1);
      const value = operand(frame);
      return value instanceof Optional ? optionalField(value, field) : fieldOf(value, field);
    };
  }

  #call(call: Call): Step {
    const operands =
      call.target === undefined || this.#isNamespace(call) ? call.args : [call.target, ...call.args];
    const steps = operands.map((operand) => this.compile(operand));
    const overloads = this.#checked.overloads.get(call) ?? [];
    return LAZY.get(call.name)?.(steps) ?? folded(call, overloads) ?? invocation(overloads, steps);
  }

  /** `sets.contains(…)`: the target only names the function. */
  #isNamespace(call: Call): boolean {
    return this.#checked.overloads.get(call)?.[0]?.isMember === false;
  }

  #list({ items }: ListLiteral): Step {
    if (items.length > 0 && items.every(({ value, isOptional }) => value.kind === 'literal' && !isOptional)) {
      const list = new CelList(items.flatMap(({ value }) => (value.kind === 'literal' ? [value.value] : [])));
      return (frame) => {
        frame.spend(LIST_COST);
        return list;
      };
    }
    const steps = items.map(({ value, isOptional }) => ({ step: this.compile(value), isOptional }));
    return (frame) => {
      frame.spend(LIST_COST);
      const values = steps.map(({ step, isOptional }) => (isOptional ? present(step(frame)) : step(frame)));
      return new CelList(values.filter((value) => value !== undefined));
    };
  }

  #map({ entries }: MapLiteral): Step {
    const steps = entries.map(({ key, value, isOptional }) => ({
      key: this.compile(key),
      value: this.compile(value),
      isOptional,
    }));
    return (frame) => {
      frame.spend(MAP_COST);
      const map = new EntryMap();
      for (const { key, value, isOptional } of steps) {
        const held = isOptional ? present(value(frame)) : value(frame);
        const name = key(frame);
        if (held !== undefined) map.set(name, held);
      }
      return map;
    };
  }
}

const constant =
  (value: Value): Step =>
  () =>
    value;

const variable =
  (slot: number): Step =>
  (frame) => {
    frame.spend(1);
    const value = frame.slots[slot];
    if (value === undefined) throw new CelError('no such attribute(s)');
    return value;
  };

function present(value: Value): Value | undefined {
  if (value instanceof Optional) return value.value;
  throw new CelError(`cannot initialize optional list element from non-optional value ${shown(value)}`);
}

function fieldOf(value: Value, field: string): Value {
  const found = value instanceof CelMap ? value.find(field) : undefined;
  if (found === undefined) throw new CelError(`no such key: ${field}`);
  return found;
}

function optionalField(value: Value, field: string): Optional {
  const target = value instanceof Optional ? value.value : value;
  const found = target instanceof CelMap ? target.find(field) : undefined;
  return found === undefined ? Optional.none : new Optional(found);
}

function isPresent(value: Value, field: string): boolean {
  const target = value instanceof Optional ? value.value : value;
  return target instanceof CelMap && target.find(field) !== undefined;
}

/** `&&` (decided by false) and `||` (decided by true): the deciding side wins over an error of the other. */
function logical(left: Step, right: Step, decides: boolean): Step {
  return (frame) => {
    let failure: Error | undefined;
    try {
      const value = left(frame);
      if (value === decides) return decides;
      if (typeof value !== 'boolean') failure = noSuchOverload();
    } catch (error) {
      failure = absorbed(error);
    }
    try {
      const value = right(frame);
      if (value === decides) return decides;
      if (typeof value !== 'boolean') failure ??= noSuchOverload();
    } catch (error) {
      failure ??= absorbed(error);
    }
    if (failure !== undefined) throw failure;
    return !decides;
  };
}

function conditional(condition: Step, yes: Step, no: Step): Step {
  return (frame) => {
    const value = condition(frame);
    if (typeof value !== 'boolean') throw noSuchOverload();
    return value ? yes(frame) : no(frame);
  };
}

function orElse(left: Step, right: Step, isValue: boolean): Step {
  return (frame) => {
    const optional = left(frame);
    // Upstream passes on what is no optional.
    if (!(optional instanceof Optional)) return optional;
    if (optional.value === undefined) return right(frame);
    return isValue ? optional.value : optional;
  };
}

const nothing = constant(null);

/** Calls that need not evaluate all their arguments. */
const LAZY: ReadonlyMap<string, (steps: readonly Step[]) => Step> = new Map([
  ['_&&_', ([left = nothing, right = nothing]) => logical(left, right, false)],
  ['_||_', ([left = nothing, right = nothing]) => logical(left, right, true)],
  ['_?_:_', ([condition = nothing, yes = nothing, no = nothing]) => conditional(condition, yes, no)],
  ['or', ([left = nothing, right = nothing]) => orElse(left, right, false)],
  ['orValue', ([left = nothing, right = nothing]) => orElse(left, right, true)],
]);

const CONVERSIONS = new Set(['int', 'uint', 'double', 'string', 'bytes', 'bool', 'timestamp', 'duration']);

/** Conversions of constants happen here and now; what cannot be converted never runs. */
function folded({ name, args }: Call, [overload, ...others]: readonly Overload[]): Step | undefined {
  const [arg] = args;
  if (!CONVERSIONS.has(name) || arg?.kind !== 'literal' || overload === undefined || others.length > 0)
    return undefined;
  const value = overload.call(arg.value);
  return (frame) => {
    frame.spend(1);
    return value;
  };
}

function invocation(overloads: readonly Overload[], steps: readonly Step[]): Step {
  const [only] = overloads;
  if (only === undefined) return () => fail(noSuchOverload());
  const isCertain = overloads.length === 1;
  const [first, second] = steps;
  if (isCertain && steps.length === 2 && first !== undefined && second !== undefined)
    return binary(only, first, second);
  return (frame) => {
    const args = steps.map((step) => step(frame));
    const overload =
      isCertain && isAccepted(only, args) ? only : overloads.find((known) => isAccepted(known, args));
    if (overload === undefined) {
      if (only.name === '_[?_]') return Optional.none;
      throw unmatched(only.name, args);
    }
    return charged(frame, overload, args, overload.call(...args));
  };
}

/** Most calls are operators: no array for the arguments unless the cost depends on them. */
function binary(overload: Overload, first: Step, second: Step): Step {
  const { call, cost, params, name } = overload;
  const [left, right] = params;
  return (frame) => {
    const a = first(frame);
    const b = second(frame);
    if (left === undefined || right === undefined || !accepts(left, a) || !accepts(right, b)) {
      throw unmatched(name, [a, b]);
    }
    const result = call(a, b);
    frame.spend(cost === undefined ? 1 : cost([a, b], result));
    return result;
  };
}

const isAccepted = ({ params }: Overload, args: readonly Value[]): boolean =>
  params.every((type, index) => accepts(type, args[index] ?? null));

function charged(frame: Frame, { cost }: Overload, args: readonly Value[], result: Value): Value {
  frame.spend(cost === undefined ? 1 : cost(args, result));
  return result;
}

const WITHOUT_TYPES = new Set(['contains', 'startsWith', 'endsWith', 'matches', 'find']);
const WITH_NAME_ONLY = new Set(['size', 'sort']);

/** Functions name the types they got, operators and some others do not; looking into what has no inside finds no key. */
function unmatched(name: string, args: readonly Value[]): CelError {
  const [first = null, second = null] = args;
  if (name === '_[_]') return noSuchKey(first, second);
  if (!/^[a-z][\w.]*$/i.test(name) || WITHOUT_TYPES.has(name)) return noSuchOverload();
  if (WITH_NAME_ONLY.has(name)) return new CelError(`no such overload: ${name}`);
  if (name === 'flatten') return new CelError(`no such overload: ${typeNameOf(first)}.flatten()`);
  return new CelError(`no such overload: ${name}(${args.map(typeNameOf).join(', ')})`);
}

const noSuchKey = (target: Value, key: Value): CelError =>
  new CelError(
    target instanceof CelList
      ? `unsupported index type '${typeNameOf(key)}' in list`
      : `no such key: ${shown(key)}`,
  );

function fail(error: Error): never {
  throw error;
}
