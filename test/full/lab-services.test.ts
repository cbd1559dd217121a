import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { SERVICE_SCENARIOS } from '../support/lab-service-scenarios.ts';

/** Every fault at every write (reliability T1, full tier). */
describe('the controllers of services, budgets, nodes and accounts end alike after every fault at every write', () => {
  for (const scenario of SERVICE_SCENARIOS) {
    it(scenario.name, async (t) => {
      const { failures, tried, points } = await enumerateCrashPoints(scenario);
      t.diagnostic(`${points.length} points: ${tried} runs`);
      assert.deepEqual(failures, []);
    });
  }
});
