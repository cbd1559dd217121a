import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Schema } from '../api/schema/structural.ts';
import { type Json, type JsonObject, jsonEqual } from './json.ts';
import { parseJson, stringifyJson } from './json-text.ts';
import { applyStrategicMergePatch } from './strategic-merge.ts';

const byKey = (key: string, items: Schema, strategy = 'merge'): Schema => ({
  type: 'array',
  items,
  'x-kubernetes-patch-strategy': strategy,
  'x-kubernetes-patch-merge-key': key,
});
const text: Schema = { type: 'string' };
const plainList: Schema = { type: 'array', items: text };

const container: Schema = {
  type: 'object',
  properties: {
    name: text,
    image: text,
    args: plainList,
    env: byKey('name', { type: 'object', properties: { name: text, value: text } }),
    ports: byKey('containerPort', {
      type: 'object',
      properties: { containerPort: { type: 'integer' }, protocol: text },
    }),
  },
};

/** What the built-in table says about a Pod, as far as these tests need it. */
const pod: Schema = {
  type: 'object',
  properties: {
    metadata: {
      type: 'object',
      properties: {
        labels: { type: 'object', additionalProperties: text },
        finalizers: { type: 'array', items: text, 'x-kubernetes-patch-strategy': 'merge' },
        ownerReferences: byKey('uid', { type: 'object', properties: { uid: text, name: text } }),
      },
    },
    spec: {
      type: 'object',
      properties: {
        containers: byKey('name', container),
        volumes: byKey(
          'name',
          {
            type: 'object',
            properties: { name: text, emptyDir: { type: 'object' }, hostPath: { type: 'object' } },
          },
          'merge,retainKeys',
        ),
        tolerations: { type: 'array', items: { type: 'object' } },
        nodeSelector: { type: 'object', additionalProperties: text },
        securityContext: { type: 'object', properties: { runAsUser: { type: 'integer' } } },
        whole: { type: 'object', properties: {}, 'x-kubernetes-patch-strategy': 'replace' },
        unkeyed: { type: 'array', items: { type: 'object' }, 'x-kubernetes-patch-strategy': 'merge' },
        free: { type: 'object' },
      },
    },
  },
};

const spec = (value: Json): JsonObject => ({ spec: value });
const meta = (value: Json): JsonObject => ({ metadata: value });
const names = (...list: string[]) => list.map((name) => ({ name }));
const env = (...list: [string, string][]) => list.map(([name, value]) => ({ name, value }));
const inContainer = (fields: JsonObject) => spec({ containers: [{ name: 'c', ...fields }] });

interface Case {
  readonly name: string;
  readonly target: JsonObject;
  readonly patch: Json;
  readonly want: JsonObject;
}

