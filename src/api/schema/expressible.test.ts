import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { defineKind } from './define-kind.ts';
import { conditions, intOrString, listMap, listSet, mapAtomic } from './extensions.ts';
import { KindDefinitionError } from './kind-error.ts';
import { taggedUnion } from './tagged-union.ts';

const names = { group: 'a.example', version: 'v1', kind: 'Boat', plural: 'boats', scope: 'Namespaced' } as const;

function problemsOf(field: z.ZodType): readonly (readonly [string, string, string | undefined])[] {
  try {
    defineKind({ ...names, spec: z.object({ field }) });
    return [];
  } catch (error) {
    assert.ok(error instanceof KindDefinitionError);
    return error.problems.map(({ path, problem, hint }) => [path, problem, hint]);
  }
}

const Tree = z.object({
  name: z.string(),
  get children() {
    return z.array(Tree).optional();
  },
});
const transform = ['spec.field', 'a transform exists only in TypeScript'] as const;

const REFUSED: readonly (readonly [string, z.ZodType, string, string, RegExp])[] = [
  [
    'a union',
    z.union([z.string(), z.boolean()]),
    'spec.field',
    'a union is not structural',
    /^use an optional field .*preserveUnknown/,
  ],
  [
    'a union of literals',
    z.union([z.literal('a'), z.literal('b')]),
    'spec.field',
    'a union is not structural',
    /^use z\.enum/,
  ],
  [
    'number or text',
    z.union([z.int(), z.string()]),
    'spec.field',
    'a union is not structural',
    /^use intOrString\(\)/,
  ],
  [
    'a discriminated union',
    z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]),
    'spec.field',
    'a union is not structural',
    /^use taggedUnion\('type'/,
  ],
  [
    'a union in a list',
    z.array(z.union([z.string(), z.boolean()])),
    'spec.field[]',
    'a union is not structural',
    /./,
  ],
  [
    'a union in a map',
    z.record(z.string(), z.union([z.string(), z.boolean()])),
    'spec.field.*',
    'a union is not structural',
    /./,
  ],
  [
    'a recursive schema',
    Tree,
    'spec.field.children[]',
    'the schema contains itself, which is not structural',
    /levels/,
  ],
  ['a tuple', z.tuple([z.string(), z.int()]), 'spec.field', 'a tuple is not structural', /^use .*named field/],
  ['a transform', z.string().transform((text) => text.length), ...transform, /as it is in JSON/],
  ['a preprocessed value', z.preprocess((value) => value, z.string()), ...transform, /as it is in JSON/],
  ['a codec', z.stringbool(), ...transform, /as it is in JSON/],
  ['trimmed text', z.string().trim(), 'spec.field', 'the server changes no values', /pattern/],
  [
    'a refinement',
    z.string().refine((text) => text !== 'a'),
    'spec.field',
    'a refinement exists only in TypeScript',
    /cel/,
  ],
  [
    'a refinement of a helper',
    intOrString().refine(() => true),
    'spec.field',
    'a refinement exists only in TypeScript',
    /cel/,
  ],
  [
    'a refinement of a tagged union',
    taggedUnion('type', { a: z.object({}) }).refine(() => true),
    'spec.field',
    'a refinement exists only in TypeScript',
    /cel/,
  ],
  ['coercion', z.coerce.number(), 'spec.field', 'the server does not coerce', /JSON/],
  ['a catch', z.string().catch('a'), 'spec.field', 'the server has no .catch()', /default/],
  ['a bigint', z.bigint(), 'spec.field', 'JSON has no bigint', /int64\(\)/],
  ['a Date', z.date(), 'spec.field', 'JSON has no Date', /datetime/],
  ['a Map', z.map(z.string(), z.string()), 'spec.field', 'JSON has no Map', /z\.record/],
  ['a Set', z.set(z.string()), 'spec.field', 'JSON has no Set', /listSet/],
  ['any value', z.unknown(), 'spec.field', 'any value at all', /preserveUnknown/],
  ['an intersection', z.object({}).and(z.object({})), 'spec.field', 'an intersection is not structural', /extend/],
  ['a map with fields', z.object({}).catchall(z.string()), 'spec.field', 'fields and a map in one object', /own/],
  [
    'keys that are numbers',
    z.record(z.number(), z.string()),
    'spec.field',
    'the keys of a map are text',
    /z\.string/,
  ],
  ['mixed literals', z.literal(['a', 1]), 'spec.field', 'the values of an enum are of one type', /text/],
  ['an ISO duration', z.iso.duration(), 'spec.field', 'the server knows no ISO 8601 durations', /duration\(\)/],
  [
    'flags of a pattern',
    z.string().regex(/a/i),
    'spec.field',
    'the flags of a pattern (i) are lost in a schema',
    /\[aA\]/,
  ],
  [
    'a default that changes',
    z.string().default(() => `${counter++}`),
    'spec.field',
    'a default that is another one each time',
    /fixed/,
  ],
];
let counter = 0;

