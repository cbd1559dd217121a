import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  crashScenario,
  creation,
  remove,
  scaleDown,
  upgrade,
} from '../../../test/support/agent-control-plane-stories.ts';
import { enumerateCrashPoints } from '../../testing/crash-points.ts';

/** Every point is in the full tests: here those after which something may be left over, or made twice. */
describe('the control-plane provider, killed anywhere', () => {
  for (const { story, points: isWanted, least, faults } of [
    { story: creation, points: /^create\|/, least: 9, faults: ['kill-after'] },
    { story: creation, points: /^patch\|machines\./, least: 3, faults: ['lost-and-stale'] },
    { story: scaleDown, points: /^delete\|/, least: 2, faults: ['kill-after', 'lost-and-stale'] },
    { story: remove, points: /^delete\|/, least: 4, faults: ['kill-after', 'lost-and-stale'] },
    { story: upgrade, points: /clusterversion/, least: 1, faults: ['kill-after', 'lost-and-stale'] },
  ] as const)
    it(`agent/C15, agent/X17: ${story().name} ends with the same objects and conditions after ${faults.join(' or ')}`, async () => {
      const { failures, points } = await enumerateCrashPoints(crashScenario(story), {
        faults,
        points: (point) => isWanted.test(point),
      });
      assert.deepEqual(failures, []);
      assert.ok(points.length >= least, `${points.length} points: ${points.join('\n')}`);
    });
});
