import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { DAEMON_SCENARIOS } from '../support/lab-daemon-scenarios.ts';

/** The quick tier; `npm run test:full` tries every fault. */
describe('the DaemonSet controller ends alike after a crash at any write', () => {
  for (const scenario of DAEMON_SCENARIOS) {
    it(`lab/W24: ${scenario.name}`, async () => {
      const { failures, tried } = await enumerateCrashPoints(scenario, { faults: ['kill-after'] });
      assert.deepEqual(failures, []);
      assert.ok(tried > 0);
    });
  }
});
