import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { frozenCopy } from './frozen-copy.ts';
import { plainCopy } from './plain-copy.ts';

const isDeepFrozen = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (Object.isFrozen(value) && Object.values(value).every((part) => isDeepFrozen(part)));

describe('a frozen copy', () => {
  it('ccm/I1: equals what it was made of, is frozen at every depth, and leaves that as it was', () => {
    const data = fc.anything({ withBigInt: true, maxDepth: 4 }).map((value) => plainCopy(value).value);
    fc.assert(
      fc.property(data, (value) => {
        const copy = frozenCopy(value);
        assert.deepEqual(copy, value);
        if (typeof value === 'object' && value !== null) assert.ok(!Object.isFrozen(value));
        assert.ok(isDeepFrozen(copy) || !isDataOnly(copy));
        assert.equal(frozenCopy(copy), copy);
      }),
    );
  });

  it('ccm/I1: shares the parts that are frozen already', () => {
    const labels = Object.freeze({ a: 'b' });
    const copy = frozenCopy({ labels, list: [1] });
    assert.equal(copy.labels, labels);
    assert.ok(Object.isFrozen(copy.list));
  });

  it('ccm/I1: is made anew of what is frozen only at the top', () => {
    const shallow = Object.freeze({ list: [1] });
    const copy = frozenCopy(shallow);
    assert.notEqual(copy, shallow);
    assert.ok(isDeepFrozen(copy) && !Object.isFrozen(shallow.list));
  });

  it('ccm/I1: of bytes and of a Map is nobody else’s', () => {
    const given = { content: Uint8Array.of(1, 2), map: new Map([['a', { b: 1 }]]) };
    const copy = frozenCopy(given);
    copy.content[0] = 9;
    copy.map.clear();
    assert.deepEqual([given.content[0], given.map.size], [1, 1]);
  });

  it('keeps a field called __proto__ a field', () => {
    const copy = frozenCopy(JSON.parse('{"__proto__": {"x": 1}}') as Record<string, unknown>);
    assert.deepEqual(Object.keys(copy), ['__proto__']);
    assert.equal(Object.getPrototypeOf(copy), Object.prototype);
  });
});

/** Whether there is nothing in it that cannot be frozen. */
function isDataOnly(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isData = Array.isArray(value) || prototype === null || prototype === Object.prototype;
  return isData && Object.values(value).every((part) => isDataOnly(part));
}
