import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fakeProvider, startCloudController, usualSettings } from '../../../test/support/cloud-controllers.ts';
import {
  addCloudNode,
  machine,
  nodeEvents,
  nodeNames,
  readiness,
  setNodeReady,
  taintsOf,
} from '../../../test/support/cloud-nodes.ts';
import { uncoveredWrites } from '../../../test/support/role-coverage.ts';
import { Node } from '../../api/generated/core-v1.ts';
import { type Log, SILENT_LOG } from '../../base/log.ts';
import type { Manager } from '../../kube/manager/create-manager.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import type { Instances } from '../../sdk/capabilities/instances.ts';
import { ProviderError } from '../../sdk/provider/provider-error.ts';
import { expectExactRbac } from '../../testing/exact-rbac.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { HeldStreams } from '../../testing/held-streams.ts';
import { expectNoWrites } from '../../testing/recorder.ts';
import { TestEnv } from '../../testing/test-env.ts';
import type { CloudSettings } from '../cloud-settings.ts';
import { cloudNodeLifecycle } from './index.ts';
import { SHUTDOWN_TAINT } from './shutdown-taint.ts';

const PERIOD_MS = 5000;
const lost = { status: readiness('Unknown') };

/** As of a cloud that has no call for many. */
const oneByOne = ({ capabilities: { instances } }: FakeCloud): Instances => ({
  declare: () => instances.declare(),
  describe: (ref, call) => instances.describe(ref, call),
});

const start = (env: TestEnv, cloud: FakeCloud, settings: Partial<CloudSettings> = {}): Promise<Manager> =>
  startCloudController(env, cloudNodeLifecycle, { provider: fakeProvider(cloud), settings });

