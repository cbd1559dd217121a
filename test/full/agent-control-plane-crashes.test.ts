import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { crashScenario, creation, remove, scaleDown, upgrade } from '../support/agent-control-plane-stories.ts';

describe('the control-plane provider, killed after every write', () => {
  for (const story of [creation, scaleDown, remove, upgrade])
    it(`agent/C15, agent/X17: ${story().name} ends with the same objects and conditions`, async () => {
      const { failures } = await enumerateCrashPoints(crashScenario(story), {
        faults: ['kill-before', 'kill-after', 'kill-twice', 'lost-response', 'lost-and-stale'],
      });
      assert.deepEqual(failures, []);
    });
});
