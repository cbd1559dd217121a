import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { ApiError, NetworkError } from '../../../kube/client/api-error.ts';
import { batchSizes, slowStart, worstOf } from './slow-start.ts';

describe('slow start', () => {
  // From upstream's table for slowStartBatch.
  const cases = [
    { name: 'stops after the first call when nothing works', limit: 0, made: 0, calls: 1 },
    { name: 'makes everything when everything works', limit: 10, made: 10, calls: 10 },
    { name: 'ends the batch in which something fails, and begins no other', limit: 5, made: 5, calls: 7 },
  ];
  for (const { name, limit, made, calls } of cases) {
    it(`lab/W15: ${name}`, async () => {
      let called = 0;
      const result = await slowStart(10, () => {
        called++;
        return called > limit ? Promise.reject(new Error('full')) : Promise.resolve(called);
      });
      assert.equal(called, calls);
      assert.equal(result.made.length, made);
      assert.equal(result.failures.length, calls - made);
    });
  }

  it('lab/W15: doubles from one, and never asks for more than is wanted', () => {
    assert.deepEqual(batchSizes(10), [1, 2, 4, 3]);
    assert.deepEqual(batchSizes(0), []);
    fc.assert(
      fc.property(fc.nat(5000), (count) => {
        const sizes = batchSizes(count);
        const sum = sizes.reduce((total, size) => total + size, 0);
        assert.equal(sum, count);
        assert.ok(sizes.slice(0, -1).every((size, at) => size === 2 ** at));
      }),
    );
  });

  it('lab/W16: tells of the failure after which nobody knows what happened', () => {
    const refused = new ApiError({ code: 403, reason: 'Forbidden', message: 'no' });
    const lost = new NetworkError('reset', { mayHaveHappened: true });
    const broken = new ApiError({ code: 500, reason: 'InternalError', message: 'oops' });
    assert.equal(worstOf([refused, lost]), lost);
    assert.equal(worstOf([refused, broken, lost]), broken);
    assert.equal(worstOf([refused]), refused);
    assert.equal(worstOf([]), undefined);
  });
});
