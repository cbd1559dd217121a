import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { DAEMON_SCENARIOS } from '../support/lab-daemon-scenarios.ts';

/** Every fault at every write (reliability T1, full tier). */
describe('the DaemonSet controller ends alike after every fault at every write', () => {
  for (const scenario of DAEMON_SCENARIOS) {
    it(`lab/W24: ${scenario.name}`, async (t) => {
      const { failures, tried, points } = await enumerateCrashPoints(scenario);
      t.diagnostic(`${points.length} points: ${tried} runs`);
      assert.deepEqual(failures, []);
    });
  }
});
