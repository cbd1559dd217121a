import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { CLOUD_CRASHES } from '../support/ccm-crash-scenarios.ts';

/** Every fault at every write, in the cluster and in the cloud (reliability T1, full tier). */
describe('the cloud controller manager, struck anywhere', () => {
  for (const scenario of CLOUD_CRASHES) {
    it(`reliability/P30, reliability/P31, ccm/I2: ${scenario.name}, and no fault at any write changes anything`, {
      timeout: 900_000,
    }, async (t) => {
      const { failures, tried, points, faults } = await enumerateCrashPoints(scenario);
      t.diagnostic(`${points.length} points, ${faults.length} faults: ${tried} runs`);
      assert.deepEqual(failures, []);
    });
  }
});
