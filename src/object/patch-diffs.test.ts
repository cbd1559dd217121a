import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { parseExact } from './exact-json.ts';
import { type Json, type JsonObject, jsonEqual } from './json.ts';
import { applyJsonPatch } from './json-patch.ts';
import { diffJsonPatch } from './json-patch-diff.ts';
import { stringifyJson } from './json-text.ts';
import { applyMergePatch } from './merge-patch.ts';
import { diffMergePatch } from './merge-patch-diff.ts';
import { mutable } from './mutable.ts';
import { semanticEqual } from './semantic-equality.ts';

const key = fc.constantFrom(
  'a',
  'b',
  'c',
  '__proto__',
  'constructor',
  'x/y',
  'm~n',
  '~1',
  '',
  '\\',
  '\n',
  '0',
  '-',
);

function documents(leaf: fc.Arbitrary<Json>) {
  const { object } = fc.letrec<{ value: Json; object: JsonObject; list: Json }>((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, tie('object'), tie('list')),
    object: fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }) as fc.Arbitrary<JsonObject>,
    list: fc.array(tie('value'), { maxLength: 5 }),
  }));
  return object;
}

const leaf = fc.oneof(
  fc.constantFrom('', 'x', 'y'),
  fc.integer({ min: 0, max: 2 }),
  fc.boolean(),
  fc.bigInt(2n ** 60n, 2n ** 60n + 1n),
);

describe('diffJsonPatch', () => {
  it('makes one document of the other: apply(a, diff(a, b)) = b', () => {
    const document = documents(fc.oneof(leaf, fc.constant(null)));
    fc.assert(
      fc.property(document, document, (before, after) => {
        const patch = diffJsonPatch(before, after);
        assert.ok(jsonEqual(applyJsonPatch(before, patch), after));
        assert.equal(patch.length === 0, jsonEqual(before, after));
      }),
      { numRuns: 300 },
    );
  });

  it('says little: one operation for one change, in lists too', () => {
    const list = (...items: number[]) => ({ spec: { list: items } });
    assert.deepEqual(diffJsonPatch(list(1, 2, 3), list(1, 3)), [{ op: 'remove', path: '/spec/list/1' }]);
    assert.deepEqual(diffJsonPatch(list(1, 3), list(1, 2, 3)), [{ op: 'add', path: '/spec/list/1', value: 2 }]);
    assert.deepEqual(diffJsonPatch({ a: { 'x/y': 1 } }, { a: { 'x/y': 2 } }), [
      { op: 'replace', path: '/a/x~1y', value: 2 },
    ]);
  });

  it('replaces whole members when the patch would be long', () => {
    const many = (value: number): JsonObject =>
      Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`k${at}`, value]));
    const [before, after] = [
      { data: many(1), same: 1, gone: 1 },
      { data: many(2), same: 1, fresh: 1 },
    ];
    const patch = diffJsonPatch(before, after);
    assert.deepEqual(
      patch.map(({ op, path }) => [op, path]),
      [
        ['remove', '/gone'],
        ['replace', '/data'],
        ['add', '/fresh'],
      ],
    );
    assert.deepEqual(applyJsonPatch(before, patch), after);
  });
});

describe('diffMergePatch', () => {
  it('makes one document of the other, as far as such a patch can say it: without null', () => {
    const document = documents(leaf);
    fc.assert(
      fc.property(document, document, (before, after) => {
        const patch = diffMergePatch(before, after);
        assert.ok(jsonEqual(applyMergePatch(before, patch), after));
        assert.equal(Object.keys(patch).length === 0, jsonEqual(before, after));
      }),
      { numRuns: 300 },
    );
  });

  it('takes null for absent', () => {
    assert.deepEqual(diffMergePatch({ a: null, b: 1 }, { b: null, c: null }), { b: null });
    assert.deepEqual(diffMergePatch({ a: 1 }, { a: {} }), { a: {} });
  });
});

