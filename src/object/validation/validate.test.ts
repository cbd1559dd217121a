import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Schema } from '../../api/schema/structural.ts';
import { fieldErrorText } from '../field-error.ts';
import type { Json } from '../json.ts';
import { validateSchema } from './validate.ts';

/** A schema for `v`, a value of it, and what kube-apiserver says. */
type Case = readonly [schema: Schema, value: Json, ...expected: readonly string[]];

const findings = (schema: Schema, value: Json, old?: Json): readonly string[] =>
  validateSchema(
    { v: value },
    { type: 'object', properties: { v: schema } },
    old === undefined ? {} : { old: { v: old } },
  ).map((error) => `${error.reason} ${fieldErrorText(error)}`);

const TYPE: readonly Case[] = [
  [{ type: 'string' }, 'x'],
  [
    { type: 'integer' },
    'string',
    'FieldValueTypeInvalid v: Invalid value: "string": v in body must be of type integer: "string"',
  ],
  [
    { type: 'string' },
    null,
    'FieldValueTypeInvalid v: Invalid value: "null": v in body must be of type string: "null"',
  ],
  [{ type: 'string', nullable: true }, null],
  [
    { type: 'string', enum: ['x'], nullable: true },
    null,
    'FieldValueNotSupported v: Unsupported value: null: supported values: "x"',
  ],
  [
    { type: 'boolean' },
    0,
    'FieldValueTypeInvalid v: Invalid value: "integer": v in body must be of type boolean: "integer"',
  ],
  [{ type: 'string', format: 'date' }, ['a']],
  [
    { type: 'string', format: 'date' },
    true,
    'FieldValueTypeInvalid v: Invalid value: "": v in body must be of type date: ""',
  ],
  [
    { type: 'string', format: 'ipv4' },
    'x',
    'FieldValueTypeInvalid v: Invalid value: "x": v in body must be of type ipv4: "x"',
  ],
  [{ type: 'string', format: 'ip' }, 'x'],
];

const NUMBERS: readonly Case[] = [
  [{ 'x-kubernetes-int-or-string': true }, 5],
  [{ 'x-kubernetes-int-or-string': true }, '5%'],
  [
    { 'x-kubernetes-int-or-string': true },
    1.5,
    'FieldValueTypeInvalid v: Invalid value: "number": v in body must be of type integer,string: "number"',
  ],
  [{ type: 'integer' }, 1.0],
  [
    { type: 'integer' },
    1.5,
    'FieldValueTypeInvalid v: Invalid value: "number": v in body must be of type integer: "number"',
    'FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type integer (default format) in v',
  ],
  [
    { type: 'integer', format: 'int32' },
    1.5,
    'FieldValueTypeInvalid v: Invalid value: "float64": v in body must be of type int32: "float64"',
    'FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type integer with format int32 in v',
  ],
  [
    { type: 'integer', format: 'int32' },
    2 ** 31,
    'FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type integer with format int32 in v',
  ],
  [{ type: 'integer', format: 'int64' }, 2n ** 62n],
  [
    { type: 'number', format: 'float' },
    1e39,
    'FieldValueInvalid <nil>: Invalid value: "": Checked value must be of type number with format float in v',
  ],
  [
    { type: 'integer', minimum: 0 },
    -1,
    'FieldValueInvalid v: Invalid value: -1: v in body should be greater than or equal to 0',
  ],
  [
    { type: 'integer', maximum: 0, exclusiveMaximum: true },
    0,
    'FieldValueInvalid v: Invalid value: 0: v in body should be less than 0',
  ],
  [
    { type: 'number', maximum: 2.5 },
    2.75,
    'FieldValueInvalid v: Invalid value: 2.75: v in body should be less than or equal to 2.5',
  ],
  [
    { type: 'integer', minimum: 0.5 },
    1,
    'FieldValueInvalid <nil>: Invalid value: "": Minimum boundary value must be of type integer (default format) in v',
  ],
  [
    { type: 'integer', multipleOf: 3 },
    4,
    'FieldValueInvalid v: Invalid value: 4: v in body should be a multiple of 3',
  ],
  [
    { type: 'number', multipleOf: 0.5 },
    1,
    'FieldValueInvalid v: Invalid value: 0: factor MultipleOf declared for v must be positive: 0',
  ],
  [
    { type: 'number', multipleOf: 0.5 },
    1.3,
    'FieldValueInvalid v: Invalid value: 1.3: v in body should be a multiple of 0.5',
  ],
  [{ type: 'number', multipleOf: 0.1 }, 0.3],
];

