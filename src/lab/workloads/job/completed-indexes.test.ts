import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CompletedIndexes } from './completed-indexes.ts';

const COMPLETIONS = 100;

describe('completed indexes', () => {
  const TEXTS: readonly (readonly [text: string, completions: number, printed: string, total: number])[] = [
    ['', 10, '', 0],
    ['0', 10, '0', 1],
    ['0,1', 10, '0,1', 2],
    ['0-2', 10, '0-2', 3],
    ['0,2-4,7,8', 10, '0,2-4,7,8', 6],
    ['1,2,3', 10, '1-3', 3],
    ['0-20', 10, '0-9', 10],
    ['3,12', 10, '3', 1],
    ['a,3,4-b,-1,5-', 10, '3', 1],
    ['7-3', 10, '', 0],
  ];
  for (const [text, completions, printed, total] of TEXTS) {
    it(`lab/W26: "${text}" of ${completions} is "${printed}"`, () => {
      const indexes = CompletedIndexes.parse(text, completions);
      assert.deepEqual([String(indexes), indexes.total], [printed, total]);
    });
  }

  it('lab/W26: nothing is completed where nothing is said', () => {
    assert.equal(CompletedIndexes.parse(undefined, 10).total, 0);
  });

  it('lab/W26: the lowest that are missing come first', () => {
    const indexes = CompletedIndexes.parse('0,2-4,7', 10);
    assert.deepEqual(indexes.missing(3, 10), [1, 5, 6]);
    assert.deepEqual(indexes.missing(99, 10), [1, 5, 6, 8, 9]);
    assert.deepEqual(indexes.missing(0, 10), []);
    assert.deepEqual(CompletedIndexes.parse('0-9', 10).missing(5, 10), []);
  });

  it('lab/W26: are a set, however they are put together and spelled', () => {
    const some = fc.array(fc.nat(COMPLETIONS - 1));
    fc.assert(
      fc.property(some, some, (first, second) => {
        const all = new Set([...first, ...second]);
        const indexes = CompletedIndexes.parse('', COMPLETIONS).with(first).with(second);
        const read = CompletedIndexes.parse(String(indexes), COMPLETIONS);
        assert.equal(String(read), String(indexes));
        assert.equal(read.total, all.size);
        for (let index = 0; index < COMPLETIONS; index++) assert.equal(read.has(index), all.has(index));
        const missing = read.missing(COMPLETIONS, COMPLETIONS);
        assert.deepEqual(
          [...missing, ...all].toSorted((a, b) => a - b),
          [...Array(COMPLETIONS).keys()],
        );
      }),
    );
  });
});
