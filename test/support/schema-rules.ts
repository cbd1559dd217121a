import assert from 'node:assert/strict';
import type { Schema, ValidationRule } from '../../src/api/schema/structural.ts';
import { compileSchemaRules } from '../../src/apiserver/cel/rules.ts';
import type { Json } from '../../src/object/json.ts';

/** A schema of an object with rules of its own. */
export const object = (properties: Readonly<Record<string, Schema>>, ...rules: ValidationRule[]): Schema => ({
  type: 'object',
  properties,
  'x-kubernetes-validations': rules,
});

/** A schema with rules; a text is a rule with nothing else. */
export const ruled = (schema: Schema, ...rules: (string | ValidationRule)[]): Schema => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

interface Case {
  readonly old?: Json;
  readonly path?: string;
  readonly isRatcheting?: boolean;
}

/** What the rules say about a value: `spec.a: Invalid value: …`. */
export function errorsOf(
  schema: Schema,
  value: Json,
  { old, path = 'spec', isRatcheting = true }: Case = {},
): readonly string[] {
  const { rules, problems } = compileSchemaRules(schema);
  assert.deepEqual(problems, []);
  return rules.validate(value, old, path, { isRatcheting }).map(({ field, message }) => `${field}: ${message}`);
}

/** What is wrong with the rules themselves. */
export const problemsOf = (schema: Schema): readonly string[] =>
  compileSchemaRules(schema).problems.map(({ path, message }) => `${path}: ${message}`);