const cases: Case[] = [
  {
    name: 'merges items with the same key and keeps their other fields',
    target: spec({ containers: [{ name: 'a', image: 'x', args: ['1'] }, { name: 'b' }] }),
    patch: spec({ containers: [{ name: 'b', image: 'y' }] }),
    want: spec({
      containers: [
        { name: 'a', image: 'x', args: ['1'] },
        { name: 'b', image: 'y' },
      ],
    }),
  },
  {
    name: 'puts items new in the patch before those only the server has, after a deletion',
    target: inContainer({ env: env(['A', '1'], ['B', '2']) }),
    patch: inContainer({
      env: [
        { name: 'A', $patch: 'delete' },
        { name: 'C', value: '3' },
      ],
    }),
    want: inContainer({ env: env(['C', '3'], ['B', '2']) }),
  },
  {
    name: 'keeps the order of the patch and weaves in what only the server has',
    target: spec({ containers: names('a', 'b', 'c', 'd') }),
    patch: spec({ containers: names('d', 'b') }),
    want: spec({ containers: names('a', 'c', 'd', 'b') }),
  },
  {
    name: 'follows $setElementOrder',
    target: spec({ containers: names('a', 'b', 'c') }),
    patch: spec({
      '$setElementOrder/containers': names('c', 'b', 'a', 'n'),
      containers: [{ name: 'n' }],
    }),
    want: spec({ containers: names('c', 'b', 'a', 'n') }),
  },
  {
    name: 'follows $setElementOrder without a list in the patch',
    target: spec({ containers: names('a', 'b', 'c') }),
    patch: spec({ '$setElementOrder/containers': names('c', 'a') }),
    want: spec({ containers: names('b', 'c', 'a') }),
  },
  {
    name: 'orders a list that the server does not have yet',
    target: spec({}),
    patch: spec({
      '$setElementOrder/containers': names('b', 'a'),
      containers: [{ name: 'b' }, { name: 'a' }, { name: 'x', $patch: 'delete' }],
    }),
    want: spec({ containers: names('b', 'a') }),
  },
  {
    name: 'ignores $setElementOrder for a list nobody has',
    target: spec({}),
    patch: spec({ '$setElementOrder/containers': names('b', 'a') }),
    want: spec({}),
  },
  {
    name: 'orders a list that is replaced',
    target: inContainer({ args: ['x'] }),
    patch: inContainer({ '$setElementOrder/args': ['b', 'a'], args: ['b', 'a'] }),
    want: inContainer({ args: ['b', 'a'] }),
  },
  {
    name: 'replaces a whole list with $patch: replace in an item',
    target: spec({ containers: names('a', 'b') }),
    patch: spec({ containers: [{ $patch: 'replace' }, { name: 'c' }] }),
    want: spec({ containers: names('c') }),
  },
  {
    name: 'replaces a map with $patch: replace',
    target: spec({ nodeSelector: { a: '1' }, securityContext: { runAsUser: 1 } }),
    patch: spec({ nodeSelector: { $patch: 'replace', b: '2' }, securityContext: { $patch: 'delete' } }),
    want: spec({ nodeSelector: { b: '2' }, securityContext: {} }),
  },
  {
    name: 'clears other sources of a volume with $retainKeys',
    target: spec({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '1' } }] }),
    patch: spec({ volumes: [{ $retainKeys: ['name', 'hostPath'], name: 'v', hostPath: { path: '/x' } }] }),
    want: spec({ volumes: [{ name: 'v', hostPath: { path: '/x' } }] }),
  },
  {
    name: 'merges ports by number',
    target: inContainer({ ports: [{ containerPort: 80, protocol: 'TCP' }] }),
    patch: inContainer({ ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 81 }] }),
    want: inContainer({ ports: [{ containerPort: 80, protocol: 'UDP' }, { containerPort: 81 }] }),
  },
  {
    name: 'replaces lists without a strategy',
    target: spec({ tolerations: [{ key: 'a' }, { key: 'b' }] }),
    patch: spec({ tolerations: [{ key: 'c' }] }),
    want: spec({ tolerations: [{ key: 'c' }] }),
  },
  {
    name: 'treats lists of scalars with a strategy as sets',
    target: meta({ finalizers: ['a', 'b'] }),
    patch: meta({ finalizers: ['c', 'b'] }),
    want: meta({ finalizers: ['c', 'a', 'b'] }),
  },
  {
    name: 'deletes from a list of scalars',
    target: meta({ finalizers: ['a', 'b', 'c'] }),
    patch: meta({ '$deleteFromPrimitiveList/finalizers': ['b', 'z'], '$setElementOrder/finalizers': ['c', 'a'] }),
    want: meta({ finalizers: ['c', 'a'] }),
  },
  {
    name: 'deletes a whole list, and nothing from a list that is not there',
    target: meta({ finalizers: ['a'] }),
    patch: meta({ '$deleteFromPrimitiveList/finalizers': null, '$deleteFromPrimitiveList/other': ['x'] }),
    want: meta({}),
  },
  {
    name: 'merges owner references by uid and deletes one',
    target: meta({
      ownerReferences: [
        { uid: '1', name: 'a' },
        { uid: '2', name: 'b' },
      ],
    }),
    patch: meta({
      ownerReferences: [
        { uid: '2', name: 'c' },
        { uid: '1', $patch: 'delete' },
      ],
    }),
    want: meta({ ownerReferences: [{ uid: '2', name: 'c' }] }),
  },
  {
    name: 'removes with null and leaves nulls and directives out of what is new',
    target: spec({ nodeSelector: { a: '1', b: '2' } }),
    patch: spec({
      nodeSelector: { a: null },
      securityContext: { runAsUser: null },
      free: { gone: { $patch: 'delete', x: 1 }, list: [{ $patch: 'delete' }, { a: null }], kept: [null] },
    }),
    want: spec({ nodeSelector: { b: '2' }, securityContext: {}, free: { list: [{}], kept: [null] } }),
  },
  {
    name: 'replaces a value of another type, and drops it if all of it is a directive',
    target: spec({ free: 'text', whole: 'text' }),
    patch: spec({ free: { a: 1 }, whole: { $patch: 'delete' } }),
    want: spec({ free: { a: 1 } }),
  },
  {
    name: 'replaces an object whose strategy says so',
    target: spec({ whole: { a: 1 } }),
    patch: spec({ whole: { b: 2 } }),
    want: spec({ whole: { b: 2 } }),
  },
  {
    name: 'takes two empty lists',
    target: spec({ containers: [] }),
    patch: spec({ containers: [] }),
    want: spec({ containers: [] }),
  },
];

