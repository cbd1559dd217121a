import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject, jsonEqual } from './json.ts';
import { applyJsonPatch } from './json-patch.ts';
import { parseJson, stringifyJson } from './json-text.ts';

const escaped = (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Operations that turn the members of one object into those of another. */
function diff(from: JsonObject, to: JsonObject): Json[] {
  const removed = Object.keys(from)
    .filter((key) => !Object.hasOwn(to, key))
    .map((key) => ({ op: 'remove', path: `/${escaped(key)}` }));
  const added = Object.keys(to).map((key) => ({ op: 'add', path: `/${escaped(key)}`, value: to[key] ?? null }));
  return [...removed, ...added];
}

const object = fc.dictionary(
  fc.constantFrom('a', 'b/c', '~', '', '__proto__', '0'),
  fc.oneof(fc.integer(), fc.constant(null), fc.array(fc.integer()), fc.dictionary(fc.string(), fc.string())),
) as fc.Arbitrary<JsonObject>;

describe('applyJsonPatch', () => {
  it('apiserver/P1: turns any object into any other with the difference as patch', () => {
    fc.assert(
      fc.property(object, object, (from, to) => {
        const before = stringifyJson(from);
        assert.ok(jsonEqual(applyJsonPatch(from, diff(from, to)), to));
        assert.equal(stringifyJson(from), before);
      }),
    );
  });

  it('apiserver/P7: changes nothing with an empty patch', () => {
    const document = { a: [1] };
    assert.equal(applyJsonPatch(document, []), document);
    assert.equal(applyJsonPatch(document, null), document);
  });

  const works: { name: string; document: Json; patch: Json; want: Json }[] = [
    { name: 'add to an object', document: {}, patch: [{ op: 'add', path: '/a', value: 1 }], want: { a: 1 } },
    { name: 'add null without value', document: {}, patch: [{ op: 'add', path: '/a' }], want: { a: null } },
    {
      name: 'insert',
      document: { a: [1, 3] },
      patch: [{ op: 'add', path: '/a/1', value: 2 }],
      want: { a: [1, 2, 3] },
    },
    { name: 'append', document: { a: [1] }, patch: [{ op: 'add', path: '/a/-', value: 2 }], want: { a: [1, 2] } },
    {
      name: 'insert at the end',
      document: { a: [1] },
      patch: [{ op: 'add', path: '/a/1', value: 2 }],
      want: { a: [1, 2] },
    },
    { name: 'remove an item', document: { a: [1, 2] }, patch: [{ op: 'remove', path: '/a/0' }], want: { a: [2] } },
    {
      name: 'remove from the end',
      document: { a: [1, 2] },
      patch: [{ op: 'remove', path: '/a/-1' }],
      want: { a: [1] },
    },
    {
      name: 'replace a missing member',
      document: { a: {} },
      patch: [{ op: 'replace', path: '/a/b', value: 1 }],
      want: { a: { b: 1 } },
    },
    {
      name: 'replace an item',
      document: { a: [1] },
      patch: [{ op: 'replace', path: '/a/0', value: 2 }],
      want: { a: [2] },
    },
    {
      name: 'replace all',
      document: { a: 1 },
      patch: [{ op: 'replace', path: '', value: { b: 2 } }],
      want: { b: 2 },
    },
    {
      name: 'move',
      document: { a: { x: 1 }, b: [] },
      patch: [{ op: 'move', from: '/a/x', path: '/b/0' }],
      want: { a: {}, b: [1] },
    },
    {
      name: 'copy without a tie to the original',
      document: { a: { x: { y: 1 } } },
      patch: [
        { op: 'add', path: '/a/x/z', value: 2 },
        { op: 'copy', from: '/a', path: '/b' },
        { op: 'replace', path: '/b/x/y', value: 3 },
        { op: 'remove', path: '/a/x/z' },
      ],
      want: { a: { x: { y: 1 } }, b: { x: { y: 3, z: 2 } } },
    },
    {
      name: 'test values, the order of keys aside',
      document: { a: { b: [1, { c: null, d: 2 }] } },
      patch: [
        { op: 'test', path: '/a/b/1', value: { d: 2, c: null } },
        { op: 'test', path: '/zz', value: null },
        { op: 'test', path: '', value: { a: { b: [1, { c: null, d: 2 }] } } },
      ],
      want: { a: { b: [1, { c: null, d: 2 }] } },
    },
    {
      name: 'escapes',
      document: { 'a/b': { '~1': 1 } },
      patch: [{ op: 'replace', path: '/a~1b/~01', value: 2 }],
      want: { 'a/b': { '~1': 2 } },
    },
  ];
  for (const { name, document, patch, want } of works) {
    it(`apiserver/P1: can ${name}`, () => assert.deepEqual(applyJsonPatch(document, patch), want));
  }

  const fails: { name: string; patch: Json; kind: string; want: RegExp }[] = [
    {
      name: 'a failing test',
      patch: [{ op: 'test', path: '/a', value: 2 }],
      kind: 'unprocessable',
      want: /test failed$/,
    },
    {
      name: 'add to a missing parent',
      patch: [{ op: 'add', path: '/x/y', value: 2 }],
      kind: 'unprocessable',
      want: /^add operation does not apply: doc is missing path: "\/x\/y": missing value$/,
    },
    {
      name: 'add within a scalar',
      patch: [{ op: 'add', path: '/a/b', value: 1 }],
      kind: 'unprocessable',
      want: /missing path/,
    },
    {
      name: 'add to the root',
      patch: [{ op: 'add', path: '', value: {} }],
      kind: 'unprocessable',
      want: /missing path/,
    },
    {
      name: 'remove of nothing',
      patch: [{ op: 'remove', path: '/x' }],
      kind: 'unprocessable',
      want: /nonexistent key: x/,
    },
    {
      name: 'a far position',
      patch: [{ op: 'add', path: '/l/5', value: 1 }],
      kind: 'unprocessable',
      want: /invalid index/,
    },
    {
      name: 'a position that is no number',
      patch: [{ op: 'remove', path: '/l/x' }],
      kind: 'unprocessable',
      want: /invalid index/,
    },
    {
      name: 'replace beyond the end',
      patch: [{ op: 'replace', path: '/l/3' }],
      kind: 'unprocessable',
      want: /missing key/,
    },
    {
      name: 'replace of all by a scalar',
      patch: [{ op: 'replace', path: '', value: 1 }],
      kind: 'unprocessable',
      want: /must be object/,
    },
    {
      name: 'test beyond the end',
      patch: [{ op: 'test', path: '/l/9', value: 1 }],
      kind: 'unprocessable',
      want: /invalid index/,
    },
    {
      name: 'copy from nowhere',
      patch: [{ op: 'copy', from: 'a', path: '/b' }],
      kind: 'unprocessable',
      want: /missing path/,
    },
    {
      name: 'move without from',
      patch: [{ op: 'move', path: '/b' }],
      kind: 'unprocessable',
      want: /failed to decode from/,
    },
    {
      name: 'an unknown operation',
      patch: [{ op: 'zap', path: '/a' }],
      kind: 'unprocessable',
      want: /^Unexpected kind: zap$/,
    },
    { name: 'no operation', patch: [null], kind: 'unprocessable', want: /^Unexpected kind: unknown$/ },
    {
      name: 'an object',
      patch: {},
      kind: 'malformed',
      want: /^error decoding patch: json: cannot unmarshal object into Go value of type \[\]handlers\.jsonPatchOp$/,
    },
    {
      name: 'a number as operation',
      patch: [5],
      kind: 'malformed',
      want: /^error decoding patch: json: cannot unmarshal number into Go value of type handlers\.jsonPatchOp$/,
    },
    {
      name: 'a number as op',
      patch: [{ op: 5 }],
      kind: 'malformed',
      want: /^error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp\.op of type string$/,
    },
  ];
  for (const { name, patch, kind, want } of fails) {
    it(`apiserver/P1: refuses ${name}`, () => {
      assert.throws(() => applyJsonPatch({ a: 1, l: [1] }, patch), { name: 'PatchProblem', kind, message: want });
    });
  }

  it('apiserver/P1: tells 10,001 operations apart from other refusals and takes 10,000', () => {
    const operations = (count: number) =>
      Array.from({ length: count }, () => ({ op: 'add', path: '/a', value: 1 }));
    assert.deepEqual(applyJsonPatch({}, operations(10_000)), { a: 1 });
    assert.throws(() => applyJsonPatch({}, operations(10_001)), {
      kind: 'too-large',
      message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
    });
  });

  it('reliability/T7.2: ends a patch that doubles its document again and again', () => {
    const patch = Array.from({ length: 60 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }));
    assert.throws(() => applyJsonPatch({ a: ['x'.repeat(100)] }, patch), {
      kind: 'unprocessable',
      message:
        /^Unable to complete the copy, the accumulated size increase of copy is \d+, exceeding the limit 3145728$/,
    });
  });

  it('reliability/P9: takes copies of 3 MiB in all, in bytes and not in characters', () => {
    const copies = (count: number) =>
      Array.from({ length: count }, () => ({ op: 'copy', from: '/a', path: '/b' }));
    const a = `${'é'.repeat(524_287)}`;
    assert.deepEqual(applyJsonPatch({ a }, copies(3)), { a, b: a });
    assert.throws(() => applyJsonPatch({ a }, copies(4)), { kind: 'unprocessable' });
    assert.throws(() => applyJsonPatch({ a: `${a}x` }, copies(3)), { kind: 'unprocessable' });
  });

  it('apiserver/P1: tells an operation that is none before it counts them', () => {
    const patch = [...Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/a' })), 1];
    assert.throws(() => applyJsonPatch({}, patch), { kind: 'malformed' });
  });

  it('reliability/P9: changes a list of a million items ten thousand times without moving all of them', () => {
    const list = Array.from({ length: 1_000_000 }, (_, at) => at);
    const patch = Array.from({ length: 10_000 }, (_, at) =>
      at % 3 === 2 ? { op: 'remove', path: '/l/-5' } : { op: 'add', path: '/l/0', value: -at },
    );
    const patched = applyJsonPatch({ l: list }, patch);
    assert.ok(isJsonObject(patched) && Array.isArray(patched['l']));
    assert.equal(patched['l'].length, 1_000_000 + 6667 - 3333);
    assert.deepEqual(patched['l'].slice(0, 3), [-9999, -9997, -9996]);
    assert.equal(list.length, 1_000_000);
  });

  it('reliability/T7.2: takes __proto__ in a path for a key', () => {
    const add = { op: 'add', path: '/__proto__', value: { x: 1 } };
    assert.throws(() => applyJsonPatch({}, [{ op: 'add', path: '/__proto__/x', value: 1 }]), {
      kind: 'unprocessable',
    });
    assert.throws(() => applyJsonPatch({}, [{ op: 'add', path: '/constructor/x', value: 1 }]));
    const patched = applyJsonPatch({}, [add, { op: 'replace', path: '/__proto__/x', value: 2 }]);
    assert.equal(stringifyJson(patched), '{"__proto__":{"x":2}}');
    assert.equal(stringifyJson(applyJsonPatch(patched, [{ op: 'remove', path: '/__proto__' }])), '{}');
    assert.deepEqual(parseJson('{}').value, {});
    assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
  });
});
