import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { Widget } from '../../../test/support/widget-kind.ts';
import { defineKind } from './define-kind.ts';
import { cel, intOrString, listMap, withRules } from './extensions.ts';
import { lintKind } from './lint-kind.ts';

const names = { group: 'a.example', version: 'v1', kind: 'Boat', plural: 'boats', scope: 'Cluster' } as const;
const text = z.string();

const boat = (spec: z.ZodType, ...rules: readonly string[]) =>
  defineKind({ ...names, spec, rules: { spec: rules.map((rule) => cel(rule, 'no')) } });

const CASES: readonly { name: string; kind: ReturnType<typeof boat>; want: readonly string[] }[] = [
  {
    name: 'text without maxLength',
    kind: boat(z.object({ a: text }), "self.a != ''"),
    want: ['spec.a maxLength'],
  },
  {
    name: 'a list without maxItems',
    kind: boat(z.object({ a: z.array(z.int32()) }), 'self.a.all(x, x > 1)'),
    want: ['spec.a maxItems'],
  },
  {
    name: 'a map without maxProperties, and its values',
    kind: boat(z.object({ a: z.record(z.string(), text) }), "self.a['x'] == 'y'"),
    want: ['spec.a maxProperties', 'spec.a.* maxLength'],
  },
  {
    name: 'int-or-string',
    kind: boat(z.object({ a: intOrString() }), 'type(self.a) == int'),
    want: ['spec.a maxLength'],
  },
  {
    name: 'what is below what a rule compares as a whole',
    kind: boat(z.object({ a: z.object({ b: text }), c: text }), 'self == oldSelf'),
    want: ['spec.a.b maxLength', 'spec.c maxLength'],
  },
  {
    name: 'a list that holds what has a rule',
    kind: boat(z.object({ a: z.array(withRules(z.object({ n: z.int32() }), cel('self.n > 1', 'no'))) })),
    want: ['spec.a maxItems'],
  },
  {
    name: 'what the message reads',
    kind: defineKind({
      ...names,
      spec: z.object({ a: z.int32(), b: text }),
      rules: { spec: [cel('self.a > 1', { messageExpression: 'self.b' })] },
    }),
    want: ['spec.b maxLength'],
  },
  { name: 'nothing that no rule reads', kind: boat(z.object({ a: text, b: z.int32() }), 'self.b > 1'), want: [] },
  {
    name: 'nothing for a word in a text',
    kind: boat(z.object({ a: text, b: z.enum(['a', 'c']) }), "self.b == 'a'"),
    want: [],
  },
  {
    name: 'nothing that is bounded, counted or timed',
    kind: boat(
      z.object({
        a: text.max(9),
        b: z.enum(['x']),
        c: z.iso.datetime(),
        d: listMap(['k'], z.object({ k: text.max(9) })).max(3),
      }),
      "self.a == '' && self.b == 'x' && self.c == self.c && self.d.all(x, x.k != '')",
    ),
    want: [],
  },
];

describe('lintKind', () => {
  for (const { name, kind, want } of CASES) {
    it(`runtime/K6: warns of ${name}`, () => {
      assert.deepEqual(
        lintKind(kind),
        want.map((line) => {
          const [path, bound] = line.split(' ');
          return `Boat ${path}: a CEL rule depends on it and it has no ${bound}`;
        }),
      );
    });
  }
});

describe('lintKind of paths', () => {
  it('warns of columns, replicas and selectable fields that lead nowhere', () => {
    const kind = defineKind({
      ...names,
      spec: z.object({ a: z.int32(), map: z.record(z.string(), z.string()) }),
      columns: [
        { name: 'Good', type: 'integer', jsonPath: '.spec.a' },
        { name: 'Map', type: 'string', jsonPath: '.spec.map.key' },
        { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        { name: 'Bad', type: 'string', jsonPath: '.spec.b' },
      ],
      selectableFields: ['.spec.c'],
      subresources: { scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a' } },
    });
    assert.deepEqual(lintKind(kind), [
      'Boat column Bad: .spec.b is not in the schema',
      'Boat selectable field: .spec.c is not in the schema',
      'Boat scale statusReplicasPath: .status.a is not in the schema',
    ]);
    assert.deepEqual(
      lintKind(Widget).filter((line) => line.endsWith('not in the schema')),
      [],
    );
  });

  it('warns of a status that the server drops', () => {
    const bare = { ...names, subresources: { status: true } };
    assert.deepEqual(lintKind(defineKind(bare)), [
      'Boat status: the subresource is on, but the schema has no status, so the server drops it',
    ]);
    assert.deepEqual(lintKind(defineKind({ ...bare, isForeign: true })), []);
    assert.deepEqual(lintKind(defineKind({ ...bare, status: z.object({}) })), []);
  });
});
