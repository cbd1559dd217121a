import * as z from 'zod';
import type { FieldProblem } from './kind-error.ts';
import { listProblems } from './list-problems.ts';
import { re2Problem } from './pattern.ts';
import { fieldPath } from './visit.ts';

type Definition = z.core.$ZodTypes['_zod']['def'];
type Check = z.core.$ZodCheck;

/** Set by our own helpers on what zod cannot show in a schema but the helper does. */
export const HELPER = 'x-slipway-helper';

/** What a wrapper around a type looks like: it changes nothing that the walk looks at. */
const WRAPPERS = ['optional', 'nullable', 'readonly', 'nonoptional'];
const PLAIN = ['string', 'number', 'boolean', 'template_literal'];

const REFUSED: Readonly<Record<string, readonly [problem: string, hint: string]>> = {
  tuple: ['a tuple is not structural', 'an object with a named field for each part'],
  intersection: ['an intersection is not structural', 'one object: a.extend(b.shape)'],
  pipe: ['a transform exists only in TypeScript', 'the type as it is in JSON, and a function that converts it'],
  transform: [
    'a transform exists only in TypeScript',
    'the type as it is in JSON, and a function that converts it',
  ],
  catch: ['the server has no .catch()', '.default() for values that are missing'],
  bigint: ['JSON has no bigint', 'int64()'],
  date: ['JSON has no Date', 'z.iso.datetime({ offset: true })'],
  null: ['nothing but null is not structural', '.nullable() of a type'],
  map: ['JSON has no Map', 'z.record(z.string(), …)'],
  set: ['JSON has no Set', 'listSet(…)'],
  unknown: ['any value at all', 'preserveUnknown() or anyValue()'],
  any: ['any value at all', 'preserveUnknown() or anyValue()'],
};

/** Everything in a zod schema that a structural schema cannot say, with the field it is at (K4). */
export function inexpressible(schema: z.core.$ZodType, path: string): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  walk(schema, path, { problems, above: [] });
  return problems;
}

interface Walk {
  readonly problems: FieldProblem[];
  /** Where the walk came through: a schema that is in it contains itself. */
  readonly above: readonly z.core.$ZodType[];
}

function walk(schema: z.core.$ZodType, path: string, { problems, above }: Walk): void {
  if (above.includes(schema)) {
    problems.push({
      path,
      problem: 'the schema contains itself, which is not structural',
      hint: 'a fixed number of levels, or preserveUnknown()',
    });
    return;
  }
  const isHelper = z.globalRegistry.get(schema)?.[HELPER] === true;
  const { def } = (schema as z.core.$ZodTypes)._zod;
  // The check of a tagged union is its helper's own; whatever else was added to a helper is not.
  const checks = checkProblems(def, path).slice(isHelper && def.type === 'object' ? 1 : 0);
  problems.push(...(isHelper ? [] : ownProblems(def, path)), ...checks, ...listProblems(schema, path));
  if (isHelper && def.type !== 'object' && def.type !== 'array') return;
  const inner = { problems, above: [...above, schema] };
  for (const [part, at] of partsOf(def, path)) walk(part, at, inner);
}

type Part = readonly [schema: z.core.$ZodType, path: string];

/** A function for each of some types of zod. */
type ByType<Result> = {
  readonly [Type in Definition['type']]?: (def: Extract<Definition, { type: Type }>, path: string) => Result;
};

function byType<Result>(table: ByType<Result>, def: Definition, path: string): Result | undefined {
  // The function found under a type takes definitions of this type.
  const found = table[def.type] as ((of: Definition, at: string) => Result) | undefined;
  return found?.(def, path);
}

const PARTS: ByType<readonly Part[]> = {
  object: ({ shape }, path) => Object.entries(shape).map(([name, field]): Part => [field, fieldPath(path, name)]),
  array: ({ element }, path) => [[element, `${path}[]`]],
  record: ({ valueType }, path) => [[valueType, `${path}.*`]],
  lazy: ({ getter }, path) => [[getter(), path]],
  union: ({ options }, path) =>
    isNullable(options) ? nonNull(options).map((option): Part => [option, path]) : [],
};

/** What is below a node; nothing below a node that is refused as a whole. */
const partsOf = (def: Definition, path: string): readonly Part[] =>
  'innerType' in def ? [[def.innerType, path]] : (byType(PARTS, def, path) ?? []);

const RULES: ByType<readonly FieldProblem[]> = {
  object: ({ catchall }, path) =>
    catchall === undefined || ['never', 'unknown', 'any'].includes(typeOf(catchall))
      ? []
      : [{ path, problem: 'fields and a map in one object', hint: 'a field of its own for the map' }],
  record: ({ keyType }, path) =>
    ['string', 'enum', 'literal'].includes(typeOf(keyType))
      ? []
      : [{ path, problem: 'the keys of a map are text', hint: 'z.record(z.string(), …)' }],
  union: (def, path) => (isNullable(def.options) ? [] : [unionProblem(def, path)]),
  default: (def, path) => defaultProblem(def, path),
  prefault: (def, path) => defaultProblem(def, path),
  enum: ({ entries }, path) => sameType(Object.values(entries), path),
  literal: ({ values }, path) => sameType(values, path),
  array: () => [],
  lazy: () => [],
};

