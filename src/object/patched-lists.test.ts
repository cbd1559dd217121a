import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Json } from './json.ts';
import { PatchedLists } from './patched-lists.ts';

const step = fc.record({ way: fc.constantFrom('insert', 'remove', 'set'), at: fc.nat() });

describe('PatchedLists', () => {
  for (const length of [3, 4096, 9000]) {
    it(`changes a list of ${length} items as splice does`, () => {
      fc.assert(
        fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
          const plain: Json[] = Array.from({ length }, (_, at) => at);
          const list = [...plain];
          const lists = new PatchedLists();
          for (const [number, { way, at }] of steps.entries()) change({ plain, list, lists }, way, { at, number });
          assert.equal(lists.lengthOf(list), plain.length);
          assert.equal(lists.at(list, plain.length >> 1), plain[plain.length >> 1]);
          lists.settle({ inner: [list] });
          assert.deepEqual(list, plain);
        }),
        { numRuns: 20 },
      );
    });
  }

  it('grows and shrinks beyond its parts', () => {
    const list: Json[] = Array.from({ length: 5000 }, (_, at) => at);
    const lists = new PatchedLists();
    for (let at = 0; at < 5000; at++) lists.insert(list, 2000, `new ${at}`);
    assert.equal(lists.at(list, 2000), 'new 4999');
    for (let at = 0; at < 9999; at++) lists.remove(list, 0);
    lists.settle(list);
    assert.deepEqual(list, [4999]);
  });

  it('reliability/P9: leaves a long list alone until it is settled', () => {
    const list: Json[] = Array.from({ length: 5000 }, () => 1);
    const lists = new PatchedLists();
    lists.insert(list, 0, 2);
    // Moving every item at every change is what takes quadratic time.
    assert.equal(list.length, 5000);
    lists.settle(list);
    assert.equal(list.length, 5001);
  });
});

interface Both {
  readonly plain: Json[];
  readonly list: Json[];
  readonly lists: PatchedLists;
}

function change({ plain, list, lists }: Both, way: string, { at, number }: { at: number; number: number }): void {
  if (way === 'insert' || plain.length === 0) {
    const index = at % (plain.length + 1);
    plain.splice(index, 0, number);
    lists.insert(list, index, number);
  } else if (way === 'remove') {
    plain.splice(at % plain.length, 1);
    lists.remove(list, at % lists.lengthOf(list));
  } else {
    plain[at % plain.length] = number;
    lists.set(list, at % plain.length, number);
  }
}
