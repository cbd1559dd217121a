import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeProvider, startCloudController } from '../../../test/support/cloud-controllers.ts';
import { addCloudNode, machine, nodeEvents, nodeNames, readiness } from '../../../test/support/cloud-nodes.ts';
import { Event } from '../../api/generated/core-v1.ts';
import { createLog } from '../../base/log.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { InstanceObservation } from '../../sdk/capabilities/instances.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { cloudNodeLifecycle } from './index.ts';

const PERIOD_MS = 5000;
const MINUTE_MS = 60_000;

interface Line {
  readonly level: string;
  readonly message: string;
  readonly nodes?: readonly string[];
  readonly count?: number;
  readonly durationMs: number;
}

interface Outage extends AsyncDisposable {
  readonly env: TestEnv;
  readonly cloud: FakeCloud;
  /** What the log says of the outage since the last call. */
  told(): readonly Line[];
  start(settings?: Partial<CloudSettings>): Promise<Manager>;
}

/** Nodes that are not ready, but for one called `up`, and a cloud that knows no machine. */
async function outageOf(...names: readonly string[]): Promise<Outage> {
  const lines: Line[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLog({ level: 'info', write, now: () => new Date(0) });
  const env = await TestEnv.start({ log });
  const cloud = new FakeCloud();
  for (const name of names)
    await addCloudNode(env, name, { status: readiness(name === 'up' ? 'True' : 'Unknown') });
  return {
    env,
    cloud,
    told: () => lines.splice(0).filter(({ message }) => /no machine of any|suspected outage/.test(message)),
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

  it('ccm/B2: goes on telling while it lasts, in one event per node and a line every five minutes', async () => {
    await using world = await outageOf('n1', 'n2');
    const { env } = world;
    await world.start();
    await env.advance(40 * MINUTE_MS);
    const { items } = await env.client.live.list(Event);
    const series = items.filter(({ reason }) => reason === 'SuspectedCloudOutage');
    assert.deepEqual(
      // Written when it began, the second time, and half an hour later: the others are only counted.
      series.map(({ involvedObject, count }) => `${involvedObject.name} ${count}`).toSorted(),
      ['n1 8', 'n2 8'],
    );
    const lines = world.told();
    assert.deepEqual(
      lines.map(({ level, durationMs }) => [level, durationMs / MINUTE_MS]),
      Array.from({ length: 9 }, (_, at) => ['warn', 5 * at]),
    );
    assert.ok(lines.every(({ nodes, count }) => nodes?.join() === 'n1,n2' && count === 2));
  });

  it('ccm/B2: says once when it is over, also when answers failed meanwhile', async () => {
    await using world = await outageOf('n1', 'n2');
    const { env, cloud } = world;
    await world.start();
    cloud.on('instances.describe', () => Promise.reject(new Error('no answer')));
    await env.advance(MINUTE_MS);
    cloud.on('instances.describe', undefined);
    await env.advance(MINUTE_MS);
    assert.equal(world.told().length, 1);
    for (const name of ['n1', 'n2']) cloud.instances.set(name, machine());
    await env.advance(60 * MINUTE_MS);
    assert.deepEqual(
      world.told().map(({ level, message, durationMs }) => [level, message, durationMs]),
      [['info', 'No node is kept any more because of a suspected outage of the cloud', 2 * MINUTE_MS + PERIOD_MS]],
    );
  });

  it('ccm/B2: names few nodes in a line for many, and tells a new one at once', async () => {
    await using world = await outageOf(...Array.from({ length: 12 }, (_, at) => `n${at}`));
    const { env } = world;
    await world.start();
    await addCloudNode(env, 'late', { status: readiness('Unknown') });
    await env.advance(MINUTE_MS);
    const lines = world.told().map(({ nodes, count }) => [nodes?.length, count]);
    assert.deepEqual(lines, [
      [10, 12],
      [1, 1],
    ]);
    assert.equal((await warnings(env)).length, 13);
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