describe('the cloud node lifecycle controller', () => {
  it('ccm/L1, ccm/L5, ccm/C11: deletes a lost node without a machine in its first pass, and says why', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', lost);
    await start(env, cloud);
    assert.deepEqual(await nodeNames(env), []);
    assert.deepEqual(await nodeEvents(env), [
      'Normal DeletingNode Deleting node n1 because it does not exist in the cloud provider (no instance for n1)',
    ]);
  });

  it('ccm/L1: looks again a period after the last pass has ended, also when that takes long', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.instances.set('n1', machine());
    cloud.on('instances.describeMany', () => env.clock.sleep(2000));
    await addCloudNode(env, 'n1', lost);
    await start(env, cloud);
    const asked = () => cloud.callsOf('instances.describeMany').length;
    assert.equal(asked(), 1);
    await env.advance(2000 + PERIOD_MS - 1);
    assert.equal(asked(), 1);
    await env.advance(1);
    assert.equal(asked(), 2);
  });

  it('ccm/L3, ccm/C13: asks nothing about ready nodes and leaves them', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', { status: readiness('True') });
    await start(env, cloud);
    await env.advance(60_000);
    assert.deepEqual(await nodeNames(env), ['n1']);
    assert.deepEqual(cloud.calls, []);
  });

  it('ccm/L6, ccm/L3, ccm/B9, ccm/C12: taints a node whose machine is off, and takes that back when it is ready', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    const other = { key: 'example.com/mine', effect: 'NoExecute' } as const;
    cloud.instances.set('n1', machine('off'));
    await addCloudNode(env, 'n1', { spec: { taints: [other] }, status: readiness('False') });
    await start(env, cloud);
    assert.deepEqual(await taintsOf(env, 'n1'), [other, SHUTDOWN_TAINT]);
    assert.equal(cloud.calls.length, 1, 'one answer says that it exists and that it is off');
    cloud.instances.set('n1', machine('on'));
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    await setNodeReady(env, 'n1', 'True');
    const calls = cloud.calls.length;
    await env.advance(PERIOD_MS);
    assert.deepEqual(await taintsOf(env, 'n1'), [other]);
    assert.equal(cloud.calls.length, calls);
  });

  it('ccm/L7: taints with the version that it knows, and reads anew when somebody else wrote', async () => {
    const held = new HeldStreams();
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.instances.set('n1', machine('on'));
    await addCloudNode(env, 'n1', lost);
    const provider = fakeProvider(cloud);
    await startCloudController(env, cloudNodeLifecycle, { provider, wrap: (way) => held.around(way) });
    held.hold('nodes');
    const other = { key: 'example.com/mine', effect: 'NoSchedule' } as const;
    await env.client.patch(Node, { name: 'n1' }, { type: 'merge', body: { spec: { taints: [other] } } });
    cloud.instances.set('n1', machine('off'));
    await env.advance(PERIOD_MS);
    await env.advance(1000);
    assert.deepEqual(await taintsOf(env, 'n1'), [other, SHUTDOWN_TAINT]);
    const patches = env.recorder.writes.filter(({ method }) => method === 'PATCH').map(({ status }) => status);
    assert.deepEqual(patches, [409, 200]);
    held.releaseAll();
  });

  for (const isAnother of [false, true]) {
    const what = isAnother ? 'when another one has its name by now' : 'and says nothing of it';
    it(`ccm/L7: leaves a node alone that is gone, ${what}`, async () => {
      const held = new HeldStreams();
      const warnings: string[] = [];
      const log: Log = { ...SILENT_LOG, warn: (_, text) => void warnings.push(text), child: () => log };
      await using env = await TestEnv.start({ log });
      const cloud = new FakeCloud();
      cloud.instances.set('n1', machine('on'));
      await addCloudNode(env, 'n1', lost);
      const provider = fakeProvider(cloud);
      await startCloudController(env, cloudNodeLifecycle, { provider, wrap: (way) => held.around(way) });
      held.hold('nodes');
      await env.client.delete(Node, { name: 'n1' });
      if (isAnother) await addCloudNode(env, 'n1', lost);
      cloud.instances.set('n1', machine('off'));
      await env.advance(PERIOD_MS);
      await env.advance(1000);
      const patches = env.recorder.writes.filter(({ method }) => method === 'PATCH').map(({ status }) => status);
      assert.deepEqual(patches, [isAnother ? 409 : 404]);
      if (isAnother) assert.deepEqual(await taintsOf(env, 'n1'), []);
      assert.deepEqual(warnings, []);
      held.releaseAll();
    });
  }

  it('ccm/L7: gives up after five conflicts, and tries again in the next pass', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.instances.set('n1', machine('off'));
    await addCloudNode(env, 'n1', lost);
    const isPatch = ({ method }: { readonly method: string }) => method === 'PATCH';
    env.faults.arm({ matches: isPatch, fault: { kind: 'refuse', status: 409, reason: 'Conflict' }, times: 5 });
    await start(env, cloud);
    await env.advance(1000);
    assert.equal(env.faults.struck.get('refuse'), 5);
    assert.deepEqual(await taintsOf(env, 'n1'), []);
    await env.advance(PERIOD_MS);
    assert.deepEqual(await taintsOf(env, 'n1'), [SHUTDOWN_TAINT]);
  });

  it('ccm/L5: says when a node cannot be deleted, and tries again', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const isDelete = ({ method }: { readonly method: string }) => method === 'DELETE';
    env.faults.arm({ matches: isDelete, fault: { kind: 'refuse', status: 422, reason: 'Invalid' }, times: 1 });
    await addCloudNode(env, 'n1', lost);
    await start(env, new FakeCloud());
    assert.deepEqual(await nodeNames(env), ['n1']);
    const [, failed = ''] = await nodeEvents(env);
    assert.match(failed, /^Warning DeletingNodeFailed Failed deleting node n1: ./);
    await env.advance(PERIOD_MS);
    assert.deepEqual(await nodeNames(env), []);
  });

  it('ccm/L3: asks the server before it deletes: the node may be back, or be another one', async () => {
    const held = new HeldStreams();
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.instances.set('n1', machine());
    cloud.instances.set('n2', machine());
    await addCloudNode(env, 'n1', lost);
    await addCloudNode(env, 'n2', lost);
    const provider = fakeProvider(cloud);
    await startCloudController(env, cloudNodeLifecycle, { provider, wrap: (way) => held.around(way) });
    held.hold('nodes');
    await setNodeReady(env, 'n1', 'True');
    cloud.instances.delete('n1');
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    await env.client.delete(Node, { name: 'n1' });
    await addCloudNode(env, 'n1', lost);
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    held.releaseAll();
    await env.advance(PERIOD_MS);
    assert.deepEqual(await nodeNames(env), ['n2']);
  });

  it('ccm/L3: keeps a node that comes back between the question to the server and the deletion', async () => {
    await using env = await TestEnv.start();
    await addCloudNode(env, 'n1', lost);
    let deletions = 0;
    const raced =
      (way: Transport): Transport =>
      async (request) => {
        if (request.method === 'DELETE' && deletions++ === 0) await setNodeReady(env, 'n1', 'True');
        return await way(request);
      };
    const provider = fakeProvider(new FakeCloud());
    await startCloudController(env, cloudNodeLifecycle, { provider, wrap: raced });
    await env.advance(60_000);
    assert.deepEqual([deletions, await nodeNames(env)], [1, ['n1']]);
    assert.doesNotMatch(String(await nodeEvents(env)), /DeletingNodeFailed/);
  });

  it('ccm/L5: does not push a node that waits for a finalizer', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    await addCloudNode(env, 'n1', { ...lost, finalizers: ['example.com/wait'] });
    await start(env, cloud);
    const calls = cloud.calls.length;
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    assert.equal(cloud.calls.length, calls);
  });

  it('ccm/L4: deletes nothing while the cloud is down for a minute, and goes on when it is back', async () => {
    await using env = await TestEnv.start({ log: SILENT_LOG });
    const cloud = new FakeCloud();
    cloud.instances.set('n2', machine('off'));
    const fail = () => {
      throw new ProviderError('unavailable', 'the cloud is down');
    };
    cloud.on('instances.describeMany', fail);
    cloud.on('instances.describe', fail);
    await addCloudNode(env, 'n1', lost);
    await addCloudNode(env, 'n2', lost);
    await start(env, cloud);
    await expectNoWrites(env.recorder, () => env.advance(60_000));
    cloud.on('instances.describeMany', undefined);
    cloud.on('instances.describe', undefined);
    await env.advance(PERIOD_MS);
    assert.deepEqual(await nodeNames(env), ['n2']);
    assert.deepEqual(await taintsOf(env, 'n2'), [SHUTDOWN_TAINT]);
  });

  it('ccm/L1: asks for so many machines at once where the cloud answers one by one', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    let [running, most] = [0, 0];
    cloud.on('instances.describe', async () => {
      running++;
      most = Math.max(most, running);
      await env.clock.sleep(1000);
      running--;
    });
    for (const name of ['n1', 'n2', 'n3', 'n4', 'n5']) {
      cloud.instances.set(name, machine());
      await addCloudNode(env, name, lost);
    }
    const provider = fakeProvider(cloud, { instances: oneByOne(cloud) });
    const settings = { concurrentNodeLifecycleSyncs: 2 };
    await startCloudController(env, cloudNodeLifecycle, { provider, settings });
    await env.advance(3000);
    assert.deepEqual([most, cloud.callsOf('instances.describe').length], [2, 5]);
  });

  it('writes nothing while nothing changes', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.instances.set('n2', machine('off'));
    cloud.instances.set('n3', { state: 'unmanaged' });
    await addCloudNode(env, 'n1', { status: readiness('True') });
    for (const name of ['n2', 'n3']) await addCloudNode(env, name, lost);
    await start(env, cloud);
    await expectNoWrites(env.recorder, () => env.advance(10 * 60_000));
  });

  it('ccm/L11: needs the capability and a worker, and says so', () => {
    const cloud = new FakeCloud();
    const { instances: _, ...others } = cloud.capabilities;
    const without = { provider: fakeProvider(cloud, others), settings: usualSettings() };
    const idle = {
      provider: fakeProvider(cloud),
      settings: usualSettings({ concurrentNodeLifecycleSyncs: 0 }),
    };
    assert.equal(cloudNodeLifecycle.skipReason(without), 'provider fake does not offer instances');
    assert.equal(cloudNodeLifecycle.skipReason(idle), undefined);
    // What is wrong is found before anything of the manager is touched.
    const manager = {} as Manager;
    assert.throws(() => cloudNodeLifecycle.parts({ manager, ...without }), /needs instances/);
    assert.throws(() => cloudNodeLifecycle.parts({ manager, ...idle }), /must be at least 1, not 0/);
  });

  it('ccm/§2.4: needs what it uses, and no more than every cluster gives to the controller', async () => {
    await using env = await TestEnv.start();
    const cloud = new FakeCloud();
    cloud.instances.set('n2', machine('off'));
    await addCloudNode(env, 'n1', lost);
    await addCloudNode(env, 'n2', lost);
    const manager = await start(env, cloud);
    await env.advance(PERIOD_MS);
    expectExactRbac(env, { manager: 'cloud-node-lifecycle' });
    const role = 'system:controller:node-controller';
    assert.deepEqual(await uncoveredWrites(env.client, manager, role), []);
  });
});
