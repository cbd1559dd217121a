import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeLists } from './strategic-list.ts';

const merge = { mergeKey: 'name', mergeItems: <T extends object>(old: T, patch: T): T => ({ ...old, ...patch }) };
const named = (start: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ name: `c${start + at}` }));

describe('mergeLists', () => {
  // Comparing each item with all others would take minutes.
  it('reliability/P9: merges very many items by their keys', () => {
    const merged = mergeLists(named(0, 100_000), named(50_000, 100_000), merge);
    assert.deepEqual(merged, named(0, 150_000));
  });

  it('reliability/P9: deletes very many items by their keys', () => {
    const deleted = named(1, 100_000).map((item) => ({ ...item, $patch: 'delete' }));
    assert.deepEqual(mergeLists(named(0, 100_010), deleted, merge), [{ name: 'c0' }, ...named(100_001, 9)]);
  });

  it('merges into the first of equal items, and into the next one when that has lost its key', () => {
    const mergeItems = () => ({ merged: true });
    const old = [
      { name: 'a', x: 1 },
      { name: 'a', x: 2 },
    ];
    // Upstream's ranks need a key in every item; the list itself shows which were merged.
    assert.throws(() => mergeLists(old, [{ name: 'a' }, { name: 'a' }], { mergeKey: 'name', mergeItems }), {
      message: 'map: map[merged:true] does not contain declared merge key: name',
    });
    assert.deepEqual(mergeLists(old, [{ name: 'a', y: 1 }], merge), [
      { name: 'a', x: 1, y: 1 },
      { name: 'a', x: 2 },
    ]);
  });
});
