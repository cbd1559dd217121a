import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigSyncWorld } from '../../../test/support/config-sync-world.ts';
import { reconcileContext } from '../../../test/support/reconcile-context.ts';
import { retryError, terminalError, userError } from '../../base/errors.ts';
import { LeadershipLost } from '../../kube/client/api-error.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import { DONE, type Result } from '../../kube/controller/reconcile.ts';
import { interceptedClient } from '../../testing/intercepted-client.ts';
import { SyncReport } from './sync-report.ts';

/** A report without a controller around it. */
async function startReport() {
  const world = await ConfigSyncWorld.start();
  const { clusterOperator } = world.names;
  const report = new SyncReport({ controller: 'CloudConfigController', clusterOperator, clock: world.env.clock });
  const run = (sync: () => Promise<Result>, client: KubeClient = world.client) =>
    report.around(reconcileContext(client).context, sync);
  const failing = (error: Error) => () => Promise.reject(error);
  return { world, run, failing };
}

const later = retryError('Later', 'not yet');

describe('the report of a controller', () => {
  it('operator/R59: degrades with the first failure that comes two minutes after another, and success ends it', async () => {
    const { world, run, failing } = await startReport();
    await using _world = world;
    const fail = async (waitMs: number) => {
      await world.env.advance(waitMs);
      await assert.rejects(run(failing(later)), later);
      return (await world.conditions('CloudConfig')).some((text) => text.startsWith('Degraded=True'));
    };
    assert.deepEqual([await fail(0), await fail(119_999), await fail(1)], [false, false, true]);
    assert.equal(await run(() => Promise.resolve(DONE)), DONE);
    assert.deepEqual([await fail(200_000), await fail(60_000)], [false, false]);
    assert.equal(await fail(300_000), true, 'nothing is too old to count (R60)');
  });

  for (const error of [
    userError('Wrong', 'password=hunter2 is wrong'),
    terminalError('Never', 'password=hunter2'),
  ])
    it(`operator/R58: tells of a ${error.disposition} failure at once, without secrets, and is done`, async () => {
      const { world, run, failing } = await startReport();
      await using _world = world;
      assert.equal(await run(failing(error)), DONE);
      const [available = '', degraded = ''] = await world.conditions('CloudConfig');
      assert.match(available, /^Available=False\/SyncingFailed /);
      assert.match(
        degraded,
        /^Degraded=True\/SyncingFailed Cloud Config Controller failed to sync cloud config: /,
      );
      assert.doesNotMatch(degraded, /hunter2/);
    });

  it('operator/R59: says that it could not say it', async () => {
    const { world, run, failing } = await startReport();
    await using _world = world;
    const client = interceptedClient(world.client, {
      applyStatus: {
        before: () => {
          throw new Error('no');
        },
      },
    });
    const attempt = run(failing(userError('Wrong', 'x')), client);
    await assert.rejects(attempt, { message: 'failed to set degraded condition: no', disposition: 'retry' });
  });

  it('is silent when another process leads', async () => {
    const { world, run, failing } = await startReport();
    await using _world = world;
    await assert.rejects(run(failing(later)), later);
    await world.env.advance(200_000);
    await assert.rejects(run(failing(new LeadershipLost())), LeadershipLost);
    const client = interceptedClient(world.client, {
      applyStatus: {
        before: () => {
          throw new LeadershipLost();
        },
      },
    });
    await assert.rejects(run(failing(userError('Wrong', 'x')), client), LeadershipLost);
    assert.deepEqual(await world.conditions('CloudConfig'), []);
  });
});
