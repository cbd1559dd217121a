import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { enumerateCrashPoints } from '../../src/testing/crash-points.ts';
import { agentCrashScenario, everyPoint } from '../support/agent-crash-story.ts';

/** In parts, so that each ends in time on a busy machine. */
const PARTS = 12;

describe('both providers, killed after every write', () => {
  for (const method of ['ignition', 'live-iso'] as const)
    for (let part = 0; part < PARTS; part++)
      it(`install, scale and delete a cluster with boot method ${method}, part ${part + 1} of ${PARTS}`, async () => {
        const { failures, tried, points } = await enumerateCrashPoints(agentCrashScenario(method), {
          faults: ['kill-after'],
          points: everyPoint(PARTS, part),
        });
        assert.deepEqual(failures, []);
        assert.equal(tried, points.length);
        assert.ok(tried > 5, String(tried));
      });
});
