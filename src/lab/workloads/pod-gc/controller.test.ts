import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LifecycleWorld, report } from '../../../../test/support/lifecycle-world.ts';
import { setTaints } from '../../../../test/support/pretend-nodes.ts';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import { addServicePod, servicePod, setPodStatus } from '../../../../test/support/service-world.ts';
import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { HeldStreams } from '../../../testing/held-streams.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { podGcController } from './controller.ts';
import { isUnscheduled, orphansOf, strandedOn } from './orphan-rules.ts';

const start = () => LifecycleWorld.start({ controllers: [podGcController()] });
const key = (name: string) => ({ namespace: 'default', name });
const FINALIZER = 'test.slipway.dev/stay';

const stay = (world: LifecycleWorld, name: string, finalizers: readonly string[]) =>
  world.client.patch(Pod, key(name), { type: 'merge', body: { metadata: { finalizers: [...finalizers] } } });

/** Its phase, how much time it is given, and why it was disrupted. */
async function stateOf(world: LifecycleWorld, name: string): Promise<string> {
  const { metadata, status } = await world.client.get(Pod, key(name));
  const mark = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return `${status?.phase}, ${metadata.deletionGracePeriodSeconds} s, ${mark?.reason}`;
}

describe('what pod GC removes', () => {
  const unplaced = { node: '', isLeaving: true } as const;
  const withGrace = (pod: Pod, deletionGracePeriodSeconds: number): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, deletionGracePeriodSeconds },
  });

  for (const [what, pod, want] of [
    ['a pod without a node on its way out', servicePod('p', unplaced), true],
    ['one that stays', servicePod('p', { node: '' }), false],
    ['one with a node', servicePod('p', { isLeaving: true }), false],
    [
      'one that has ended and waits for its finalizers',
      withGrace(servicePod('p', { ...unplaced, phase: 'Failed' }), 0),
      false,
    ],
    [
      'one that has ended and still has time',
      withGrace(servicePod('p', { ...unplaced, phase: 'Failed' }), 30),
      true,
    ],
  ] as const) {
    it(`lab/W38: without a node: ${what}: ${want}`, () => {
      assert.equal(isUnscheduled(pod), want);
    });
  }

  it('lab/W38: of a node that is gone, its pods', () => {
    const pods = [servicePod('here', { node: 'n1' }), servicePod('there', { node: 'n2' })];
    assert.deepEqual(
      orphansOf('n1', pods).map(({ metadata }) => metadata.name),
      ['here'],
    );
  });

  const OUT = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' } as const;
  for (const [what, taints, ready, want] of [
    ['out of service and not ready', [OUT], 'Unknown', ['leaving']],
    ['out of service and ready', [OUT], 'True', []],
    ['not ready', [], 'False', []],
  ] as const) {
    it(`lab/W38: of a node that is ${what}: ${want.join() || 'nothing'}`, () => {
      const node: Node = {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name: 'n1' },
        spec: { taints },
        status: { conditions: [{ type: 'Ready', status: ready }] },
      };
      const pods = [servicePod('leaving', { isLeaving: true }), servicePod('stays')];
      assert.deepEqual(
        strandedOn(node, pods).map(({ metadata }) => metadata.name),
        want,
      );
    });
  }
});

describe('pod GC', () => {
  it('lab/W38: ends and deletes the pods of a Node that is gone for 40 s', async () => {
    await using world = await start();
    await world.addNodes('n1', 'n2');
    await world.addPod('here', 'n1');
    await world.addPod('there', 'n2');
    await world.client.delete(Node, { name: 'n1' });
    await world.pass(39);
    assert.equal(await stateOf(world, 'here'), 'Running, undefined s, undefined');
    await stay(world, 'here', [FINALIZER]);
    await world.pass(1);
    assert.equal(await stateOf(world, 'here'), 'Failed, 0 s, DeletionByPodGC');
    await expectNoWrites(world.env.recorder, () => world.pass(300));
    await stay(world, 'here', []);
    await world.env.settle();
    assert.equal(await world.pod('here'), undefined);
    assert.equal(await world.isLeaving('there'), false);
  });

  it('lab/W38: leaves pods alone whose Node comes back in time', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1');
    await world.client.delete(Node, { name: 'n1' });
    await world.pass(30);
    await world.client.create(Node, { metadata: { name: 'n1' }, spec: {} });
    await world.pass(300);
    assert.equal(await world.isLeaving('p'), false);
    await world.client.delete(Node, { name: 'n1' });
    await world.pass(39);
    assert.equal(await world.isLeaving('p'), false, 'it counts anew');
  });

  it('lab/W38: waits for the Node of a pod that names one which does not come', async () => {
    await using world = await start();
    await world.addPod('p', 'nowhere');
    await world.pass(39);
    assert.notEqual(await world.pod('p'), undefined);
    await world.pass(1);
    assert.equal(await world.pod('p'), undefined);
  });

  it('lab/W38: deletes pods that ended already, without another word', async () => {
    await using world = await start();
    await addServicePod(world.env, 'p', { node: 'gone' });
    await setPodStatus(world.env, 'p', { node: 'gone', phase: 'Succeeded', isReady: false });
    await world.pass(40);
    assert.equal(await world.pod('p'), undefined);
    assert.deepEqual(
      world.env.recorder.writes.map(({ method }) => method),
      ['DELETE'],
    );
  });

  it('lab/W38: force-deletes pods without a node that are on their way out', async () => {
    await using world = await start();
    await addServicePod(world.env, 'p', { node: '' });
    await stay(world, 'p', [FINALIZER]);
    await world.client.delete(Pod, key('p'));
    await world.env.settle();
    assert.equal(await stateOf(world, 'p'), 'Failed, 0 s, undefined');
    await expectNoWrites(world.env.recorder, () => world.pass(300));
  });

  it('lab/W38: force-deletes what is on its way out of a node that is out of service', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1');
    await world.client.delete(Pod, key('p'));
    await report(world.env, 'n1', { Ready: 'False' });
    await world.env.settle();
    assert.notEqual(await world.pod('p'), undefined);
    await setTaints(world.client, 'n1', [{ key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' }]);
    await world.env.settle();
    assert.equal(await world.pod('p'), undefined);
  });

  it('lab/W38: asks the server before it takes a Node for gone: a cache may be behind', async () => {
    const held = new HeldStreams();
    const controllers = [podGcController()];
    await using world = await LifecycleWorld.start({ controllers, wrap: (transport) => held.around(transport) });
    held.hold('nodes');
    await world.addNodes('n1');
    await world.addPod('p', 'n1');
    await expectNoWrites(world.env.recorder, () => world.pass(120));
    held.releaseAll();
    await world.pass(120);
    assert.equal(await world.isLeaving('p'), false);
  });

  it('lab/A6: writes nothing while every pod has its Node', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1');
    await expectNoWrites(world.env.recorder, () => world.pass(600));
  });

  it('lab/A5: needs what it uses, and no more than every cluster gives to the controller', async () => {
    await using world = await start();
    await world.addPod('p', 'nowhere');
    await world.pass(40);
    expectExactRbac(world.env, { unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'] });
    const role = 'system:controller:pod-garbage-collector';
    assert.deepEqual(await uncoveredWrites(world.client, podGcController(), role), []);
  });
});