describe('applyStrategicMergePatch', () => {
  for (const { name, target, patch, want } of cases) {
    it(`apiserver/P4: ${name}`, () => {
      const clean = parseJson(JSON.stringify(patch)).value;
      const before = [stringifyJson(target), stringifyJson(clean)];
      assert.deepEqual(applyStrategicMergePatch(target, clean, pod), want);
      assert.deepEqual([stringifyJson(target), stringifyJson(clean)], before);
    });
  }

  it('apiserver/P7: changes nothing with an empty patch, nor when it is applied to its own result', () => {
    const item = fc.record({ name: fc.constantFrom('a', 'b', 'c'), image: fc.constantFrom('x', 'y') });
    const list = fc.uniqueArray(item, { selector: ({ name }) => name });
    fc.assert(
      fc.property(list, list, (containers, patched) => {
        const target = spec({ containers });
        const patch = spec({ containers: patched });
        assert.ok(jsonEqual(applyStrategicMergePatch(target, {}, pod), target));
        assert.equal(applyStrategicMergePatch(target, null, pod), target);
        const once = applyStrategicMergePatch(target, patch, pod);
        assert.ok(jsonEqual(applyStrategicMergePatch(once, patch, pod), once));
      }),
    );
  });

  const bad: { name: string; patch: Json; kind: string; want: string | RegExp }[] = [
    {
      name: 'a list',
      patch: [],
      kind: 'malformed',
      want: 'json: cannot unmarshal array into Go value of type map[string]interface {}',
    },
    {
      name: '$patch: merge in a map',
      patch: { metadata: { labels: { $patch: 'merge', x: 'y' } } },
      kind: 'internal',
      want: 'unknown patch type: merge in map: map[$patch:merge x:y]',
    },
    {
      name: 'an unknown directive in an item',
      patch: spec({ containers: [{ name: 'a', $patch: 'foo', b: [1, null, true] }] }),
      kind: 'internal',
      want: 'unknown patch type: foo in map: map[$patch:foo b:[1 <nil> true] name:a]',
    },
    {
      name: '$patch: merge in an item',
      patch: spec({ containers: [{ name: 'a', $patch: 'merge' }] }),
      kind: 'internal',
      want: 'merging lists cannot yet be specified in the patch',
    },
    {
      name: 'an item without its key',
      patch: spec({ containers: [{ image: 'x' }] }),
      kind: 'internal',
      want: 'map: map[image:x] does not contain declared merge key: name',
    },
    {
      name: '$retainKeys that is no list',
      patch: spec({ $retainKeys: 5 }),
      kind: 'malformed',
      want: 'invalid patch format of retainKeys',
    },
    {
      name: '$retainKeys that misses a key',
      patch: spec({ $retainKeys: ['a'], containers: [] }),
      kind: 'malformed',
      want: 'invalid patch format of retainKeys',
    },
    {
      name: 'an order that is no list',
      patch: spec({ '$setElementOrder/containers': 5 }),
      kind: 'internal',
      want: 'expected a []interface {}, but received a int64',
    },
    {
      name: 'an order without a field',
      patch: spec({ $setElementOrder: [] }),
      kind: 'malformed',
      want: 'invalid patch format of setElementOrder list',
    },
    {
      name: 'a deletion without a field',
      patch: spec({ $deleteFromPrimitiveList: [] }),
      kind: 'malformed',
      want: 'invalid patch format of primitive list',
    },
    {
      name: 'an order that contradicts the patch',
      patch: spec({ '$setElementOrder/containers': names('a'), containers: names('z') }),
      kind: 'internal',
      want: /^The order in patch list:\n\[map\[name:z\]\]\n doesn't match \$setElementOrder list:\n\[map\[name:a\]\]\n$/,
    },
    {
      name: 'items of two types',
      patch: spec({ containers: ['x'] }),
      kind: 'internal',
      want: /^list element types are not identical/,
    },
    {
      name: 'lists of lists',
      patch: meta({ finalizers: [['x']] }),
      kind: 'unprocessable',
      want: 'lists of lists are not supported',
    },
    {
      name: 'objects in a list without a key',
      patch: spec({ unkeyed: [{ a: 1 }] }),
      kind: 'internal',
      want: /^cannot merge lists without merge key/,
    },
    {
      name: 'a list in a field nobody knows',
      patch: spec({ unknown: [1] }),
      kind: 'internal',
      want: /^unable to find api field/,
    },
    {
      name: 'an object below a map',
      patch: spec({ free: { a: { b: 1 } } }),
      kind: 'internal',
      want: /^merging an object in json but data type is not struct/,
    },
  ];
  for (const { name, patch, kind, want } of bad) {
    it(`apiserver/P4: refuses ${name} as upstream does`, () => {
      const target: JsonObject = {
        metadata: { labels: {}, finalizers: [] },
        spec: { containers: [{ name: 'a' }], unkeyed: [], unknown: [2], free: { a: { c: 1 } } },
      };
      assert.throws(() => applyStrategicMergePatch(target, patch, pod), {
        name: 'PatchProblem',
        kind,
        message: want,
      });
    });
  }

  it('refuses an order for a list without items', () => {
    const patch = spec({ '$setElementOrder/containers': names('a') });
    assert.throws(() => applyStrategicMergePatch(spec({ containers: [] }), patch, pod), {
      message: 'no elements in any of the given slices',
    });
  });

  it('reliability/T7.2: takes hostile keys and directives in data for data', () => {
    const patch = parseJson(
      '{"metadata":{"labels":{"__proto__":"x","constructor":"y"}},"__proto__":{"polluted":1}}',
    ).value;
    const patched = applyStrategicMergePatch(meta({ labels: { a: 'b' } }), patch, pod);
    assert.equal(
      stringifyJson(patched),
      '{"metadata":{"labels":{"a":"b","__proto__":"x","constructor":"y"}},"__proto__":{"polluted":1}}',
    );
    assert.equal(Object.hasOwn(Object.prototype, 'polluted'), false);
    const list = spec({ containers: [{ name: '__proto__' }] });
    assert.deepEqual(applyStrategicMergePatch(list, list, pod), list);
  });
});
