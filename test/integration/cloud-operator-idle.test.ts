import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idleFigures } from '../../bench/cloud-operator/idle.ts';

describe('the cloud operator with nothing to do', () => {
  it('writes nothing in ten minutes, and asks only to keep its caches', async () => {
    const { writes, others, watches } = await idleFigures();
    assert.deepEqual({ writes, others }, { writes: 0, others: 0 });
    assert.ok(watches > 0);
  });
});