describe('parseExact', () => {
  it('reads back everything that is written, whatever the keys and numbers are', () => {
    const document = documents(
      fc.oneof(
        leaf,
        fc.constant(null),
        fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => {
          const number = Number(value);
          return Number.isSafeInteger(number) ? number : value;
        }),
        fc.double({ noNaN: true, min: -1e6, max: 1e6 }).map((value) => (Object.is(value, -0) ? 0 : value)),
        fc.string({ unit: 'binary' }).map((text) => text.toWellFormed()),
      ),
    );
    fc.assert(
      fc.property(document, fc.boolean(), (value, pretty) => {
        assert.ok(jsonEqual(parseExact(stringifyJson(value, { pretty })), value));
      }),
      { numRuns: 300 },
    );
    assert.equal(parseExact(' 9007199254740993'), 9007199254740993n);
    assert.equal(parseExact('"sha256:0123456789012345678901"'), 'sha256:0123456789012345678901');
    assert.throws(() => parseExact('{'), SyntaxError);
  });

  it('reads escapes in every place of a text', () => {
    const text = String.raw`{"a\\":"","b":"\\\\","c\n":["x\"",{"d":"\u0041 long enough to be a copy"}],"e":"plain"}`;
    const want = { 'a\\': '', b: '\\\\', 'c\n': ['x"', { d: 'A long enough to be a copy' }], e: 'plain' };
    assert.deepEqual(parseExact(text), want);
  });

  it('keeps nothing of a long text but what is asked for', () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    // Node would put a text of a megabyte outside of the heap.
    const long = 'x'.repeat(500_000);
    const kept: Json[] = [];
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let at = 0; at < 40; at++) {
      const text = Buffer.from(
        `{"k:{\\"uid\\":\\"a\\"}":{},"name":"the name of object ${at}","more":"${long}"}`,
      ).toString();
      kept.push((parseExact(text) as JsonObject)['name'] ?? '');
    }
    collect();
    assert.ok(process.memoryUsage().heapUsed - before < 5 * 2 ** 20);
    assert.equal(kept.at(-1), 'the name of object 39');
  });
});

describe('semanticEqual', () => {
  const limits = (cpu: Json): JsonObject => ({ spec: { containers: [{ resources: { limits: { cpu } } }] } });

  for (const [what, a, b, expected] of [
    ['quantities by value', limits('1'), limits('1000m'), true],
    ['quantities that are numbers', limits(1), limits('1'), true],
    ['other quantities', limits('1'), limits('2'), false],
    ['what is no quantity in their place', limits('x'), limits('y'), false],
    ['null and absent', { a: null }, {}, true],
    ['an empty list and absent', { spec: { list: [] } }, { spec: {} }, true],
    ['an empty object and absent', { spec: { emptyDir: {} } }, { spec: {} }, false],
    ['empty labels and absent', { metadata: { labels: {} } }, { metadata: {} }, true],
    ['texts that look like quantities', { data: { a: '1.0' } }, { data: { a: '1' } }, false],
    [
      'labels that look like quantities',
      { metadata: { labels: { limits: '1' } } },
      { metadata: { labels: { limits: '1.0' } } },
      false,
    ],
    ['lists by order', { a: [1, 2] }, { a: [2, 1] }, false],
    ['null items', { a: [null] }, { a: [[]] }, false],
    ['an object and a list', { a: { b: 1 } }, { a: [1] }, false],
    ['more keys', { a: 1 }, { a: 1, b: 2 }, false],
  ] as const) {
    it(`runtime/H6: takes ${what} for ${expected ? 'equal' : 'different'}`, () => {
      assert.equal(semanticEqual(a as Json, b as Json), expected);
      assert.equal(semanticEqual(b as Json, a as Json), expected);
    });
  }
});

describe('mutable', () => {
  it('runtime/A2: copies what is frozen; the frozen one cannot be written', () => {
    const frozen = Object.freeze({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: Object.freeze({ name: 'a', labels: Object.freeze<Record<string, string>>({ a: 'b' }) }),
    });
    const copy = mutable(frozen);
    copy.metadata.labels['a'] = 'c';
    assert.deepEqual([copy.metadata.labels, frozen.metadata.labels], [{ a: 'c' }, { a: 'b' }]);
    assert.throws(() => Object.assign(frozen.metadata.labels, { a: 'd' }), TypeError);
  });
});
