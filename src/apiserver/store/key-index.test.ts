import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { KeyIndex } from './key-index.ts';
import type { Entry } from './store.ts';

const entryOf = (key: string): Entry => ({ key, revision: 1, createRevision: 1, bytes: new Uint8Array() });
const keysBelow = (index: KeyIndex, prefix: string, start?: string) =>
  [...index.below(prefix, start)].map(({ key }) => key);
const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

describe('the index of keys', () => {
  it('keeps thousands of keys in order, whatever the order they came in', () => {
    const keys = Array.from({ length: 3000 }, (_, at) => `/a/${(at * 7919) % 3000}`);
    const index = new KeyIndex();
    for (const key of keys) index.set(entryOf(key));
    assert.deepEqual(keysBelow(index, '/a/'), keys.toSorted(byBytes));
    for (const key of keys.slice(0, 2900)) index.delete(key);
    assert.deepEqual(keysBelow(index, '/a/'), keys.slice(2900).toSorted(byBytes));
    assert.equal(index.size, 100);
  });

  it('replaces an entry with the same key', () => {
    const index = new KeyIndex();
    index.set(entryOf('/a/x'));
    index.set({ ...entryOf('/a/x'), revision: 9 });
    assert.deepEqual(
      [...index.below('/a/')].map(({ revision }) => revision),
      [9],
    );
  });

  it('orders characters beyond the basic plane by their bytes, as etcd does', () => {
    const index = new KeyIndex();
    for (const key of ['/a/\u{1f600}', '/a/\uffee', '/a/z']) index.set(entryOf(key));
    assert.deepEqual(keysBelow(index, '/a/'), ['/a/z', '/a/\uffee', '/a/\u{1f600}']);
    assert.equal(index.compare('/a/\uffee', '/a/\uffee'), 0);
  });

  it('apiserver/I1: agrees with a sorted array on prefixes, starts and counts', () => {
    const key = fc.string({ unit: fc.constantFrom('a', 'b', '/', '0', '\uffee', '\u{1f600}'), maxLength: 6 });
    const change = fc.record({ key, isRemoval: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), key, key, (changes, prefix, start) => {
        const index = new KeyIndex();
        const model = new Set<string>();
        for (const { key: changed, isRemoval } of changes) {
          if (isRemoval) index.delete(changed);
          else index.set(entryOf(changed));
          if (isRemoval) model.delete(changed);
          else model.add(changed);
        }
        const below = [...model].filter((one) => one.startsWith(`${prefix}/`)).toSorted(byBytes);
        assert.deepEqual(keysBelow(index, `${prefix}/`), below);
        assert.equal(index.count(`${prefix}/`), below.length);
        const late = below.filter((one) => byBytes(one, start) >= 0);
        assert.deepEqual(keysBelow(index, `${prefix}/`, start), late);
      }),
    );
  });
});
