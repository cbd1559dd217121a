import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { JOB_SCENARIOS } from '../support/lab-job-scenarios.ts';

/** The quick tier; `npm run test:full` tries every fault. */
describe('the Job controller ends alike after a crash at any write', () => {
  for (const scenario of JOB_SCENARIOS) {
    it(`lab/W27: ${scenario.name}`, async () => {
      const { failures, tried } = await enumerateCrashPoints(scenario, { faults: ['kill-after'] });
      assert.deepEqual(failures, []);
      assert.ok(tried > 0);
    });
  }
});
