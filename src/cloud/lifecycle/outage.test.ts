import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeProvider, startCloudController } from '../../../test/support/cloud-controllers.ts';
import { addCloudNode, machine, nodeEvents, nodeNames, readiness } from '../../../test/support/cloud-nodes.ts';
import { SILENT_LOG } from '../../base/log.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { InstanceObservation } from '../../sdk/capabilities/instances.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { cloudNodeLifecycle } from './index.ts';

const PERIOD_MS = 5000;

interface Outage extends AsyncDisposable {
  readonly env: TestEnv;
  readonly cloud: FakeCloud;
  start(settings?: Partial<CloudSettings>): Promise<Manager>;
}

/** Nodes that are not ready, but for one called `up`, and a cloud that knows no machine. */
async function outageOf(...names: readonly string[]): Promise<Outage> {
  const env = await TestEnv.start({ log: SILENT_LOG });
  const cloud = new FakeCloud();
  for (const name of names)
    await addCloudNode(env, name, { status: readiness(name === 'up' ? 'True' : 'Unknown') });
  return {
    env,
    cloud,
    start: (settings = {}) =>
      startCloudController(env, cloudNodeLifecycle, { provider: fakeProvider(cloud), settings }),
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

const warnings = async (env: TestEnv): Promise<readonly string[]> =>
  (await nodeEvents(env)).filter((text) => text.startsWith('Warning'));

describe('the cloud node lifecycle controller beside a cloud that knows nothing', () => {
  it('ccm/B2: keeps all nodes at first, and tells each of them why, once', async () => {
    await using world = await outageOf('n1', 'n2', 'n3');
    const { env } = world;
    await world.start();
    await env.advance(PERIOD_MS);
    assert.deepEqual(await nodeNames(env), ['n1', 'n2', 'n3']);
    const told = await warnings(env);
    assert.equal(told.length, 3);
    for (const [at, text] of told.entries())
      assert.match(text, new RegExp(`^Warning SuspectedCloudOutage Not deleting node n${at + 1} yet: `));
  });

  it('ccm/B2: keeps them when the cloud knows them again, and has forgotten all about it', async () => {
    await using world = await outageOf('n1', 'n2', 'n3');
    const { env, cloud } = world;
    await world.start();
    await env.advance(PERIOD_MS);
    for (const name of ['n1', 'n2', 'n3']) cloud.instances.set(name, machine());
    await env.advance(60_000);
    assert.deepEqual(await nodeNames(env), ['n1', 'n2', 'n3']);
    cloud.instances.clear();
    await env.advance(2 * PERIOD_MS - 1);
    assert.deepEqual(await nodeNames(env), ['n1', 'n2', 'n3']);
  });

  it('ccm/B2, reliability/P32: asks for each machine by itself, and then deletes one node per pass', async () => {
    await using world = await outageOf('up', 'n1', 'n2', 'n3');
    const { env, cloud } = world;
    await world.start();
    const counts: number[] = [];
    for (let pass = 0; pass < 5; pass++) {
      counts.push((await nodeNames(env)).length);
      await env.advance(PERIOD_MS);
    }
    assert.deepEqual(counts, [4, 4, 3, 2, 1]);
    assert.equal(cloud.callsOf('instances.describeMany').length, 1);
    assert.equal(cloud.callsOf('instances.describe').length, 3 + 3 + 2 + 1);
    const deletions = (await nodeEvents(env)).filter((text) => text.startsWith('Normal DeletingNode '));
    assert.equal(deletions.length, 3);
  });

  it('ccm/B2: never deletes a cluster as a whole, however long the cloud says that it is gone', async () => {
    await using world = await outageOf('n1', 'n2', 'n3');
    const { env } = world;
    await world.start();
    await env.advance(30 * 60_000);
    assert.deepEqual(await nodeNames(env), ['n1', 'n2', 'n3']);
    assert.equal((await warnings(env)).length, 3);
  });

  it('ccm/B2: believes single answers more than a list that has lost everything', async () => {
    await using world = await outageOf('n1', 'n2');
    const { env, cloud } = world;
    for (const name of ['n1', 'n2']) cloud.instances.set(name, machine());
    cloud.on('instances.describeMany', ([refs]) => {
      const asked = refs as readonly { readonly nodeName: string }[];
      const gone: InstanceObservation = { state: 'absent', evidence: 'not in the list' };
      return new Map(asked.map(({ nodeName }) => [nodeName, gone]));
    });
    await world.start();
    await env.advance(10 * 60_000);
    assert.deepEqual(await nodeNames(env), ['n1', 'n2']);
  });

  it('ccm/B2: a restart begins anew, so that nothing is deleted earlier than allowed', async () => {
    await using world = await outageOf('up', 'n1', 'n2');
    const { env } = world;
    for (let life = 0; life < 4; life++) {
      const manager = await world.start();
      await env.advance(PERIOD_MS);
      await env.stopManager(manager);
    }
    assert.deepEqual(await nodeNames(env), ['n1', 'n2', 'up']);
    await world.start();
    await env.advance(2 * PERIOD_MS);
    assert.equal((await nodeNames(env)).length, 2);
  });

  it('ccm/B2: counts the confirmations that it is told anew after a restart', async () => {
    await using world = await outageOf('n1');
    const { env } = world;
    const settings = { nodeDeletionConfirmations: 3 };
    const first = await world.start(settings);
    await env.advance(PERIOD_MS);
    await env.stopManager(first);
    await world.start(settings);
    await env.advance(2 * PERIOD_MS - 1);
    assert.deepEqual(await nodeNames(env), ['n1']);
    await env.advance(1);
    assert.deepEqual(await nodeNames(env), []);
  });

  it('ccm/B2: waits for the age of a node, and for a cloud that knows machines late', async () => {
    const ages: number[] = [];
    for (const [minAgeMs, consistencyMs] of [
      [30_000, 0],
      [0, 20_000],
    ] as const) {
      await using world = await outageOf('n1');
      const { env, cloud } = world;
      const instances = { ...cloud.capabilities.instances, declare: () => ({ consistencyMs }) };
      const bornMs = env.clock.monotonicMs();
      await startCloudController(env, cloudNodeLifecycle, {
        provider: fakeProvider(cloud, { instances }),
        settings: { nodeDeletionMinAgeMs: minAgeMs },
      });
      while ((await nodeNames(env)).length > 0) await env.advance(PERIOD_MS);
      ages.push(env.clock.monotonicMs() - bornMs);
    }
    assert.deepEqual(ages, [30_000, 20_000]);
  });

  it('ccm/B2: a node that cannot be deleted does not hold up the others', async () => {
    await using world = await outageOf('up', 'n1', 'n2', 'n3');
    const { env } = world;
    env.faults.arm({
      matches: ({ method, target }) => method === 'DELETE' && target.includes('/nodes/n1'),
      fault: { kind: 'refuse', status: 422, reason: 'Invalid' },
    });
    await world.start();
    await env.advance(5 * PERIOD_MS);
    assert.deepEqual(await nodeNames(env), ['n1', 'up']);
  });
});