const SIZES: readonly Case[] = [
  [{ type: 'string', maxLength: 2 }, '😀😀'],
  [
    { type: 'string', maxLength: 2, pattern: 'x' },
    'abc',
    'FieldValueTooLong v: Too long: may not be more than 2 bytes',
  ],
  [
    { type: 'string', minLength: 2 },
    'a',
    'FieldValueInvalid v: Invalid value: "a": v in body should be at least 2 chars long',
  ],
  [
    { type: 'string', pattern: '^[[:alpha:]]+$' },
    'a1',
    'FieldValueInvalid v: Invalid value: "a1": v in body should match \'^[[:alpha:]]+$\'',
  ],
  [{ type: 'string', pattern: 'b' }, 'abc'],
  [
    { type: 'string', enum: ['a', 'b'] },
    'c',
    'FieldValueNotSupported v: Unsupported value: "c": supported values: "a", "b"',
  ],
  [
    { type: 'integer', enum: [1, 65] },
    2,
    'FieldValueNotSupported v: Unsupported value: 2: supported values: "1", "65"',
  ],
  [{ enum: ['A', 1, { a: 1 }] }, 65],
  [{ enum: ['A', 1, { a: 1 }] }, { a: 1 }],
  [{ enum: [1] }, 1.5],
  [
    { type: 'array', items: { type: 'string' }, minItems: 1 },
    [],
    'FieldValueInvalid v: Invalid value: 0: v in body should have at least 1 items',
  ],
  [
    { type: 'array', items: { type: 'string' }, maxItems: 1 },
    ['a', 1],
    'FieldValueTypeInvalid v[1]: Invalid value: "integer": v[1] in body must be of type string: "integer"',
    'FieldValueTooMany v: Too many: 2: must have at most 1 items',
  ],
  [
    { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1 },
    {},
    'FieldValueInvalid v: Invalid value: 0: v in body should have at least 1 properties',
  ],
  [
    { type: 'object', additionalProperties: { type: 'string' }, maxProperties: 1 },
    { a: 'x', b: 'y' },
    'FieldValueTooMany v: Too many: 2: must have at most 1 items',
  ],
  [
    { type: 'object', additionalProperties: false },
    { a: 1 },
    'FieldValueInvalid v: Invalid value: "a": v.a in body is a forbidden property',
  ],
  [{ type: 'object', required: ['toString'] }, {}, 'FieldValueRequired v.toString: Required value'],
];

const BRANCHES: readonly Case[] = [
  [
    { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    {},
    'FieldValueInvalid <nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found none valid',
    'FieldValueRequired v.a: Required value',
  ],
  [
    { type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] },
    { a: 1, b: 2 },
    'FieldValueInvalid <nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  [{ type: 'object', oneOf: [{ required: ['a'] }, { required: ['b'] }] }, { a: 1 }],
  [
    { type: 'string', anyOf: [{ minLength: 3 }, { format: 'ipv4' }] },
    'x',
    'FieldValueInvalid <nil>: Invalid value: "": "v" must validate at least one schema (anyOf)',
    'FieldValueTypeInvalid v: Invalid value: "x": v in body must be of type ipv4: "x"',
  ],
  [{ type: 'string', anyOf: [{ minLength: 3 }, { maxLength: 1 }] }, 'x'],
  [
    { type: 'string', allOf: [{ minLength: 3 }, { maxLength: 1 }] },
    'x',
    'FieldValueInvalid v: Invalid value: "x": v in body should be at least 3 chars long',
    'FieldValueInvalid <nil>: Invalid value: "": "v" must validate all the schemas (allOf)',
  ],
  [
    { type: 'string', allOf: [{ minLength: 3 }] },
    'x',
    'FieldValueInvalid v: Invalid value: "x": v in body should be at least 3 chars long',
    'FieldValueInvalid <nil>: Invalid value: "": "v" must validate all the schemas (allOf). None validated',
  ],
  [
    { type: 'string', not: { enum: ['x'] } },
    'x',
    'FieldValueInvalid <nil>: Invalid value: "": "v" must not validate the schema (not)',
  ],
];

const table = (rule: string, cases: readonly Case[]): void => {
  for (const [schema, value, ...expected] of cases) {
    const shown = JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item));
    it(`apiserver/${rule}: judges ${shown} by ${JSON.stringify(schema)}`, () => {
      assert.deepEqual(findings(schema, value), expected);
    });
  }
};

