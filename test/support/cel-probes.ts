import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schema } from '../../src/api/schema/structural.ts';
import { compileSchemaRules } from '../../src/apiserver/cel/rules.ts';
import type { Json } from '../../src/object/json.ts';
import { parseYaml } from '../../src/object/yaml.ts';

/** One row of src/apiserver/cel/testdata: a schema with rules, a value, and what kube-apiserver says to it. */
export interface Probe {
  readonly name: string;
  readonly schema: Schema;
  readonly self: Json;
  readonly old: Json | undefined;
  /** `$.field: message` for everything wrong with the value; empty when it passes. */
  readonly want: readonly string[];
  /** What is wrong with the rules themselves. */
  readonly refused: readonly string[] | undefined;
  /** The rule does not even parse; the texts of the two parsers have nothing in common. */
  readonly isSyntaxError: boolean;
  /** kube-apiserver refuses it for its estimated cost, which we do not estimate. */
  readonly isCostly: boolean;
}

interface Row {
  readonly rule?: string;
  readonly schema?: Schema;
  readonly self?: Json;
  readonly old?: Json;
  readonly want?: readonly string[];
  readonly refused?: readonly string[];
  readonly isSyntaxError?: boolean;
  readonly isCostly?: boolean;
}

const DIRECTORY = join(import.meta.dirname, '../../src/apiserver/cel/testdata');
export const PROBE_FILES = [
  'standard',
  'strings',
  'lists',
  'optionals',
  'kubernetes',
  'schema',
  'dynamic',
  'problems',
] as const;

const TEXT: Schema = { type: 'string', maxLength: 10 };
const INNER: Schema = { type: 'object', properties: { a: { type: 'integer' } } };

/** What the rules of `problems.yaml` look at. */
const PROBLEM_PROPERTIES: Readonly<Record<string, Schema>> = {
  num: { type: 'integer' },
  s: TEXT,
  o: INNER,
  p: INNER,
  u: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  any: { 'x-kubernetes-preserve-unknown-fields': true },
  m: { type: 'object', maxProperties: 3, additionalProperties: { type: 'string', maxLength: 5 } },
  ts: { type: 'string', format: 'date-time' },
  dur: { type: 'string', format: 'duration' },
  atoms: { type: 'array', maxItems: 5, items: TEXT },
  list2: { type: 'array', maxItems: 5, items: { type: 'array', maxItems: 4, items: TEXT } },
};

export function readProbes(file: (typeof PROBE_FILES)[number]): readonly Probe[] {
  const rows = parseYaml(readFileSync(join(DIRECTORY, `${file}.yaml`), 'utf8')) as readonly Row[];
  return rows.map((row) => ({
    name: row.rule ?? JSON.stringify(row.schema),
    ...subject(row, file === 'problems'),
    old: row.old,
    want: row.want ?? [],
    refused: row.refused,
    isSyntaxError: row.isSyntaxError ?? false,
    isCostly: row.isCostly ?? false,
  }));
}

function subject(
  { rule = '', schema, self }: Row,
  isProblem: boolean,
): { readonly schema: Schema; readonly self: Json } {
  if (isProblem) {
    const rules = { 'x-kubernetes-validations': [{ rule, message: 'm' }] };
    return { schema: { type: 'object', properties: PROBLEM_PROPERTIES, ...rules }, self: {} };
  }
  if (schema === undefined) {
    return { schema: { type: 'boolean', 'x-kubernetes-validations': [{ rule }] }, self: true };
  }
  return { schema, self: self ?? null };
}

/** Leaves out what a message repeats of the rule, and upstream's name for the type, which is another every time. */
export const shortened = (text: string): string =>
  text
    .replace(/Invalid value: \{"Rule":.*?"OptionalOldSelf":(?:null|true|false)\}: /s, 'Invalid value: {rule}: ')
    .replace(/selfType\d*/g, 'selfType');

export interface Verdict {
  readonly refused: readonly string[];
  readonly errors: readonly string[];
}

const PREFIX = '.properties[spec].properties[p]';

/** What we say to a probe. */
export function ourVerdict({ schema, self, old }: Probe): Verdict {
  const whole: Schema = { type: 'object', properties: { spec: { type: 'object', properties: { p: schema } } } };
  const { rules, problems } = compileSchemaRules(whole);
  const refused = problems
    .map(({ path, message }) => shortened(`${path.slice(PREFIX.length)}: ${message}`))
    .sort();
  if (refused.length > 0) return { refused, errors: [] };
  const errors = rules.validate({ spec: { p: self } }, old === undefined ? undefined : { spec: { p: old } }, '');
  return {
    refused,
    errors: errors.map(({ field, message }) => `$${field.slice('spec.p'.length)}: ${message}`).sort(),
  };
}