const ownProblems = (def: Definition, path: string): readonly FieldProblem[] =>
  byType(RULES, def, path) ?? otherProblem(def.type, path);

/** The default is read twice: one that a function makes may be another one each time (K7). */
const defaultProblem = (def: { readonly defaultValue: unknown }, path: string): readonly FieldProblem[] =>
  JSON.stringify(def.defaultValue) === JSON.stringify(def.defaultValue)
    ? []
    : [{ path, problem: 'a default that is another one each time', hint: 'a fixed value' }];

function otherProblem(type: string, path: string): readonly FieldProblem[] {
  if (WRAPPERS.includes(type) || PLAIN.includes(type)) return [];
  const [problem, hint] = REFUSED[type] ?? [`z.${type}() is not JSON`, undefined];
  return [{ path, problem, ...(hint !== undefined && { hint: `use ${hint}` }) }];
}

const typeOf = (schema: z.core.$ZodType): string => schema._zod.def.type;

const nonNull = (options: readonly z.core.$ZodType[]): readonly z.core.$ZodType[] =>
  options.filter((option) => typeOf(option) !== 'null');

/** One type and null, which a schema can say. */
const isNullable = (options: readonly z.core.$ZodType[]): boolean =>
  nonNull(options).length === 1 && options.length === 2;

function unionProblem(def: z.core.$ZodUnionDef, path: string): FieldProblem {
  const types = nonNull(def.options).map(typeOf);
  const problem = 'a union is not structural';
  if ('discriminator' in def) {
    return { path, problem, hint: `use taggedUnion('${String(def['discriminator'])}', { … })` };
  }
  if (types.every((type) => type === 'literal' || type === 'enum'))
    return { path, problem, hint: 'use z.enum([…])' };
  if (types.toSorted().join() === 'number,string') return { path, problem, hint: 'use intOrString()' };
  return { path, problem, hint: 'use an optional field for each alternative, taggedUnion() or preserveUnknown()' };
}

function sameType(values: readonly unknown[], path: string): readonly FieldProblem[] {
  const types: readonly string[] = [...new Set(values.map((value) => typeof value))];
  const isGood = types.length === 1 && ['string', 'number', 'boolean'].includes(types[0] ?? '');
  return isGood ? [] : [{ path, problem: 'the values of an enum are of one type', hint: 'all text' }];
}

/** What a check does beyond what the schema says. */
function checkProblems(def: Definition, path: string): readonly FieldProblem[] {
  const coerces = 'coerce' in def && def.coerce === true;
  const own = def.type === 'string' ? formatProblems(def as CheckDefinition, path) : [];
  const checks: readonly Check[] = def.checks ?? [];
  return [
    ...(coerces ? [{ path, problem: 'the server does not coerce', hint: 'the type as it is in JSON' }] : []),
    ...own,
    ...checks.flatMap((check) => formatProblems(check._zod.def, path)),
  ];
}

/** A check, or a type that is one, such as `z.email()`. */
interface CheckDefinition {
  readonly check?: string;
  readonly format?: unknown;
  readonly pattern?: unknown;
}

function formatProblems(def: CheckDefinition, path: string): readonly FieldProblem[] {
  if (def.check === 'custom') {
    return [{ path, problem: 'a refinement exists only in TypeScript', hint: 'a cel() rule' }];
  }
  if (def.check === 'overwrite') {
    return [{ path, problem: 'the server changes no values', hint: 'a pattern that admits only the wanted ones' }];
  }
  if (def.format === 'duration') {
    return [{ path, problem: 'the server knows no ISO 8601 durations', hint: 'duration()' }];
  }
  return def.pattern instanceof RegExp ? patternProblems(def.pattern, String(def.format), path) : [];
}

/** Formats of zod that the server knows, too: their patterns are not in the schema. */
const SHARED_FORMATS = new Set('datetime date ipv4 ipv6 uuid guid email url hostname base64'.split(' '));

function patternProblems(pattern: RegExp, format: string, path: string): readonly FieldProblem[] {
  if (SHARED_FORMATS.has(format)) return [];
  // `u` and `v` change how the expression is read, not what the server is told.
  const flags = pattern.flags.replace(/[uv]/, '');
  if (flags !== '') {
    const problem = `the flags of a pattern (${flags}) are lost in a schema`;
    return [{ path, problem, hint: 'write them out: [aA] for i' }];
  }
  const re2 = re2Problem(pattern.source);
  const hint = 'lookaround and backreferences have no equivalent: write a cel() rule';
  return re2 === undefined
    ? []
    : [{ path, problem: `pattern ${pattern.source} does not compile as RE2: ${re2}`, hint }];
}
