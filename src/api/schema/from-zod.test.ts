import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { structuralOf } from './from-zod.ts';

const raw = (schema: z.ZodType): unknown => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
  });
  return rest;
};

const MAX = Number.MAX_SAFE_INTEGER;
const preserve = { 'x-kubernetes-preserve-unknown-fields': true };

/** What zod writes today (risk 4: a new zod that writes something else shows here), and what we make of it. */
const CASES: readonly { name: string; of: z.ZodType; zod?: unknown; ours: unknown }[] = [
  {
    name: 'int32 without artificial bounds',
    of: z.int32(),
    zod: { type: 'integer', minimum: -2_147_483_648, maximum: 2_147_483_647 },
    ours: { type: 'integer', format: 'int32' },
  },
  {
    name: 'int32 with the bound that is asked for',
    of: z.int32().min(0),
    zod: { type: 'integer', minimum: 0, maximum: 2_147_483_647 },
    ours: { type: 'integer', format: 'int32', minimum: 0 },
  },
  {
    name: 'int as int64 without the safe-integer bounds',
    of: z.int(),
    zod: { type: 'integer', minimum: -MAX, maximum: MAX },
    ours: { type: 'integer', format: 'int64' },
  },
  {
    name: 'number().int() as int64',
    of: z.number().int().max(9),
    ours: { type: 'integer', format: 'int64', maximum: 9 },
  },
  {
    name: 'uint32',
    of: z.uint32(),
    ours: { type: 'integer', format: 'int64', minimum: 0, maximum: 4_294_967_295 },
  },
  { name: 'float64', of: z.float64(), ours: { type: 'number', format: 'double' } },
  { name: 'float32', of: z.float32(), ours: { type: 'number', format: 'float' } },
  {
    name: 'exclusive bounds in the way of OpenAPI 3.0',
    of: z.number().gt(3),
    zod: { type: 'number', minimum: 3, exclusiveMinimum: true },
    ours: { type: 'number', minimum: 3, exclusiveMinimum: true },
  },
  { name: 'date-time without a pattern', of: z.iso.datetime(), ours: { type: 'string', format: 'date-time' } },
  { name: 'ipv4 without a pattern', of: z.ipv4(), ours: { type: 'string', format: 'ipv4' } },
  { name: 'uuid without a pattern', of: z.uuid(), ours: { type: 'string', format: 'uuid' } },
  { name: 'a url', of: z.url(), zod: { type: 'string', format: 'uri' }, ours: { type: 'string', format: 'uri' } },
  { name: 'base64 by the name the server knows', of: z.base64(), ours: { type: 'string', format: 'byte' } },
  {
    name: 'the pattern of a format that only zod knows',
    of: z.string().startsWith('a'),
    zod: { type: 'string', format: 'starts_with', pattern: '^a.*' },
    ours: { type: 'string', pattern: '^a.*' },
  },
  {
    name: 'slashes as they are',
    of: z.string().regex(/^a\/[\\/]$/),
    ours: { type: 'string', pattern: '^a/[\\\\/]$' },
  },
  {
    name: 'two patterns',
    of: z.string().regex(/^a/).regex(/b$/),
    zod: {
      type: 'string',
      allOf: [
        { type: 'string', pattern: '^a' },
        { type: 'string', pattern: 'b$' },
      ],
    },
    ours: { type: 'string', allOf: [{ pattern: '^a' }, { pattern: 'b$' }] },
  },
  {
    name: 'a format and the pattern that its author added',
    of: z.url().regex(/^https:/),
    ours: { type: 'string', format: 'uri', pattern: '^https:' },
  },
  {
    name: 'a format by name and a pattern',
    of: z.string().regex(/^a\//).meta({ format: 'cidr' }).optional(),
    ours: { type: 'string', format: 'cidr', pattern: '^a/' },
  },
  {
    name: 'a loose object',
    of: z.looseObject({}),
    zod: { type: 'object', properties: {}, additionalProperties: {} },
    ours: { type: 'object', ...preserve },
  },
  {
    name: 'a strict object, which pruning takes care of',
    of: z.strictObject({ a: z.string() }),
    zod: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
    ours: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
  },
  {
    name: 'a map without propertyNames',
    of: z.record(z.string().min(2), z.boolean()),
    ours: { type: 'object', additionalProperties: { type: 'boolean' } },
  },
  {
    name: 'a map with known keys as an object',
    of: z.record(z.enum(['b', 'a']), z.boolean()),
    ours: { type: 'object', properties: { a: { type: 'boolean' }, b: { type: 'boolean' } }, required: ['a', 'b'] },
  },
  {
    name: 'a map with some of the known keys',
    of: z.partialRecord(z.enum(['a']), z.boolean()),
    ours: { type: 'object', properties: { a: { type: 'boolean' } } },
  },
  {
    name: 'a nullable type',
    of: z.string().nullable(),
    zod: { type: 'string', nullable: true },
    ours: { type: 'string', nullable: true },
  },
  {
    name: 'a union with null',
    of: z.union([z.int32(), z.null()]),
    ours: { type: 'integer', format: 'int32', nullable: true },
  },
  { name: 'whole numbers of an enum', of: z.literal([1, 2]), ours: { type: 'integer', enum: [1, 2] } },
  { name: 'fractions of an enum', of: z.literal([1.5]), ours: { type: 'number', enum: [1.5] } },
  {
    name: 'readonly',
    of: z.string().readonly(),
    zod: { type: 'string', readOnly: true },
    ours: { type: 'string' },
  },
  {
    name: 'a default, and no requirement of it',
    of: z.object({ a: z.string().default('x') }),
    zod: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
    ours: { type: 'object', properties: { a: { type: 'string', default: 'x' } } },
  },
  {
    name: 'a default that its own defaults complete',
    of: z.object({ a: z.string().default('x') }).prefault({}),
    zod: { type: 'object', properties: { a: { type: 'string', default: 'x' } }, default: {} },
    ours: { type: 'object', properties: { a: { type: 'string', default: 'x' } }, default: {} },
  },
  {
    name: 'metadata through what wraps it and what narrows it',
    of: z.array(z.string()).meta({ 'x-kubernetes-list-type': 'set' }).min(1).optional().describe('d'),
    zod: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      'x-kubernetes-list-type': 'set',
      description: 'd',
    },
    ours: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      'x-kubernetes-list-type': 'set',
      description: 'd',
    },
  },
  {
    name: 'nothing that the server does not know',
    of: z.string().meta({ deprecated: true, 'x-own': 1 }),
    ours: { type: 'string' },
  },
];

describe('the structural schema of a zod schema', () => {
  for (const { name, of, zod, ours } of CASES) {
    it(`runtime/K3: has ${name}`, () => {
      if (zod !== undefined) assert.deepEqual(raw(of), zod);
      assert.deepEqual(structuralOf(of), ours);
    });
  }

  it('runtime/K3: drops the long patterns that zod adds to formats', () => {
    for (const schema of [z.iso.datetime(), z.ipv4(), z.ipv6(), z.uuid(), z.email(), z.iso.date(), z.hostname()]) {
      assert.match(JSON.stringify(raw(schema)), /"pattern"/);
      assert.deepEqual(Object.keys(structuralOf(schema)), ['format', 'type']);
    }
  });

  it('runtime/K3: has no $schema and shares nothing between two places', () => {
    const shared = z.object({ a: z.int32() });
    const schema = structuralOf(z.object({ one: shared, two: shared.optional() }));
    assert.equal(Object.hasOwn(schema, '$schema'), false);
    assert.deepEqual(schema.properties?.['one'], schema.properties?.['two']);
    assert.notEqual(schema.properties?.['one'], schema.properties?.['two']);
  });
});
