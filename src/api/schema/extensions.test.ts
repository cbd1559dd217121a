import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import {
  anyValue,
  cel,
  conditions,
  duration,
  embeddedResource,
  int64,
  intOrString,
  listAtomic,
  listMap,
  listSet,
  mapAtomic,
  preserveUnknown,
  quantity,
  withRules,
} from './extensions.ts';
import { structuralOf } from './from-zod.ts';
import { celName, taggedUnion } from './tagged-union.ts';

const preserve = { 'x-kubernetes-preserve-unknown-fields': true };
const item = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };

const SCHEMAS: readonly (readonly [string, z.ZodType, unknown])[] = [
  [
    'listMap',
    listMap(['a'], z.object({ a: z.string() })),
    { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['a'] },
  ],
  ['listSet', listSet(z.string()), { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }],
  [
    'listAtomic',
    listAtomic(z.string()),
    { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'atomic' },
  ],
  [
    'mapAtomic',
    mapAtomic(z.record(z.string(), z.string())),
    { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
  ],
  ['preserveUnknown', preserveUnknown(), { type: 'object', ...preserve }],
  ['preserveUnknown of an object', preserveUnknown(z.object({ a: z.string() })), { ...item, ...preserve }],
  ['anyValue', anyValue(), preserve],
  [
    'embeddedResource',
    embeddedResource(),
    { type: 'object', 'x-kubernetes-embedded-resource': true, ...preserve },
  ],
  ['intOrString', intOrString(), { 'x-kubernetes-int-or-string': true }],
  ['int64', int64(), { type: 'integer', format: 'int64' }],
];

describe('the helpers of definitions', () => {
  for (const [name, schema, want] of SCHEMAS) {
    it(`runtime/K5: ${name} is written as the server spells it, also when it is optional`, () => {
      assert.deepEqual(structuralOf(schema), want);
      assert.deepEqual(structuralOf(z.object({ x: schema.optional() })).properties?.['x'], want);
    });
  }

  const TEXTS: readonly (readonly [string, z.ZodType, readonly unknown[], readonly unknown[]])[] = [
    ['quantity', quantity(), ['500m', '2Gi', '1e3', '.5', 5, '-1'], ['', '5 Gi', 'Gi', '1Gi2', 1.5, true]],
    ['duration', duration(), ['1h30m', '0s', '1.5s', '-2m', '3ms'], ['', '1', '1d', 'PT1H', '1h ', 5]],
    ['intOrString', intOrString(), [80, 'http', ''], [1.5, true, null]],
    ['int64', int64(), [5, 2n ** 60n], [1.5, '5']],
    [
      'embeddedResource',
      embeddedResource(),
      [{ apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, b: 1 }],
      [{}, 'a'],
    ],
  ];
  for (const [name, schema, good, bad] of TEXTS) {
    it(`runtime/K5: ${name} tells good values from bad ones`, () => {
      assert.deepEqual(
        good.filter((value) => !schema.safeParse(value).success),
        [],
      );
      assert.deepEqual(
        bad.filter((value) => schema.safeParse(value).success),
        [],
      );
    });
  }

  it('runtime/K5: quantity and duration have patterns that the server checks', () => {
    const { pattern, ...rest } = structuralOf(quantity());
    assert.deepEqual(rest, { 'x-kubernetes-int-or-string': true });
    assert.match('500m', new RegExp(pattern ?? 'missing'));
    const time = structuralOf(duration());
    assert.deepEqual([time.type, time.format, time.maxLength], ['string', 'duration', 64]);
    assert.match('1h30m', new RegExp(time.pattern ?? 'missing'));
  });

  it('runtime/K5: cel takes a message or all options, and withRules adds rules to those that are there', () => {
    assert.deepEqual(cel('self > 1', 'more'), { rule: 'self > 1', message: 'more' });
    const options = {
      messageExpression: '"a"',
      reason: 'FieldValueInvalid',
      fieldPath: '.a',
      optionalOldSelf: true,
    };
    assert.deepEqual(cel('true', options), { rule: 'true', ...options });
    const schema = withRules(withRules(z.int32(), cel('self > 1', 'a')), cel('self < 9', 'b'));
    assert.deepEqual(structuralOf(schema)['x-kubernetes-validations'], [
      cel('self > 1', 'a'),
      cel('self < 9', 'b'),
    ]);
  });

  it('runtime/K5: conditions are a list by type, with the bounds of metav1', () => {
    const schema = structuralOf(conditions());
    assert.deepEqual(schema['x-kubernetes-list-map-keys'], ['type']);
    const good = {
      type: 'Ready',
      status: 'True',
      reason: 'Up',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    assert.ok(conditions().safeParse([good, { ...good, type: 'a.example/Ready', observedGeneration: 3 }]).success);
    for (const wrong of [{ status: 'Maybe' }, { reason: '' }, { type: 'a b' }, { lastTransitionTime: 'now' }]) {
      assert.equal(conditions().safeParse([{ ...good, ...wrong }]).success, false, JSON.stringify(wrong));
    }
  });
});

describe('taggedUnion', () => {
  const union = taggedUnion('type', { file: z.object({ path: z.string() }), import: z.object({}) });

  it('runtime/K4: makes every branch optional and says in rules which one is there', () => {
    assert.deepEqual(structuralOf(union), {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['file', 'import'] },
        file: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        import: { type: 'object' },
      },
      required: ['type'],
      'x-kubernetes-validations': [
        {
          rule: "(self.type == 'file') == has(self.file)",
          message: 'file is required when type is file, and forbidden otherwise',
        },
        {
          rule: "(self.type == 'import') == has(self.__import__)",
          message: 'import is required when type is import, and forbidden otherwise',
        },
      ],
    });
  });

  it('runtime/K4: is one of the branches for the type checker and for parse', () => {
    const value: z.output<typeof union> = { type: 'file', file: { path: 'a' } };
    assert.equal(value.type === 'file' ? value.file.path : '', 'a');
    assert.ok(union.safeParse(value).success);
    assert.equal(union.safeParse({ type: 'file' }).success, false);
    assert.equal(union.safeParse({ ...value, import: {} }).success, false);
    assert.equal(union.safeParse({ type: 'other' }).success, false);
  });

  it('refuses a branch with the name of the key', () => {
    assert.throws(() => taggedUnion('type', { type: z.string() }), /the branch type has the name of the key/);
  });

  it('spells names as CEL does', () => {
    const names = ['a', 'in', 'a-b', 'a.b', 'a/b', 'a__b', 'namespace'];
    assert.deepEqual(names.map(celName), [
      'a',
      '__in__',
      'a__dash__b',
      'a__dot__b',
      'a__slash__b',
      'a__underscores__b',
      '__namespace__',
    ]);
  });
});