describe('a definition', () => {
  it('runtime/K4: sample case 14, a zod union in the spec is an error that names the path', () => {
    assert.throws(
      () => defineKind({ ...names, spec: z.object({ a: z.object({ b: z.union([z.string(), z.boolean()]) }) }) }),
      {
        name: 'KindDefinitionError',
        message: /^kind Boat cannot be a CustomResourceDefinition: spec\.a\.b: a union is not structural \(/,
      },
    );
  });

  for (const [name, field, path, problem, hint] of REFUSED) {
    it(`runtime/K4: refuses ${name}, says where and what to write instead`, () => {
      const [first] = problemsOf(field);
      assert.deepEqual(first?.slice(0, 2), [path, problem]);
      assert.match(first?.[2] ?? '', hint);
    });
  }

  for (const pattern of [/(?=a)b/, /(?!a)b/, /(?<=a)b/, /(a)\1/]) {
    it(`runtime/K4: refuses the pattern ${pattern.source}, which RE2 cannot compile`, () => {
      const [first] = problemsOf(z.string().regex(pattern));
      assert.match(first?.[1] ?? '', /does not compile as RE2/);
      assert.match(first?.[2] ?? '', /cel\(\)/);
    });
  }

  const item = z.object({ a: z.string().optional(), b: z.object({}), c: z.enum(['x']).default('x') });
  for (const [name, field, path, problem] of [
    ['may be missing', listMap(['a'], item), 'spec.field[].a', 'a key of listMap that may be missing'],
    [
      'is an object',
      listMap(['b'], item),
      'spec.field[].b',
      'a key of listMap that is not a text, number or boolean',
    ],
    ['is an object of a set', listSet(item), 'spec.field[]', 'an item of listSet that is not atomic'],
  ] as const) {
    it(`runtime/K4: refuses a list whose key ${name}, as the server would`, () => {
      assert.deepEqual(problemsOf(field)[0]?.slice(0, 2), [path, problem]);
    });
  }

  it('runtime/K4: accepts lists by keys with a default and sets of atomic objects', () => {
    assert.deepEqual(problemsOf(listMap(['c'], item).min(1).optional()), []);
    assert.deepEqual(problemsOf(listSet(mapAtomic(item))), []);
  });

  it('runtime/K4: reports every problem at once, in spec, status and other fields', () => {
    const bad = z.object({ a: z.bigint(), b: z.date() });
    assert.throws(
      () => defineKind({ ...names, spec: bad, status: bad, fields: { c: z.tuple([]) } }),
      (error) => {
        assert.ok(error instanceof KindDefinitionError);
        assert.deepEqual(
          error.problems.map(({ path }) => path),
          ['c', 'spec.a', 'spec.b', 'status.a', 'status.b'],
        );
        return true;
      },
    );
  });

  for (const [name, field] of [
    ['int-or-string', intOrString()],
    ['null or a type', z.union([z.string(), z.null()])],
    ['nullable', z.string().nullable()],
    ['a lazy type that ends', z.lazy(() => z.string())],
    ['one schema at two places', z.object({ a: Tree.shape.name, b: Tree.shape.name })],
    ['conditions', conditions()],
    ['a tagged union', taggedUnion('type', { a: z.object({}) })],
    ['an enum', z.enum(['a', 'b'])],
    ['a readonly list', z.array(z.string()).readonly()],
    ['a pattern with a unicode flag', z.string().regex(/a/u)],
    ['a template', z.templateLiteral(['a', z.string()])],
  ] as const) {
    it(`runtime/K4: accepts ${name}`, () => {
      assert.deepEqual(problemsOf(field), []);
    });
  }
});
