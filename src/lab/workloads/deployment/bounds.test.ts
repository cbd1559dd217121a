import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deployment } from '../../../../test/support/workload-objects.ts';
import { boundsOf, fewestAvailable, mostReplicas, resolvedBounds } from './bounds.ts';

type Value = number | string | undefined;

describe('the bounds of a rolling update', () => {
  // From upstream's table for ResolveFenceposts.
  const resolved: [surge: Value, unavailable: Value, desired: number, maxSurge: number, maxUnavailable: number][] =
    [
      ['0%', '0%', 0, 0, 1],
      ['39%', '39%', 10, 4, 3],
      [undefined, '39%', 10, 0, 3],
      ['39%', undefined, 10, 4, 0],
      [undefined, undefined, 10, 0, 1],
      ['25%', '25%', 4, 1, 1],
      ['0%', '1%', 1, 0, 1],
      ['1%', '25%', 2, 1, 0],
      [5, 2, 3, 5, 2],
    ];
  for (const [surge, unavailable, desired, maxSurge, maxUnavailable] of resolved) {
    it(`lab/W7: surge ${surge} and unavailable ${unavailable} of ${desired} are ${maxSurge} and ${maxUnavailable}`, () => {
      const rolling = {
        ...(surge !== undefined && { maxSurge: surge }),
        ...(unavailable !== undefined && { maxUnavailable: unavailable }),
      };
      assert.deepEqual(resolvedBounds(rolling, desired), { maxSurge, maxUnavailable });
    });
  }

  for (const rolling of [
    { maxSurge: 'oops', maxUnavailable: '39%' },
    { maxSurge: '55%', maxUnavailable: 'urg' },
  ]) {
    it(`lab/W7: refuses ${JSON.stringify(rolling)}`, () => {
      assert.throws(() => resolvedBounds(rolling, 10), { reason: 'InvalidPercentage' });
    });
  }

  // From upstream's table for MaxUnavailable.
  const unavailable: [replicas: number, maxUnavailable: number | string, want: number][] = [
    [10, 5, 5],
    [10, 10, 10],
    [5, 10, 5],
    [0, 10, 0],
    [10, '50%', 5],
    [5, '100%', 5],
  ];
  for (const [replicas, maxUnavailable, want] of unavailable) {
    it(`lab/W7: ${maxUnavailable} of ${replicas} may be missing: ${want}`, () => {
      const web = deployment(replicas, { maxSurge: 1, maxUnavailable });
      assert.equal(boundsOf(web).maxUnavailable, want);
      assert.equal(fewestAvailable(web), replicas - want);
      assert.equal(mostReplicas(web), replicas + 1);
    });
  }

  it('lab/W7b: leave no room when pods are recreated', () => {
    const web = deployment(3, { spec: { strategy: { type: 'Recreate' } } });
    assert.deepEqual(boundsOf(web), { maxSurge: 0, maxUnavailable: 0 });
  });
});
