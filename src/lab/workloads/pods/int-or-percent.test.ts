import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countOf } from './int-or-percent.ts';

describe('a count or a percentage', () => {
  const cases: [value: number | string | undefined, total: number, up: number, down: number][] = [
    [3, 10, 3, 3],
    ['25%', 4, 1, 1],
    ['25%', 10, 3, 2],
    ['39%', 10, 4, 3],
    ['100%', 7, 7, 7],
    ['0%', 7, 0, 0],
    ['1%', 0, 0, 0],
    [undefined, 10, 0, 0],
  ];
  for (const [value, total, up, down] of cases) {
    it(`lab/W7: ${value} of ${total} is ${up} when rounded up and ${down} when rounded down`, () => {
      assert.deepEqual([countOf(value, total, 'up'), countOf(value, total, 'down')], [up, down]);
    });
  }

  for (const value of ['oops', '', '25', '2.5%', '%']) {
    it(`refuses "${value}"`, () => {
      assert.throws(() => countOf(value, 10, 'up'), { reason: 'InvalidPercentage', disposition: 'user' });
    });
  }
});
