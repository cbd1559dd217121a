import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { WORKLOAD_CRASHES } from '../support/workload-crashes.ts';

/** Fewer points than that: a scenario has lost its subject. */
const FEWEST_POINTS = 5;

/** Every fault at every write (reliability T1, full tier). */
describe('the stand-ins for Deployments and ReplicaSets', () => {
  for (const scenario of WORKLOAD_CRASHES) {
    it(`lab/W16: ${scenario.name}, and no fault at any write changes anything`, {
      timeout: 600_000,
    }, async (t) => {
      const { failures, tried, points } = await enumerateCrashPoints(scenario);
      t.diagnostic(`${points.length} points: ${tried} runs`);
      assert.deepEqual(failures, []);
      assert.ok(points.length >= FEWEST_POINTS);
    });
  }
});
