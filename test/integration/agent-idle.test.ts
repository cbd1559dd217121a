import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { idleFigures } from '../../bench/agent/idle.ts';

describe('the Agent providers with nothing to do', () => {
  it('write nothing in ten minutes after a cluster was installed', async () => {
    const { writes, watches } = await idleFigures();
    assert.equal(writes, 0);
    assert.ok(watches > 0);
  });
});
