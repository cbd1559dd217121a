import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Widget } from '../../../test/support/widget-kind.ts';
import type { JsonObject } from '../json.ts';
import { kindFromCrd } from './kind-from-crd.ts';
import type { Schema } from './structural.ts';

const crd = (schema: Schema, more: JsonObject = {}): JsonObject => ({
  spec: {
    group: 'a.example',
    scope: 'Cluster',
    names: { kind: 'Boat', plural: 'boats', singular: 'boat', listKind: 'BoatList' },
    versions: [
      { name: 'v1beta1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
      // The schema is JSON, which its type does not say.
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: schema as unknown as JsonObject },
        ...more,
      },
    ],
  },
});

const specOf = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, required } },
});

/** The line of one field in the written definition. */
function lineOf(schema: Schema, isRequired = true): string {
  const { source } = kindFromCrd(crd(specOf({ f: schema }, isRequired ? ['f'] : [])));
  return /^ +f: (.*),$/m.exec(source)?.[1] ?? source;
}

const FIELDS: readonly (readonly [Schema, string])[] = [
  [{ type: 'string' }, 'z.string()'],
  [
    { type: 'string', minLength: 1, maxLength: 9, pattern: '^a/b$' },
    'z.string().min(1).max(9).regex(new RegExp("^a/b$"))',
  ],
  [{ type: 'string', pattern: '(?i)a' }, 'z.string().meta({ pattern: "(?i)a" })'],
  [{ type: 'string', enum: ['a', 'b'] }, 'z.enum(["a","b"])'],
  [{ type: 'string', format: 'date-time' }, 'z.iso.datetime({ offset: true })'],
  [{ type: 'string', format: 'byte' }, 'z.string().meta({ format: "byte" })'],
  [{ type: 'string', nullable: true, description: 'd' }, 'z.string().describe("d").nullable()'],
  [{ type: 'integer', format: 'int32', minimum: 1, maximum: 5 }, 'z.int32().min(1).max(5)'],
  [{ type: 'integer' }, 'z.int()'],
  [{ type: 'integer', enum: [1, 2] }, 'z.literal([1,2])'],
  [{ type: 'number', exclusiveMinimum: true, minimum: 0, multipleOf: 2 }, 'z.number().gt(0).multipleOf(2)'],
  [{ type: 'number', format: 'double', exclusiveMaximum: true, maximum: 1 }, 'z.float64().lt(1)'],
  [{ type: 'number', format: 'float' }, 'z.float32()'],
  [{ type: 'boolean', default: true }, 'z.boolean().default(true)'],
  [{ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'intOrString()'],
  [{ 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+%$' }, 'intOrString(new RegExp("^[0-9]+%$"))'],
  [{ 'x-kubernetes-int-or-string': true, pattern: '^[0-9]+[numkMGTPE]$' }, 'quantity()'],
  [{ type: 'object', 'x-kubernetes-embedded-resource': true }, 'embeddedResource()'],
  [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, 'preserveUnknown()'],
  [{ 'x-kubernetes-preserve-unknown-fields': true }, 'anyValue()'],
  [{ type: 'object' }, 'z.object({})'],
  [{ type: 'object', default: {} }, 'z.object({}).prefault({})'],
  [
    { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 3 },
    'z.record(z.string(), z.string()).meta({ maxProperties: 3 })',
  ],
  [
    { type: 'object', additionalProperties: true, 'x-kubernetes-map-type': 'atomic' },
    'mapAtomic(z.record(z.string(), anyValue()))',
  ],
  [{ type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 }, 'z.array(z.string()).min(1).max(2)'],
  [{ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }, 'listSet(z.string())'],
  [{ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' }, 'listAtomic(z.string())'],
  [
    { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1', message: 'm' }] },
    'withRules(z.int(), cel("self > 1", "m"))',
  ],
  [
    { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 1', reason: 'r' }] },
    'withRules(z.int(), cel("self > 1", {"reason":"r"}))',
  ],
];

describe('kindFromCrd', () => {
  for (const [schema, want] of FIELDS) {
    it(`runtime/K2: writes ${JSON.stringify(schema)} as ${want}`, () => {
      assert.equal(lineOf(schema), want);
    });
  }

  it('runtime/K2: writes a whole definition of the stored version', () => {
    const schema: Schema = {
      type: 'object',
      description: 'Floats.',
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        data: { type: 'string' },
        spec: { type: 'object', properties: { 'a-b': { type: 'string' } } },
        status: { type: 'object' },
      },
      required: ['spec'],
      'x-kubernetes-validations': [{ rule: 'true', message: 'm' }],
    };
    const { source, dropped } = kindFromCrd(crd(schema, { subresources: { status: {} } }), {
      schemaFolder: '../schema',
      isForeign: true,
    });
    assert.deepEqual(dropped, []);
    assert.equal(
      source,
      `import * as z from 'zod';
import { defineKind, type KindOf } from '../schema/define-kind.ts';
import { cel } from '../schema/extensions.ts';

export const Boat = defineKind({
  group: "a.example",
  version: "v1",
  kind: "Boat",
  plural: "boats",
  scope: "Cluster",
  description: "Floats.",
  spec: z.object({
    "a-b": z.string().optional(),
  }),
  status: z.object({}),
  fields: {
    data: z.string().optional(),
  },
  rules: { root: [cel("true", "m")] },
  subresources: {"status":true},
  isForeign: true,
});
export type Boat = KindOf<typeof Boat>;
`,
    );
  });

  it('runtime/K2: leaves out words and rules when they are not ours to copy', () => {
    const schema: Schema = {
      type: 'string',
      description: 'Theirs.',
      'x-kubernetes-validations': [{ rule: 'true' }],
    };
    const { source } = kindFromCrd(crd(specOf({ f: schema })), { hasDescriptions: false, hasRules: false });
    assert.match(source, /f: z\.string\(\)\.optional\(\),/);
    assert.doesNotMatch(source, /Theirs|cel/);
  });

  it('tells what a definition cannot say', () => {
    const { dropped } = kindFromCrd(crd(specOf({ f: { type: 'object', oneOf: [{ required: ['a'] }] } })));
    assert.deepEqual(dropped, ['spec.f: oneOf']);
  });

  it('refuses a version that is not there', () => {
    assert.throws(
      () => kindFromCrd(crd({ type: 'object' }), { version: 'v3' }),
      /kind Boat .*version: there is no version v3; there are v1beta1, v1/,
    );
    assert.match(kindFromCrd(crd({ type: 'object' }), { version: 'v1beta1' }).source, /version: "v1beta1"/);
  });

  it('writes the same text each time', () => {
    assert.equal(kindFromCrd(Widget.toCRD()).source, kindFromCrd(Widget.toCRD()).source);
  });
});
