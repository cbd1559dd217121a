import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addNode, type NodeSketch } from '../../../../test/support/pretend-cluster.ts';
import { PretendStorage, podUsing } from '../../../../test/support/scheduler-storage.ts';
import { SchedulerWorld } from '../../../../test/support/scheduler-world.ts';
import { Node, PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';

const TWO = [{ name: 'n1' }, { name: 'n2' }];
const key = { namespace: 'default', name: 'p' };

/** With a claim `data` that waits for its first pod, and a pod for it. */
async function waiting(nodes: readonly NodeSketch[] = TWO) {
  const world = await SchedulerWorld.start(nodes);
  const storage = new PretendStorage(world.client);
  await storage.addClass('slow', 'WaitForFirstConsumer');
  await storage.addClaim('data', 'slow');
  await world.create(podUsing('p', 'data'));
  return { world, storage, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() };
}

describe('a scheduler of pods with volumes', () => {
  it('lab/K2: waits for claims that are bound without it', async () => {
    await using world = await SchedulerWorld.start();
    const storage = new PretendStorage(world.client);
    await storage.addClass('fast', 'Immediate');
    await storage.addClaim('data', 'fast');
    await world.create(podUsing('p', 'data'));
    const want =
      '0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: not simulated by the lab.';
    assert.equal(await world.message(), want);
    await storage.provision('data');
    await world.env.advance(1000);
    assert.equal(await world.nodeOf(), 'n1');
    assert.equal(await storage.selectedNode('data'), undefined);
  });

  it('lab/K2: asks for a volume on the node it has chosen, and binds the pod when there is one', async () => {
    await using scene = await waiting();
    const { world, storage } = scene;
    assert.deepEqual([await storage.selectedNode('data'), await world.nodeOf()], ['n1', undefined]);
    assert.deepEqual(world.writes, ['PATCH persistentvolumeclaims/data']);
    await expectNoWrites(world.env.recorder, () => world.env.advance(5 * 60_000));
    await storage.provision('data', 'n1');
    await world.env.settle();
    assert.equal(await world.nodeOf(), 'n1');
  });

  it('lab/K2: keeps pods of one claim on one node, though its volume is still to be made', async () => {
    await using world = await SchedulerWorld.prepare(TWO);
    const storage = new PretendStorage(world.client);
    await storage.addClass('slow', 'WaitForFirstConsumer');
    await storage.addClaim('data', 'slow');
    await world.create(podUsing('p', 'data'), podUsing('q', 'data'));
    await world.run();
    // Both want to ask for the volume: the second has to look again.
    await world.env.advance(1000);
    await storage.provision('data');
    await world.env.settle();
    assert.deepEqual(await world.nodesOf('p', 'q'), ['n1', 'n1']);
  });

  it('lab/K2: lets a claim go elsewhere when the pod is gone that took it along', async () => {
    await using scene = await waiting();
    const { world, storage } = scene;
    await world.client.delete(Pod, key);
    await world.create({});
    await world.patchNode('n1', { unschedulable: true });
    await storage.giveUp('data');
    await world.create(podUsing('q', 'data'));
    assert.equal(await storage.selectedNode('data'), 'n2');
  });

  it('lab/K5: counts a pod where it waits for its volumes', async () => {
    await using world = await SchedulerWorld.start([{ allocatable: { pods: '1' } }]);
    const storage = new PretendStorage(world.client);
    await storage.addClass('slow', 'WaitForFirstConsumer');
    await storage.addClaim('data', 'slow');
    await world.create(podUsing('p', 'data'), { name: 'q' });
    assert.match(await world.message('q'), /1 Too many pods\./);
    await world.client.delete(Pod, key);
    await world.env.advance(1000);
    assert.equal(await world.nodeOf('q'), 'n1');
  });

  it('lab/K2: looks for another node when a volume cannot be made, and says so', async () => {
    await using scene = await waiting();
    const { world, storage } = scene;
    await world.patchNode('n1', { unschedulable: true });
    await storage.giveUp('data');
    await world.env.settle();
    const { status, reason, message } = (await world.condition()) ?? {};
    const why = 'running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "data"';
    assert.deepEqual([status, reason, message], ['False', 'SchedulerError', why]);
    await world.env.advance(1000);
    assert.equal(await storage.selectedNode('data'), 'n2');
    await storage.provision('data', 'n2');
    await world.env.settle();
    assert.equal(await world.nodeOf(), 'n2');
  });

  it('lab/K2: does not bind a pod where its volume cannot be reached', async () => {
    await using scene = await waiting();
    const { world, storage } = scene;
    await storage.provision('data', 'n2');
    await world.env.settle();
    assert.match(
      await world.message(),
      /pv "pv-data" node affinity doesn't match node "n1": no matching NodeSelectorTerms$/,
    );
    await world.env.advance(1000);
    assert.equal(await world.nodeOf(), 'n2');
  });

  it('lab/K2: looks for another node when nothing happens for ten minutes', async () => {
    await using scene = await waiting();
    const { world } = scene;
    await world.env.advance(599_000);
    assert.equal(await world.condition(), undefined);
    await world.env.advance(1000);
    assert.match(await world.message(), /binding volumes: context deadline exceeded$/);
  });

  it('lab/K2: looks for another node when its node goes', async () => {
    await using scene = await waiting([{ name: 'n1' }]);
    const { world, storage } = scene;
    await world.client.delete(Node, { name: 'n1' });
    await world.env.settle();
    assert.equal(await world.message(), 'node "n1" not found');
    await addNode(world.client, { name: 'n2' });
    await storage.giveUp('data');
    await world.env.advance(10_000);
    assert.equal(await storage.selectedNode('data'), 'n2');
  });

  it('lab/K2: starts over when the claim goes', async () => {
    await using scene = await waiting();
    const { world } = scene;
    const claim = { namespace: 'default', name: 'data' };
    const finalizers: string[] = [];
    await world.client.patch(PersistentVolumeClaim, claim, { type: 'merge', body: { metadata: { finalizers } } });
    await world.client.delete(PersistentVolumeClaim, claim);
    await world.env.advance(1000);
    assert.match(await world.message(), /: persistentvolumeclaim "data" not found\./);
  });

  it('lab/K8: leaves a pod to whoever was quicker, and its place to another', async () => {
    const one = { allocatable: { pods: '1' } };
    await using scene = await waiting([
      { name: 'n1', ...one },
      { name: 'n2', allocatable: { pods: '0' } },
    ]);
    const { world } = scene;
    await world.create({ name: 'q' });
    const metadata = { name: 'p' };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: 'n2' } };
    await world.client.subresource('binding').create(Pod, key, binding);
    await world.env.advance(1000);
    assert.deepEqual(await world.nodesOf('p', 'q'), ['n2', 'n1']);
    await expectNoWrites(world.env.recorder, () => world.env.advance(20 * 60_000));
  });

  it('lab/K2: attaches no more volumes to a node than it can take', async () => {
    await using world = await SchedulerWorld.start();
    const storage = new PretendStorage(world.client);
    await storage.addClass('slow', 'WaitForFirstConsumer');
    await storage.limit('n1', 1);
    for (const name of ['one', 'two']) {
      await storage.addClaim(name, 'slow');
      await storage.provision(name);
    }
    await world.create(podUsing('p', 'one'), podUsing('q', 'two'));
    assert.deepEqual(await world.nodesOf('p', 'q'), ['n1', undefined]);
    assert.match(await world.message('q'), /: 1 node\(s\) exceed max volume count\./);
    await world.env.advance(60_000);
    await storage.raiseLimit('n1', 2);
    await world.env.settle();
    assert.equal(await world.nodeOf('q'), 'n1');
  });
});
