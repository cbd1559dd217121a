import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../src/base/clock.ts';
import { CRASH_FAULTS } from '../../src/testing/crash-faults.ts';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { worldDifferences } from '../../src/testing/world.ts';
import { MUTANTS } from '../torture/crash-points/mutants.ts';
import { realRun } from '../torture/crash-points/real-run.ts';
import type { RelayTarget } from '../torture/crash-points/relay.ts';
import { RIGHT_PLANS, scenarioOf } from '../torture/crash-points/scenarios.ts';

type Plan = (typeof RIGHT_PLANS)[number];

const SEED = 1;
const REAL_SHARE = 0.05;
const REAL_FAULTS = ['kill-before', 'kill-after'] as const;
/** Fewer points than that: the scenarios have lost their subject. */
const FEWEST_POINTS = 30;

/** Every fault at every write (reliability T1, full tier). */
describe('all crash points', () => {
  const kills: { readonly plan: Plan; readonly target: RelayTarget }[] = [];

  for (const plan of RIGHT_PLANS) {
    it(`reliability/P30 and P31: ${plan.name}: ${plan.story} ends alike after every fault at every write`, async (t) => {
      const { failures, tried, points } = await enumerateCrashPoints(scenarioOf(plan), { seed: SEED });
      t.diagnostic(`${points.length} points, ${CRASH_FAULTS.length} faults: ${tried} runs`);
      for (const point of points) for (const fault of REAL_FAULTS) kills.push({ plan, target: { point, fault } });
      assert.deepEqual(failures, []);
    });
  }

  for (const plan of MUTANTS) {
    it(`reliability/T1: a controller that ${plan.name} is caught`, async (t) => {
      if (plan.caughtBy === 'undisturbed') {
        await assert.rejects(enumerateCrashPoints(scenarioOf(plan)), /fails undisturbed/);
        return;
      }
      const { failures, tried } = await enumerateCrashPoints(scenarioOf(plan), { seed: SEED });
      t.diagnostic(
        `${failures.length} of ${tried} runs: ${[...new Set(failures.map(({ fault }) => fault))].join()}`,
      );
      assert.ok(failures.some(({ fault }) => fault === plan.caughtBy));
    });
  }

  it('reliability/T1.5: a process that is killed for real comes to the same verdict, for 5 % of the points', async (t) => {
    assert.ok(kills.length >= 2 * FEWEST_POINTS, `only ${kills.length / 2} points`);
    const { clock, count } = {
      clock: new VirtualClock({ seed: SEED }),
      count: Math.ceil(kills.length * REAL_SHARE),
    };
    for (let left = count; left > 0; left--) {
      const [chosen] = kills.splice(Math.floor(clock.random() * kills.length), 1);
      assert.ok(chosen);
      const isAlike = await endsAlike(chosen.plan, chosen.target);
      t.diagnostic(`${chosen.plan.name}: ${chosen.target.fault} at ${chosen.target.point}`);
      assert.equal(isAlike, true, `${chosen.plan.name}: ${chosen.target.fault} at ${chosen.target.point}`);
    }
  });

  const WRONG: readonly (readonly [mutant: string, target: RelayTarget])[] = [
    ['creates without any token', { point: 'create|outside:machine|a|1', fault: 'kill-after' }],
    [
      'removes the finalizer before the provider confirms',
      { point: 'patch|boxes.crash.example.com|default/a|2', fault: 'kill-after' },
    ],
  ];
  for (const [name, target] of WRONG) {
    it(`reliability/T1.5: a real kill shows that a controller ${name}, as the one in process does`, async () => {
      const plan = MUTANTS.find((mutant) => mutant.name === name);
      assert.ok(plan);
      const points = (point: string) => point === target.point;
      const { failures } = await enumerateCrashPoints(scenarioOf(plan), { faults: [target.fault], points });
      assert.equal(failures.length, 1);
      assert.equal(await endsAlike(plan, target), false);
    });
  }
});

/** Whether the world after a real kill is the one without. */
async function endsAlike(plan: Plan, target: RelayTarget): Promise<boolean> {
  const baseline = await realRun(plan);
  const killed = await realRun(plan, target);
  assert.ok(killed.lives > baseline.lives, 'the process was killed');
  return killed.inventory === baseline.inventory && worldDifferences(baseline.world, killed.world).length === 0;
}
