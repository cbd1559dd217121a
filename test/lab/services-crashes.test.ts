import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { SERVICE_SCENARIOS } from '../support/lab-service-scenarios.ts';

/** The quick tier; `npm run test:full` tries every fault. */
describe('the controllers of services, budgets, nodes and accounts end alike after a crash at any write', () => {
  for (const scenario of SERVICE_SCENARIOS) {
    it(scenario.name, async () => {
      const { failures, tried } = await enumerateCrashPoints(scenario, { faults: ['kill-after'] });
      assert.deepEqual(failures, []);
      assert.ok(tried > 0);
    });
  }
});
