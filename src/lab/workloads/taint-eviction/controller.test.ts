import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTexts } from '../../../../test/support/event-texts.ts';
import { LifecycleWorld, report } from '../../../../test/support/lifecycle-world.ts';
import { setTaints } from '../../../../test/support/pretend-nodes.ts';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import { Node, Pod, type Toleration } from '../../../api/generated/core-v1.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { nodeLifecycleController } from '../node-lifecycle/controller.ts';
import { taintEvictionController } from './controller.ts';

const start = () => LifecycleWorld.start({ controllers: [taintEvictionController()] });
const TAINT = { key: 'example.com/out', effect: 'NoExecute' } as const;
const tolerating = (tolerationSeconds?: number): readonly Toleration[] => [
  {
    key: TAINT.key,
    operator: 'Exists',
    ...(tolerationSeconds !== undefined && { effect: 'NoExecute', tolerationSeconds }),
  },
];

async function taint(world: LifecycleWorld, ...keys: readonly string[]): Promise<void> {
  const taints = keys.map((key) => ({ key, effect: 'NoExecute' as const }));
  await setTaints(world.client, 'n1', taints);
  await world.env.settle();
}

const leaving = (world: LifecycleWorld, ...names: readonly string[]) =>
  Promise.all(names.map((name) => world.isLeaving(name)));

describe('the taint eviction controller', () => {
  it('lab/W37: deletes at once what does not tolerate, later what tolerates for a while, and nothing else', async () => {
    await using world = await start();
    await world.addNodes('n1', 'n2');
    await setTaints(world.client, 'n1', []);
    await world.addPod('plain', 'n1');
    await world.addPod('patient', 'n1', tolerating(60));
    await world.addPod('hardy', 'n1', tolerating());
    await world.addPod('elsewhere', 'n2');
    await taint(world, TAINT.key);
    const all = ['plain', 'patient', 'hardy', 'elsewhere'];
    assert.deepEqual(await leaving(world, ...all), [true, false, false, false]);
    await world.pass(59);
    assert.deepEqual(await leaving(world, ...all), [true, false, false, false]);
    await world.pass(1);
    assert.deepEqual(await leaving(world, ...all), [true, true, false, false]);
  });

  it('lab/W37: marks the pod and says so', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1');
    await taint(world, TAINT.key);
    const pod = await world.pod('p');
    const mark = pod?.status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.deepEqual([mark?.status, mark?.reason], ['True', 'DeletionByTaintManager']);
    assert.equal(pod?.metadata.deletionGracePeriodSeconds, 30);
    assert.deepEqual(await eventTexts(world.client, 'Pod'), [
      'Normal TaintManagerEviction Marking for deletion Pod default/p',
    ]);
  });

  it('lab/W37: lets a pod stay when the taint goes in time, and begins anew when it comes again', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1', tolerating(60));
    await taint(world, TAINT.key);
    await world.pass(50);
    await taint(world);
    assert.deepEqual(await eventTexts(world.client, 'Pod'), [
      'Normal TaintManagerEviction Cancelling deletion of Pod default/p',
    ]);
    await world.pass(300);
    await taint(world, TAINT.key);
    await world.pass(59);
    assert.equal(await world.isLeaving('p'), false);
    await world.pass(1);
    assert.equal(await world.isLeaving('p'), true);
  });

  it('lab/W37: deletes when a second taint comes that is not tolerated', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1', tolerating(600));
    await taint(world, TAINT.key);
    await world.pass(30);
    await taint(world, TAINT.key, 'example.com/more');
    assert.equal(await world.isLeaving('p'), true);
  });

  it('lab/W37: deletes a pod that comes to a node that has the taint already, and one whose node comes with it', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await taint(world, TAINT.key);
    await world.addPod('late', 'n1');
    assert.equal(await world.isLeaving('late'), true);
    await world.addPod('early', 'n9');
    assert.equal(await world.isLeaving('early'), false);
    await world.client.create(Node, { metadata: { name: 'n9' }, spec: { taints: [TAINT] } });
    await world.env.settle();
    assert.equal(await world.isLeaving('early'), true);
  });

  it('lab/W37: forgets pods that are gone', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1', tolerating(60));
    await taint(world, TAINT.key);
    await world.client.delete(Pod, { namespace: 'default', name: 'p' }, { gracePeriodSeconds: 0 });
    await world.pass(10);
    await world.addPod('p', 'n1', tolerating(60));
    await world.pass(59);
    assert.equal(await world.isLeaving('p'), false);
  });

  it('lab/A6: writes nothing while nothing is due', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('hardy', 'n1', tolerating());
    await taint(world, TAINT.key);
    await expectNoWrites(world.env.recorder, () => world.pass(600));
  });

  it('lab/A5: needs what it uses, and no more than every cluster gives to the controller', async () => {
    await using world = await start();
    await world.addNodes('n1');
    await world.addPod('p', 'n1');
    await taint(world, TAINT.key);
    expectExactRbac(world.env);
    const role = 'system:controller:node-controller';
    assert.deepEqual(await uncoveredWrites(world.client, taintEvictionController(), role), []);
  });
});

describe('a node that falls silent', () => {
  const DAEMON: readonly Toleration[] = ['not-ready', 'unreachable'].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: 'Exists',
    effect: 'NoExecute',
  }));
  const both = () => LifecycleWorld.start({ controllers: [nodeLifecycleController(), taintEvictionController()] });

  it('lab/W35, lab/W36, lab/W37: case 6: loses its pods 300 s after it was lost, except those of DaemonSets', async () => {
    await using world = await both();
    await world.addNodes('n1', 'n2');
    await world.addPod('plain', 'n1');
    await world.addPod('daemon', 'n1', DAEMON);
    await world.addPod('elsewhere', 'n2');
    world.silent.add('n1');
    await world.pass(50);
    assert.equal((await world.condition('n1'))?.status, 'Unknown');
    await world.pass(299);
    assert.deepEqual(await leaving(world, 'plain', 'daemon', 'elsewhere'), [false, false, false]);
    await world.pass(1);
    assert.deepEqual(await leaving(world, 'plain', 'daemon', 'elsewhere'), [true, false, false]);
    await world.pass(600);
    assert.deepEqual(await leaving(world, 'daemon', 'elsewhere'), [false, false]);
  });

  it('lab/W35, lab/W36, lab/W37: case 6: keeps its pods when it is back after 200 s', async () => {
    await using world = await both();
    await world.addNodes('n1', 'n2');
    await world.addPod('plain', 'n1');
    world.silent.add('n1');
    await world.pass(250);
    world.silent.delete('n1');
    await report(world.env, 'n1');
    await world.pass(600);
    assert.equal(await world.isLeaving('plain'), false);
    assert.deepEqual(await world.taints('n1'), []);
  });

  it('lab/W37: counts on when a node that was lost says that it is not ready', async () => {
    await using world = await both();
    await world.addNodes('n1', 'n2');
    await world.addPod('plain', 'n1');
    world.silent.add('n1');
    await world.pass(150);
    world.silent.delete('n1');
    await report(world.env, 'n1', { Ready: 'False' });
    await world.pass(199);
    assert.equal(await world.isLeaving('plain'), false);
    await world.pass(1);
    assert.equal(await world.isLeaving('plain'), true);
  });
});
