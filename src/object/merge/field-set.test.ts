import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../json.ts';
import {
  difference,
  equalSets,
  type FieldSet,
  has,
  intersection,
  isEmpty,
  leaves,
  NOTHING,
  pathsOf,
  pathText,
  recursiveDifference,
  setOf,
  union,
} from './field-set.ts';
import { parseFields } from './fields-v1.ts';
import { compareText } from './path-element.ts';

const element = fc.constantFrom('f:a', 'f:b', 'f:c', 'k:{"n":1}', 'k:{"n":10}', 'v:"x"', 'i:0');
const path = fc.array(element, { minLength: 1, maxLength: 4 });
const paths = fc.array(path, { maxLength: 8 });

const textsOf = (set: FieldSet): string[] => [...pathsOf(set)].map((each) => each.join('/'));
const textOf = (each: readonly string[]): string => each.join('/');
const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort(compareText);

/** Two sets, and the same as plain lists of paths. */
function laws(check: (sets: { a: FieldSet; b: FieldSet; inA: string[]; inB: string[] }) => void): void {
  fc.assert(
    fc.property(paths, paths, (left, right) => {
      check({ a: setOf(...left), b: setOf(...right), inA: left.map(textOf), inB: right.map(textOf) });
    }),
  );
}

describe('sets of fields', () => {
  it('hold exactly the paths they were made of', () => {
    fc.assert(
      fc.property(paths, path, (all, other) => {
        const set = setOf(...all);
        assert.deepEqual(sorted(textsOf(set)), sorted(all.map(textOf)));
        assert.equal(has(set, other), all.map(textOf).includes(textOf(other)));
        assert.equal(isEmpty(set), all.length === 0);
      }),
    );
  });

  it('unite, intersect and subtract like sets of paths', () => {
    laws(({ a, b, inA, inB }) => {
      assert.deepEqual(sorted(textsOf(union(a, b))), sorted([...inA, ...inB]));
      assert.deepEqual(sorted(textsOf(intersection(a, b))), sorted(inA.filter((each) => inB.includes(each))));
      assert.deepEqual(sorted(textsOf(difference(a, b))), sorted(inA.filter((each) => !inB.includes(each))));
    });
  });

  it('subtract recursively what is below a path too', () => {
    laws(({ a, b, inA, inB }) => {
      const isBelow = (each: string): boolean =>
        inB.some((other) => each === other || each.startsWith(`${other}/`));
      assert.deepEqual(sorted(textsOf(recursiveDifference(a, b))), sorted(inA.filter((each) => !isBelow(each))));
    });
  });

  it('have as leaves the paths with none of theirs below', () => {
    laws(({ a, inA }) => {
      const isLeaf = (each: string): boolean => !inA.some((other) => other.startsWith(`${each}/`));
      assert.deepEqual(sorted(textsOf(leaves(a))), sorted(inA.filter(isLeaf)));
    });
  });

  it('give back the same object when nothing changes', () => {
    laws(({ a, b }) => {
      assert.equal(union(a, intersection(a, b)), a);
      assert.equal(difference(a, difference(b, a)), a);
    });
  });

  it('are equal exactly when they hold the same paths', () => {
    laws(({ a, b, inA, inB }) => {
      assert.equal(equalSets(a, b), JSON.stringify(sorted(inA)) === JSON.stringify(sorted(inB)));
    });
  });

  it('list the paths of a level before those below it', () => {
    const set = setOf(['f:a', 'f:x'], ['f:b'], ['f:a']);
    assert.deepEqual([...pathsOf(set)].map(pathText), ['.a', '.b', '.a.x']);
  });
});

describe('parseFields', () => {
  it('style/S56: reads back what we print, as the very same object', () => {
    fc.assert(
      fc.property(paths, (all) => {
        const set = setOf(...all);
        const stored = JSON.parse(JSON.stringify(set));
        assert.equal(parseFields(stored), stored);
        assert.deepEqual(parseFields(stored), set);
      }),
    );
  });

  const real =
    '{"f:metadata":{"f:annotations":{".":{},"f:note":{}}},"f:spec":{"f:ports":{".":{},"k:{\\"port\\":80,\\"protocol\\":\\"TCP\\"}":{".":{},"f:port":{}}},"f:selector":{}}}';
  it('takes what kube-apiserver stored as it is', () => {
    const stored = JSON.parse(real);
    assert.equal(parseFields(stored), stored);
    assert.equal(JSON.stringify(parseFields(stored)), real);
  });

  const rows: { name: string; fields: Json; want: string }[] = [
    { name: 'another order', fields: { 'f:b': {}, 'f:a': {} }, want: '{"f:a":{},"f:b":{}}' },
    {
      name: 'a mark that is not first',
      fields: { 'f:a': { 'f:b': {}, '.': {} } },
      want: '{"f:a":{".":{},"f:b":{}}}',
    },
    { name: 'a mark alone', fields: { 'f:a': { '.': {} } }, want: '{"f:a":{}}' },
    {
      name: 'a mark that holds something',
      fields: { 'f:a': { '.': 1, 'f:b': {} } },
      want: '{"f:a":{".":{},"f:b":{}}}',
    },
    { name: 'a mark at the top', fields: { '.': {}, 'f:a': {} }, want: '{"f:a":{}}' },
    {
      name: 'another spelling of a key',
      fields: { 'k:{"b":1,"a":2}': {} },
      want: '{"k:{\\"a\\":2,\\"b\\":1}":{}}',
    },
    { name: 'values out of order', fields: { 'v:10': {}, 'v:9': {} }, want: '{"v:9":{},"v:10":{}}' },
    { name: 'values before fields', fields: { 'v:1': {}, 'f:a': {} }, want: '{"f:a":{},"v:1":{}}' },
    { name: 'elements of the future', fields: { 'f:a': { 'z:1': {} } }, want: '{"f:a":{}}' },
    { name: 'null for a leaf', fields: { 'f:a': null }, want: '{"f:a":{}}' },
    { name: 'nothing', fields: {}, want: '{}' },
  ];
  for (const { name, fields, want } of rows) {
    it(`rewrites ${name}`, () => {
      assert.equal(JSON.stringify(parseFields(fields)), want);
    });
  }

  for (const fields of ['x', [], { 'f:a': 1 }, { nonsense: {} }, { 'k:{': {} }] as Json[]) {
    it(`refuses ${JSON.stringify(fields)}`, () => {
      assert.throws(() => parseFields(fields));
    });
  }

  it('knows an empty set', () => {
    assert.equal(isEmpty(NOTHING), true);
    assert.equal(difference(NOTHING, setOf(['f:a'])), NOTHING);
  });
});
