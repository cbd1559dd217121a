import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTexts } from '../../../../test/support/event-texts.ts';
import { beat, LifecycleWorld, report } from '../../../../test/support/lifecycle-world.ts';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import { setPodStatus } from '../../../../test/support/service-world.ts';
import { Lease } from '../../../api/generated/coordination-v1.ts';
import { Node } from '../../../api/generated/core-v1.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { HeldStreams } from '../../../testing/held-streams.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { nodeLifecycleController } from './controller.ts';

const start = (options = {}) => LifecycleWorld.start({ controllers: [nodeLifecycleController(options)] });
const LOST = ['node.kubernetes.io/unreachable:NoExecute', 'node.kubernetes.io/unreachable:NoSchedule'];
const UNREADY = ['node.kubernetes.io/not-ready:NoExecute', 'node.kubernetes.io/not-ready:NoSchedule'];

const readiness = async (world: LifecycleWorld, name: string): Promise<string> => {
  const { status, reason } = (await world.condition(name)) ?? {};
  return `${status} ${reason}`;
};

const isPodReady = async (world: LifecycleWorld, name: string): Promise<boolean | undefined> => {
  const pod = await world.pod(name);
  return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
};

describe('the node lifecycle controller', () => {
  it('lab/W35: takes a node for lost 50 s after its last sign of life, and no sooner', async () => {
    await using world = await start();
    await world.addNodes('n1', 'n2');
    await world.pass(120);
    assert.equal(await readiness(world, 'n1'), 'True Test');
    world.silent.add('n1');
    await world.pass(49);
    assert.equal(await readiness(world, 'n1'), 'True Test');
    await world.pass(1);
    assert.equal(await readiness(world, 'n1'), 'Unknown NodeStatusUnknown');
    assert.deepEqual(await world.taints('n1'), LOST);
    assert.deepEqual([await readiness(world, 'n2'), await world.taints('n2')], ['True Test', []]);
    assert.deepEqual(await eventTexts(world.client, 'Node'), [
      'Normal NodeNotReady Node n1 status is now: NodeNotReady',
    ]);
  });

  it('lab/W35: is satisfied with a status alone, and with a Lease alone', async () => {
    await using world = await start();
    await world.addNodes('status', 'lease');
    world.silent.add('status');
    await world.client.delete(Lease, { namespace: 'kube-node-lease', name: 'status' });
    for (let round = 0; round < 4; round++) {
      await world.pass(40);
      await report(world.env, 'status');
    }
    assert.deepEqual(
      [await readiness(world, 'status'), await readiness(world, 'lease')],
      ['True Test', 'True Test'],
    );
  });

  it('lab/W35: gives a node that never reported 60 s', async () => {
    await using world = await start();
    await world.client.create(Node, { metadata: { name: 'n1' }, spec: {} });
    await world.pass(59);
    assert.equal(await world.condition('n1'), undefined);
    assert.deepEqual(await world.taints('n1'), ['node.kubernetes.io/not-ready:NoSchedule']);
    await world.pass(1);
    assert.equal(await readiness(world, 'n1'), 'Unknown NodeStatusNeverUpdated');
    assert.deepEqual(await world.taints('n1'), LOST);
    await expectNoWrites(world.env.recorder, () => world.pass(300));
    await report(world.env, 'n1');
    await world.env.settle();
    assert.deepEqual(await world.taints('n1'), []);
  });

  it('lab/W35: leaves a node in peace that only renews its Lease', async () => {
    await using world = await start();
    await world.client.create(Node, { metadata: { name: 'n1' }, spec: {} });
    for (let round = 0; round < 6; round++) {
      await beat(world.env, 'n1');
      await world.pass(30);
    }
    assert.equal(await world.condition('n1'), undefined);
  });

  it('lab/W36: taints and untaints as conditions come and go', async () => {
    await using world = await start();
    await world.addNodes('n1');
    assert.deepEqual(await world.taints('n1'), []);
    await report(world.env, 'n1', { Ready: 'False', DiskPressure: 'True' });
    await world.env.settle();
    assert.deepEqual(await world.taints('n1'), ['node.kubernetes.io/disk-pressure:NoSchedule', ...UNREADY]);
    await report(world.env, 'n1');
    await world.client.patch(Node, { name: 'n1' }, { type: 'merge', body: { spec: { unschedulable: true } } });
    await world.env.settle();
    assert.deepEqual(await world.taints('n1'), ['node.kubernetes.io/unschedulable:NoSchedule']);
  });

  it('lab/W36: says of pods on a lost node that they are not ready, once', async () => {
    await using world = await start();
    await world.addNodes('n1', 'n2');
    await world.addPod('here', 'n1');
    await world.addPod('there', 'n2');
    world.silent.add('n1');
    await world.pass(50);
    assert.deepEqual([await isPodReady(world, 'here'), await isPodReady(world, 'there')], [false, true]);
    assert.deepEqual(await eventTexts(world.client, 'Pod'), ['Warning NodeNotReady Node is not ready']);
    // A kubelet that only fails to report goes on to say what it sees: there is no fight about it.
    await world.pass(10);
    await setPodStatus(world.env, 'here', { node: 'n1' });
    await expectNoWrites(world.env.recorder, () => world.pass(300));
    assert.equal(await isPodReady(world, 'here'), true);
  });

  it('lab/W36: makes a lost node whole when it comes back', async () => {
    await using world = await start();
    await world.addNodes('n1');
    world.silent.add('n1');
    await world.pass(60);
    assert.deepEqual(await world.taints('n1'), LOST);
    world.silent.delete('n1');
    await report(world.env, 'n1', { Ready: 'False' });
    await world.env.settle();
    assert.deepEqual(await world.taints('n1'), UNREADY);
    await report(world.env, 'n1');
    await world.env.settle();
    assert.deepEqual([await world.taints('n1'), await readiness(world, 'n1')], [[], 'True Test']);
    await world.pass(120);
    assert.equal(await readiness(world, 'n1'), 'True Test');
  });

  it('lab/W36: lets pods leave one node after the other, when it is told to', async () => {
    await using world = await start({ evictionsPerSecond: 0.1 });
    await world.addNodes('n1', 'n2', 'n3');
    for (const name of ['n1', 'n2', 'n3']) world.silent.add(name);
    const leaving = async () => {
      const all = await Promise.all(['n1', 'n2', 'n3'].map((name) => world.taints(name)));
      return all.filter((taints) => taints.includes('node.kubernetes.io/unreachable:NoExecute')).length;
    };
    await world.pass(50);
    const counts = [await leaving()];
    for (let round = 0; round < 3; round++) {
      await world.pass(10);
      counts.push(await leaving());
    }
    assert.deepEqual(counts, [1, 2, 3, 3]);
    assert.deepEqual(await world.taints('n3'), LOST);
  });

  it('lab/W35: asks the server before it takes a node for lost: a cache may be behind', async () => {
    const held = new HeldStreams();
    const controllers = [nodeLifecycleController()];
    await using world = await LifecycleWorld.start({ controllers, wrap: (transport) => held.around(transport) });
    await world.addNodes('n1');
    held.hold('leases.coordination.k8s.io');
    await world.pass(120);
    assert.equal(await readiness(world, 'n1'), 'True Test');
    world.silent.add('n1');
    held.releaseAll();
    await world.pass(50);
    assert.equal(await readiness(world, 'n1'), 'Unknown NodeStatusUnknown');
  });

  it('lab/A6: writes nothing while nodes live, nor when it starts anew beside lost ones', async () => {
    await using world = await start();
    await world.addNodes('n1', 'n2');
    await world.addPod('p1', 'n2');
    await expectNoWrites(world.env.recorder, () => world.pass(300));
    world.silent.add('n2');
    await world.pass(60);
    await expectNoWrites(world.env.recorder, async () => {
      await world.env.startManager({ name: 'another', add: [nodeLifecycleController()] });
      await world.pass(300);
    });
  });

  it('lab/A5: needs what it uses, and no more than every cluster gives to the controller', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p1', 'n1');
    world.silent.add('n1');
    await world.pass(60);
    expectExactRbac(world.env);
    const role = 'system:controller:node-controller';
    assert.deepEqual(await uncoveredWrites(world.client, nodeLifecycleController(), role), []);
  });
});
