import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addNode, type PodSketch } from '../../../../test/support/pretend-cluster.ts';
import { SchedulerWorld } from '../../../../test/support/scheduler-world.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { PriorityClass } from '../../../api/generated/scheduling-v1.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';

const LONG_MS = 18 * 60_000;
const key = { namespace: 'default', name: 'p' };
const cpu = (amount: string): PodSketch => ({ requests: { cpu: amount } });
const tainted = { taints: [{ key: 'cp', effect: 'NoSchedule' }] } as const;

describe('the scheduler', () => {
  it('lab/K1: binds a pod, says so, and has nothing to write after that', async () => {
    await using world = await SchedulerWorld.start();
    await world.create({});
    assert.equal(await world.nodeOf(), 'n1');
    assert.equal((await world.condition())?.status, 'True');
    assert.deepEqual(world.writes, ['POST pods/p/binding']);
    const note = 'Successfully assigned default/p to n1';
    const told = { type: 'Normal', reason: 'Scheduled', note, action: 'Binding', about: 'p' };
    assert.deepEqual(await world.events(), [told]);
    await expectNoWrites(world.env.recorder, () => world.env.advance(LONG_MS));
  });

  it('lab/K1: leaves pods alone that are held back, until nothing holds them', async () => {
    await using world = await SchedulerWorld.start();
    const [first, second] = [{ name: 'example.com/a' }, { name: 'example.com/b' }];
    await world.create({ spec: { schedulingGates: [first, second] } });
    const { status, reason } = (await world.condition()) ?? {};
    assert.deepEqual([status, reason], ['False', 'SchedulingGated']);
    await expectNoWrites(world.env.recorder, () => world.env.advance(LONG_MS));
    await world.patchPod({ spec: { schedulingGates: [second] } });
    await world.env.settle();
    assert.equal(await world.nodeOf(), undefined);
    await world.patchPod({ spec: { schedulingGates: [] } });
    await world.env.settle();
    assert.equal(await world.nodeOf(), 'n1');
  });

  it('lab/K1: leaves pods of other schedulers alone', async () => {
    await using world = await SchedulerWorld.start();
    await world.create({ spec: { schedulerName: 'other' } });
    await expectNoWrites(world.env.recorder, () => world.env.advance(LONG_MS));
    assert.equal(await world.nodeOf(), undefined);
  });

  it('lab/K8: never touches pods that name their node, but counts them', async () => {
    await using world = await SchedulerWorld.start();
    await world.create({ ...cpu('3'), node: 'n1' }, { name: 'strange', node: 'nowhere' });
    await expectNoWrites(world.env.recorder, () => world.env.advance(LONG_MS));
    await world.create({ name: 'second', ...cpu('2') });
    assert.match(await world.message('second'), /^0\/1 nodes are available: 1 Insufficient cpu\./);
  });

  it('lab/K3: says in the condition and in one event why a pod has no node', async () => {
    const room = { cpu: '4', memory: '16Gi', pods: '10', 'acme.example/npu': '2' };
    const workers = ['w1', 'w2', 'w3'].map((name) => ({ name, allocatable: room }));
    await using world = await SchedulerWorld.start([
      { name: 'c1', ...tainted },
      { name: 'c2', ...tainted },
      ...workers,
    ]);
    const npus = { 'acme.example/npu': '3' };
    const resources = { requests: npus, limits: npus };
    await world.create({ spec: { containers: [{ name: 'c', image: 'i', resources }] } });
    const message =
      '0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient acme.example/npu. preemption: not simulated by the lab.';
    const condition = await world.condition();
    assert.deepEqual(
      [condition?.status, condition?.reason, condition?.message],
      ['False', 'Unschedulable', message],
    );
    const told = { type: 'Warning', reason: 'FailedScheduling', note: message, action: 'Scheduling', about: 'p' };
    assert.deepEqual(await world.events(), [told]);
    await expectNoWrites(world.env.recorder, () => world.env.advance(LONG_MS));

    await world.report('w2', { ...room, 'acme.example/npu': '3' });
    await world.env.settle();
    assert.equal(await world.nodeOf(), 'w2');
    const reasons = (await world.events()).map(({ reason }) => reason);
    assert.deepEqual(reasons, ['FailedScheduling', 'Scheduled']);
  });

  it('lab/K3: says that there are no nodes, and takes the first that comes', async () => {
    await using world = await SchedulerWorld.start([]);
    await world.create({});
    assert.equal(await world.message(), 'no nodes available to schedule pods');
    await addNode(world.client);
    await world.env.advance(1000);
    assert.equal(await world.nodeOf(), 'n1');
    const { status, reason, message } = (await world.condition()) ?? {};
    assert.deepEqual([status, reason, message], ['True', undefined, undefined]);
  });

  it('lab/K3: tells every pod, however many there are', async () => {
    await using world = await SchedulerWorld.prepare([]);
    const names = Array.from({ length: 70 }, (_, at) => `p${at}`);
    await world.create(...names.map((name) => ({ name })));
    await world.run();
    const { items } = await world.client.list(Pod, { namespace: 'default' });
    assert.deepEqual(
      new Set(items.map(({ status }) => status?.conditions?.[0]?.reason)),
      new Set(['Unschedulable']),
    );
  });

  it('lab/K3: brings the condition up to date, and its time stays', async () => {
    await using world = await SchedulerWorld.start([tainted]);
    await world.create(cpu('5'));
    const before = await world.condition();
    await world.env.advance(60_000);
    await world.patchNode('n1', { taints: [] });
    await world.env.settle();
    const after = await world.condition();
    assert.match(before?.message ?? '', /untolerated taint/);
    assert.match(after?.message ?? '', /Insufficient cpu/);
    assert.equal(after?.lastTransitionTime, before?.lastTransitionTime);
  });

  it('lab/K5: gives room again when pods end, and when they are deleted', async () => {
    await using world = await SchedulerWorld.start();
    await world.create({ name: 'first', ...cpu('3') }, { name: 'second', ...cpu('3') });
    assert.deepEqual(await world.nodesOf('first', 'second'), ['n1', undefined]);
    await world.patchPod({ status: { phase: 'Succeeded' } }, { name: 'first', subresource: 'status' });
    await world.env.advance(1000);
    assert.equal(await world.nodeOf('second'), 'n1');
    await world.create({ name: 'third', ...cpu('3') });
    await world.client.delete(Pod, { ...key, name: 'second' }, { gracePeriodSeconds: 0 });
    await world.env.advance(1000);
    assert.equal(await world.nodeOf('third'), 'n1');
  });

  it('lab/K7: places each pod with those before it in sight', async () => {
    await using world = await SchedulerWorld.start([{ name: 'n1' }, { name: 'n2' }]);
    const names = ['a', 'b', 'c', 'd', 'e'];
    await world.create(...names.map((name) => ({ name, ...cpu('1500m') })));
    assert.deepEqual(await world.nodesOf(...names), ['n1', 'n2', 'n1', 'n2', undefined]);
  });

  it('lab/K7: serves important pods first when there is room for some', async () => {
    await using world = await SchedulerWorld.start([]);
    await world.client.create(PriorityClass, { metadata: { name: 'high' }, value: 1000 });
    const containers = [{ name: 'c', image: 'i', resources: { requests: { cpu: '3' } } }];
    await world.create({ name: 'plain', ...cpu('3') });
    await world.create({ name: 'vip', spec: { containers, priorityClassName: 'high' } });
    await addNode(world.client);
    await world.env.advance(1000);
    assert.deepEqual(await world.nodesOf('plain', 'vip'), [undefined, 'n1']);
  });

  it('lab/K7: waits longer after each attempt, ten seconds at most', async () => {
    await using world = await SchedulerWorld.start([{ allocatable: { pods: '9', cpu: '1' } }]);
    await world.create(cpu('100'));
    const since = world.env.clock.monotonicMs();
    const attempts: number[] = [];
    for (let step = 2; step <= 60; step++) {
      // More than before, and never enough; and whoever looks at the pod has to tell it again.
      await world.report('n1', { pods: '9', cpu: `${step}` });
      await world.patchPod({ status: { conditions: [] } }, { subresource: 'status' });
      const writes = world.writes.length;
      await world.env.advance(500);
      if (world.writes.length > writes) attempts.push((world.env.clock.monotonicMs() - since) / 1000);
    }
    assert.deepEqual(attempts, [1, 3, 7, 15, 25]);
  });

  it('lab/K7: tries again after five minutes, though nothing has happened', async () => {
    await using world = await SchedulerWorld.start([tainted]);
    await world.create({});
    await world.patchPod({ status: { conditions: [] } }, { subresource: 'status' });
    await world.env.advance(299_000);
    assert.equal(await world.condition(), undefined);
    await world.env.advance(1000);
    assert.match(await world.message(), /untolerated taint/);
  });

  it('lab/K7: hears of a node that is open again', async () => {
    await using world = await SchedulerWorld.start([{ isUnschedulable: true }]);
    await world.create({});
    assert.match(await world.message(), /1 node\(s\) were unschedulable\./);
    await world.env.advance(60_000);
    await world.patchNode('n1', { unschedulable: null });
    await world.env.settle();
    assert.equal(await world.nodeOf(), 'n1');
  });

  it('lab/K7: hears of a pod that tolerates more than before', async () => {
    await using world = await SchedulerWorld.start([tainted]);
    await world.create({});
    await world.env.advance(60_000);
    const { tolerations = [] } = (await world.pod()).spec;
    await world.patchPod({ spec: { tolerations: [...tolerations, { operator: 'Exists' }] } });
    await world.env.settle();
    assert.equal(await world.nodeOf(), 'n1');
  });
});
