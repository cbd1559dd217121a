import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { boxController, machines } from '../../test/torture/crash-points/controllers.ts';
import {
  appliesChild,
  controlledBy,
  problemsOf,
  type Reconcile,
  tried,
  unfenced,
} from '../../test/torture/crash-points/harness.ts';
import { Secret } from '../api/generated/core-v1.ts';
import { DONE } from '../kube/controller/reconcile.ts';
import { enumerateCrashPoints } from './crash-points.ts';
import type { CrashScenario } from './crash-scenario.ts';

describe('enumerateCrashPoints', () => {
  it('reliability/T1.1: points are named by verb, kind, object and ordinal', async () => {
    const { points, failures } = await tried(controlledBy(appliesChild), { faults: [] });
    assert.deepEqual(points, [
      'patch|configmaps|default/a|1',
      'patch|boxes/status.crash.example.com|default/a|1',
      'patch|configmaps|default/a|2',
      'patch|boxes/status.crash.example.com|default/a|2',
    ]);
    assert.deepEqual(failures, []);
  });

  it('reliability/P30: a right controller ends alike after a kill, a lost answer, a refusal and two kills', async () => {
    const { failures, tried: runs } = await tried(machines(), {
      faults: ['kill-before', 'kill-twice', 'lost-response', 'refused-503', 'failing-reads'],
      points: (point) => point.startsWith('create|'),
    });
    assert.deepEqual(failures, []);
    assert.equal(runs, 5);
  });

  it('reliability/P31: a controller that writes after its lease was taken is named, whatever becomes of the world', async () => {
    const make = unfenced((client) =>
      boxController({ reconcile: (box, context) => appliesChild(box, { ...context, client }) }),
    );
    const points = (point: string) => point.endsWith('configmaps|default/a|1');
    assert.match(
      await problemsOf(make, { faults: ['zombie'], points }),
      /life-0 made the write patch\|boxes\/status.* while life-1_\S+ holds the lease/,
    );
    assert.match(await problemsOf(make, { faults: ['pause'], points }), /life-0 made .* after its lease was over/);
  });

  it('rejects a scenario that writes nothing', async () => {
    const idle: CrashScenario = {
      name: 'idle',
      start: () => ({ controllers: () => [], act: () => Promise.resolve() }),
    };
    await assert.rejects(enumerateCrashPoints(idle), /scenario idle makes no writes/);
  });

  it('names why an undisturbed run fails, before it looks for writes: a request without a right, a bug', async () => {
    const table: readonly [Reconcile, RegExp][] = [
      [
        async (_box, { client }) => {
          await client.live.list(Secret);
          return DONE;
        },
        /fails undisturbed: .*scenario may not list secrets: declare it with/,
      ],
      [
        () => Promise.reject(new TypeError('a bug')),
        /fails undisturbed: \S+\/boxes\/default\/a ends with Ready=False, InternalError: .*; Reconcile failed: a bug/,
      ],
    ];
    for (const [reconcile, cause] of table)
      await assert.rejects(tried(controlledBy(reconcile), { points: () => false }), cause);
  });
});
