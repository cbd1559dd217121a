import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { JOB_SCENARIOS } from '../support/lab-job-scenarios.ts';

/** Every fault at every write (reliability T1, full tier). */
describe('the Job controller ends alike after every fault at every write', () => {
  for (const scenario of JOB_SCENARIOS) {
    it(`lab/W27: ${scenario.name}`, async (t) => {
      const { failures, tried, points } = await enumerateCrashPoints(scenario);
      t.diagnostic(`${points.length} points: ${tried} runs`);
      assert.deepEqual(failures, []);
    });
  }
});
