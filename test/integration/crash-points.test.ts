import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { MUTANTS, type Mutant } from '../torture/crash-points/mutants.ts';
import { RIGHT_PLANS, scenarioOf } from '../torture/crash-points/scenarios.ts';

/** The quick tier of reliability T1; `npm run test:full` tries every fault. */
describe('crash points', () => {
  for (const each of RIGHT_PLANS.map(scenarioOf)) {
    it(`reliability/P30: ${each.name} ends alike after a kill at any write`, async () => {
      const { failures, tried, points } = await enumerateCrashPoints(each, { faults: ['kill-after'] });
      assert.deepEqual(failures, []);
      assert.equal(tried, points.length);
    });
  }

  for (const mutant of MUTANTS) {
    it(`reliability/T1: a controller that ${mutant.name} is caught (${mutant.caughtBy})`, async () => {
      assert.ok(await isCaught(mutant));
    });
  }
});

async function isCaught({ caughtBy, ...planned }: Mutant): Promise<boolean> {
  const planted = scenarioOf(planned);
  if (caughtBy === 'undisturbed') {
    await assert.rejects(enumerateCrashPoints(planted, { faults: [] }), /fails undisturbed/);
    return true;
  }
  const { failures } = await enumerateCrashPoints(planted, { faults: [caughtBy], stopsAtFailure: true });
  return failures.length > 0;
}
