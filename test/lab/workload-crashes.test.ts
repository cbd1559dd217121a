import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { WORKLOAD_CRASHES } from '../support/workload-crashes.ts';

/** What comes a third time is like the second. */
const isEarly = (point: string): boolean => Number(point.split('|').at(-1)) <= 2;

/** The quick tier of reliability T1; `npm run test:full` tries every fault at every write. */
describe('the stand-ins for Deployments and ReplicaSets', () => {
  for (const scenario of WORKLOAD_CRASHES) {
    it(`lab/W16: ${scenario.name}, and a kill after a write changes nothing`, async () => {
      const options = { faults: ['kill-after'], points: isEarly } as const;
      const { failures, tried, points } = await enumerateCrashPoints(scenario, options);
      assert.deepEqual(failures, []);
      assert.equal(tried, points.length);
    });
  }
});