describe('schema validation', () => {
  table('X15', TYPE);
  table('X17', NUMBERS);
  table('X15', SIZES);
  table('X15', BRANCHES);

  it('apiserver/X15: puts the path of a part into the field but not into the text', () => {
    const errors = validateSchema(
      { s: 1 },
      { type: 'object', properties: { s: { type: 'string' } }, required: ['t'] },
      { base: 'status' },
    );
    assert.deepEqual(
      errors.map(({ field }) => field),
      ['status.s', 'status.t'],
    );
    assert.match(errors[0]?.message ?? '', /: s in body must be of type string/);
    assert.equal(validateSchema('x', { type: 'object' }, { base: 'status' })[0]?.field, 'status');
  });

  it('reports a finding of several branches once', () => {
    const found = findings({ type: 'string', maxLength: 1, allOf: [{ maxLength: 1 }, { maxLength: 1 }] }, 'xx');
    assert.equal(found.filter((text) => text.includes('Too long')).length, 1);
  });

  it('reliability/P9: compares a finding with those before it without looking at each', () => {
    const schema: Schema = { type: 'object', additionalProperties: { type: 'string' } };
    const value = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, at]));
    const found = validateSchema(value, schema);
    assert.deepEqual([found.length, found[19_999]?.field], [20_000, 'k19999']);
  });
});

describe('ratcheting', () => {
  const short: Schema = { type: 'string', maxLength: 2 };
  const item: Schema = { type: 'object', properties: { key: { type: 'string' }, v: short }, required: ['key'] };
  const keyed: Schema = {
    type: 'array',
    items: item,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['key'],
  };
  const pair: Schema = { type: 'object', properties: { a: short, b: short } };
  const map: Schema = { type: 'object', additionalProperties: short };
  const branched: Schema = { ...pair, allOf: [{ properties: { a: { maxLength: 2 } } }] };

  /** Whether the new value is let pass. */
  const cases: readonly (readonly [name: string, schema: Schema, old: Json, value: Json, passes: boolean])[] = [
    ['forgives a field that did not change', pair, { a: 'long' }, { a: 'long', b: 'x' }, true],
    ['blames a field that changed', pair, { a: 'long' }, { a: 'longer' }, false],
    ['blames a field that is new', pair, {}, { a: 'long' }, false],
    [
      'finds items of map lists by their keys',
      keyed,
      [{ key: '1', v: 'long' }, { key: '2' }],
      [
        { key: '2', v: 'x' },
        { key: '1', v: 'long' },
      ],
      true,
    ],
    ['blames a changed item', keyed, [{ key: '1', v: 'long' }], [{ key: '1', v: 'longer' }], false],
    [
      'takes atomic lists as a whole',
      { type: 'array', items: item },
      [{ key: '1', v: 'long' }],
      [{ key: '1', v: 'long' }, { key: '2' }],
      false,
    ],
    [
      'forgives an atomic list that did not change',
      { type: 'array', items: item },
      [{ key: '1', v: 'long' }],
      [{ key: '1', v: 'long' }],
      true,
    ],
    ['forgives a map value', map, { k: 'long' }, { k: 'long', l: 'x' }, true],
    [
      'forgives a missing field of an unchanged object',
      { type: 'object', properties: { x: pair }, required: ['x'] },
      {},
      {},
      true,
    ],
    ['does not forgive inside branches', branched, { a: 'long' }, { a: 'long', b: 'x' }, false],
    [
      'does not pair what the schema does not name',
      { type: 'object', required: ['a'], 'x-kubernetes-preserve-unknown-fields': true },
      { z: 1 },
      { z: 1 },
      false,
    ],
    ['pairs no item without its key', keyed, [{ v: 'long' }], [{ v: 'long' }], false],
  ];
  for (const [name, schema, old, value, passes] of cases) {
    it(`apiserver/X21: ${name}`, () => {
      assert.notDeepEqual(findings(schema, value), []);
      assert.equal(findings(schema, value, old).length === 0, passes);
    });
  }

  it('forgives neither kind nor apiVersion', () => {
    const schema: Schema = { type: 'object', properties: { kind: short } };
    assert.equal(validateSchema({ kind: 'long', x: 1 }, schema, { old: { kind: 'long' } }).length, 1);
  });
});
