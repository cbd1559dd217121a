import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  DeploymentWorld,
  WEB,
  webDeployment,
  webReplicaSet,
  webTemplate,
} from '../../../../test/support/deployment-world.ts';
import { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { ConfigMap, Namespace, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { controllerReferenceOf } from '../../../object/owner-references.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { deploymentController } from './controller.ts';
import { newReplicaSet } from './new-replica-set.ts';
import { createSet } from './set-creation.ts';

const SECOND_MS = 1000;

describe('a Deployment that is paused', () => {
  it('lab/W9: rolls nothing out, but scales', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 2 });
    await world.run();
    await world.change({ paused: true });
    assert.equal((await world.condition('Progressing'))?.reason, 'DeploymentPaused');
    await world.setImage('web:2');
    await world.change({ replicas: 3 });
    await world.run();
    assert.deepEqual(await world.sizes(), [['web:1', 3]]);
    assert.deepEqual(await progress(world), ['Unknown', 'DeploymentPaused']);
    await world.change({ paused: false });
    await world.run();
    assert.deepEqual(await world.sizes(), [
      ['web:1', 0],
      ['web:2', 3],
    ]);
    assert.deepEqual(await progress(world), ['True', 'NewReplicaSetAvailable']);
  });

  it('lab/W9: is never late, and has all its time again when it goes on', async () => {
    await using world = await DeploymentWorld.start();
    world.isBroken = () => true;
    await world.create({ replicas: 1, progressDeadlineSeconds: 60 });
    await world.env.advance(50 * SECOND_MS);
    await world.change({ paused: true });
    await expectNoWrites(world.env.recorder, () => world.env.advance(600 * SECOND_MS));
    await world.change({ paused: false });
    assert.deepEqual(await progress(world), ['Unknown', 'DeploymentResumed']);
    await world.env.advance(59 * SECOND_MS);
    assert.deepEqual(await progress(world), ['Unknown', 'DeploymentResumed']);
    await world.env.advance(3 * SECOND_MS);
    assert.deepEqual(await progress(world), ['False', 'ProgressDeadlineExceeded']);
  });

  it('lab/W9: makes no set when it is paused from the beginning, and keeps its history short', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1, paused: true });
    assert.deepEqual(await world.sizes(), []);
    await world.change({ paused: false });
    await world.run();
    await world.setImage('web:2');
    await world.run();
    await world.change({ paused: true, revisionHistoryLimit: 0 });
    assert.deepEqual(await world.sizes(), [['web:2', 1]]);
  });
});

describe('a rollout that does not get on', () => {
  it('lab/W12: is late after its deadline, not before, and well again when it works', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 2 });
    await world.run();
    world.isBroken = ({ spec }) => spec.containers[0]?.image === 'web:2';
    await world.setImage('web:2');
    const begun = await world.condition('Progressing');
    await world.env.advance(600 * SECOND_MS);
    assert.deepEqual(await progress(world), ['True', 'ReplicaSetUpdated']);
    await world.env.advance(2 * SECOND_MS);
    assert.deepEqual(await progress(world), ['False', 'ProgressDeadlineExceeded']);
    const [, set] = await world.sets();
    const late = await world.condition('Progressing');
    assert.equal(late?.message, `ReplicaSet "${set?.metadata.name}" has timed out progressing.`);
    assert.notEqual(late?.lastTransitionTime, begun?.lastTransitionTime);
    await expectNoWrites(world.env.recorder, () => world.env.advance(3600 * SECOND_MS));
    await world.setImage('web:3');
    await world.run();
    assert.deepEqual(await progress(world), ['True', 'NewReplicaSetAvailable']);
  });

  it('lab/W12: has its time from the last progress on; since when it goes on stays', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 4, progressDeadlineSeconds: 60 });
    const begun = await world.condition('Progressing');
    for (let ready = 0; ready < 3; ready++) {
      await world.env.advance(50 * SECOND_MS);
      await world.readyOne();
    }
    const going = await world.condition('Progressing');
    assert.deepEqual([going?.status, going?.reason], ['True', 'ReplicaSetUpdated']);
    assert.equal(going?.lastTransitionTime, begun?.lastTransitionTime);
    assert.notEqual(going?.lastUpdateTime, begun?.lastUpdateTime);
    await world.env.advance(63 * SECOND_MS);
    assert.deepEqual(await progress(world), ['False', 'ProgressDeadlineExceeded']);
  });

  it('lab/W13: is looked at again a second after the deadline, and written only when it is late', async () => {
    await using world = await DeploymentWorld.start();
    world.isBroken = () => true;
    await world.create({ replicas: 1, progressDeadlineSeconds: 60 });
    await expectNoWrites(world.env.recorder, () => world.env.advance(60 * SECOND_MS));
    await world.env.advance(SECOND_MS);
    assert.deepEqual(await progress(world), ['False', 'ProgressDeadlineExceeded']);
  });

  it('lab/W12: is never late without a deadline, and nothing is said about it', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1, progressDeadlineSeconds: 2147483647 });
    await world.env.advance(7200 * SECOND_MS);
    assert.equal(await world.condition('Progressing'), undefined);
    assert.equal((await world.condition('Available'))?.status, 'False');
  });

  it('lab/W11: says whether enough pods are available, since when', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 2, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } } });
    await world.readyOne();
    assert.equal((await world.condition('Available'))?.reason, 'MinimumReplicasUnavailable');
    await world.env.advance(5 * SECOND_MS);
    await world.readyOne();
    const available = await world.condition('Available');
    assert.deepEqual([available?.status, available?.reason], ['True', 'MinimumReplicasAvailable']);
    assert.equal(available?.lastTransitionTime, '2026-01-01T00:00:05Z');
  });

  it('lab/W13: tells why its set cannot make pods, until it can', async () => {
    await using world = await DeploymentWorld.start({ log: SILENT_LOG });
    const isPod = ({ method, target }: { method: string; target: string }) =>
      method === 'POST' && target.includes('/pods');
    const refusal = world.env.faults.arm({
      matches: isPod,
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
    });
    await world.create({ replicas: 1 });
    const failure = await world.condition('ReplicaFailure');
    assert.deepEqual([failure?.status, failure?.reason], ['True', 'FailedCreate']);
    refusal[Symbol.dispose]();
    await world.env.advance(60 * SECOND_MS);
    assert.equal(await world.condition('ReplicaFailure'), undefined);
    assert.equal((await world.activePods()).length, 1);
  });
});

describe('a Deployment that recreates', () => {
  const strategy = { type: 'Recreate' } as const;
  // With a node, pods stay until their processes have ended.
  const placed = webTemplate('web:1', { nodeName: 'n1' });

  it('lab/W7b: waits until the last old pod is gone before it makes a new one', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 2, strategy, template: placed });
    await world.run();
    await world.setImage('web:2');
    const old = await world.pods();
    assert.equal((await world.activePods()).length, 0);
    assert.deepEqual(await world.sizes(), [['web:1', 0]]);
    for (const pod of old) {
      assert.deepEqual(await world.sizes(), [['web:1', 0]]);
      await world.client.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0 });
      await world.env.settle();
    }
    assert.deepEqual(await world.sizes(), [
      ['web:1', 0],
      ['web:2', 2],
    ]);
    await world.run();
    assert.deepEqual(await progress(world), ['True', 'NewReplicaSetAvailable']);
  });

  it('lab/W7b: does not wait for pods that have ended', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1, strategy, template: placed });
    await world.run();
    const [pod] = await world.pods();
    assert.ok(pod !== undefined);
    await world.client.patch(Pod, keyOf(pod), {
      type: 'merge',
      body: { metadata: { finalizers: ['test/stay'] } },
    });
    await world.setImage('web:2');
    assert.deepEqual(await world.sizes(), [['web:1', 0]]);
    await world.setPod(pod, { phase: 'Failed' });
    assert.deepEqual(await world.sizes(), [
      ['web:1', 0],
      ['web:2', 1],
    ]);
  });

  it('lab/W8: is scaled like any other', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1, strategy });
    await world.run();
    await world.change({ replicas: 3 });
    assert.deepEqual(await world.sizes(), [['web:1', 3]]);
  });
});

describe('the sets of a Deployment', () => {
  it('lab/W1: are adopted when nobody owns them, and rolled over', async () => {
    await using world = await DeploymentWorld.start();
    await world.client.create(ReplicaSet, webReplicaSet('older', 2));
    await world.env.settle();
    await world.run();
    await world.create({ replicas: 2, template: webTemplate('web:2') });
    await world.run();
    const [older, fresh] = await world.sets();
    assert.deepEqual([older?.metadata.name, older?.spec.replicas, fresh?.spec.replicas], ['older', 0, 2]);
    assert.equal(older && controllerReferenceOf(older)?.name, 'web');
  });

  it('lab/W1: one with the template is taken as the new one', async () => {
    await using world = await DeploymentWorld.start();
    await world.client.create(ReplicaSet, webReplicaSet('found', 1));
    await world.create({ replicas: 1, paused: true });
    const [set, ...others] = await world.sets();
    assert.deepEqual([set?.metadata.name, others.length], ['found', 0]);
    assert.equal(set?.metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
    assert.equal((await world.deployment()).metadata.annotations?.['deployment.kubernetes.io/revision'], '1');
  });

  it('lab/W12: one that was there before is what the first words are about', async () => {
    await using world = await DeploymentWorld.start({ controllers: [deploymentController()] });
    await world.client.create(ReplicaSet, webReplicaSet('found', 1));
    await world.create({ replicas: 1 });
    const { reason, message } = (await world.condition('Progressing')) ?? {};
    assert.deepEqual([reason, message], ['FoundNewReplicaSet', 'Found new replica set "found"']);
  });

  it('lab/W1: an orphan that comes later, or whose labels come to match, is adopted too', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1 });
    await world.run();
    const other = webReplicaSet('later', 0, { app: 'web', more: 'yes' });
    await world.client.create(ReplicaSet, { ...other, metadata: { ...other.metadata, labels: { app: 'x' } } });
    await world.env.settle();
    const owner = async () => controllerReferenceOf(await world.client.get(ReplicaSet, { ...WEB, name: 'later' }));
    assert.equal(await owner(), undefined);
    const body = { metadata: { labels: { app: 'web' } } };
    await world.client.patch(ReplicaSet, { ...WEB, name: 'later' }, { type: 'merge', body });
    await world.env.settle();
    assert.equal((await owner())?.name, 'web');
  });

  it('lab/W1: are released when they do not match any more, and replaced', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1 });
    await world.run();
    const [set] = await world.sets();
    assert.ok(set !== undefined);
    await world.client.patch(ReplicaSet, keyOf(set), {
      type: 'merge',
      body: { metadata: { labels: { app: 'x' } } },
    });
    await world.env.settle();
    assert.equal(controllerReferenceOf(await world.client.get(ReplicaSet, keyOf(set))), undefined);
    // The name of the one it would make is taken by the one that left.
    assert.equal((await world.deployment()).status?.collisionCount, 1);
    assert.equal((await world.sets()).length, 2);
  });

  it('lab/W1: those of somebody else are left alone, whatever their labels', async () => {
    await using world = await DeploymentWorld.start();
    const { uid = '', name } = (await world.client.create(ReplicaSet, webReplicaSet('owner', 0, { app: 'x' })))
      .metadata;
    const theirs = webReplicaSet('theirs', 1);
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid, controller: true }];
    await world.client.create(ReplicaSet, { ...theirs, metadata: { ...theirs.metadata, ownerReferences } });
    await world.create({ replicas: 1 });
    await world.run();
    assert.equal((await world.client.get(ReplicaSet, { ...WEB, name: 'theirs' })).spec.replicas, 1);
    assert.equal((await world.sets()).length, 3);
  });

  it('lab/W1: a Deployment that is being deleted only says what there is', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1 });
    await world.run();
    const body = { metadata: { finalizers: ['test/stay'] } };
    await world.client.patch(Deployment, WEB, { type: 'merge', body });
    await world.client.delete(Deployment, WEB);
    await world.setImage('web:2');
    await world.change({ replicas: 5 });
    assert.deepEqual(await world.sizes(), [['web:1', 1]]);
    const { metadata, status } = await world.deployment();
    assert.equal(status?.observedGeneration, metadata.generation);
  });

  it('lab/W1: go with their Deployment', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 2 });
    await world.run();
    await world.client.delete(Deployment, WEB);
    await world.env.advance(60 * SECOND_MS);
    assert.deepEqual([(await world.sets()).length, (await world.pods()).length], [0, 0]);
  });
});

describe('the name of a set that is taken', () => {
  it('lab/W5: leads to another one, and is counted', async () => {
    await using world = await DeploymentWorld.start();
    await world.create({ replicas: 1, paused: true });
    const { name } = newReplicaSet(await world.deployment(), []).metadata;
    await world.client.create(ReplicaSet, webReplicaSet(name, 0, { app: 'other' }));
    await world.change({ paused: false });
    await world.run();
    const { status } = await world.deployment();
    assert.equal(status?.collisionCount, 1);
    assert.equal(status?.availableReplicas, 1);
    const owned = (await world.sets()).filter((set) => controllerReferenceOf(set)?.name === 'web');
    assert.deepEqual(
      owned.map(({ metadata }) => metadata.name),
      [newReplicaSet(await world.deployment(), []).metadata.name],
    );
    assert.ok(!(await world.events('Deployment')).some((event) => event.startsWith('Warning')));
  });

  it('lab/W5: by a set of this Deployment with this template is no collision', async () => {
    await using world = await DeploymentWorld.start({ controllers: [] });
    const web = await world.client.create(Deployment, webDeployment());
    const wanted = newReplicaSet(web, []);
    const tools = { client: world.client, signal: new AbortController().signal };
    assert.equal((await createSet(web, wanted, tools)).outcome, 'created');
    assert.equal((await createSet(web, wanted, tools)).outcome, 'found');
    const other = { ...web, metadata: { ...web.metadata, uid: 'other' } };
    assert.equal((await createSet(other, wanted, tools)).outcome, 'collision');
    const changed = { ...web, spec: { ...web.spec, template: webTemplate('web:2') } };
    assert.equal((await createSet(changed, wanted, tools)).outcome, 'collision');
  });
});

describe('a set that cannot be made', () => {
  it('lab/W5: is told in a condition and an event, and made when it can be', async () => {
    await using world = await DeploymentWorld.start({ log: SILENT_LOG });
    const refusal = world.env.faults.arm({
      matches: ({ method, target }) => method === 'POST' && target.includes('/replicasets'),
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
    });
    await world.create({ replicas: 1 });
    const { name } = newReplicaSet(await world.deployment(), []).metadata;
    const condition = await world.condition('Progressing');
    assert.deepEqual([condition?.status, condition?.reason], ['False', 'ReplicaSetCreateError']);
    assert.match(condition?.message ?? '', new RegExp(`^Failed to create new replica set "${name}": `));
    const [event] = await world.events('Deployment');
    assert.equal(event, `Warning ReplicaSetCreateError ${condition?.message}`);
    refusal[Symbol.dispose]();
    await world.env.advance(60 * SECOND_MS);
    await world.run();
    assert.deepEqual(await progress(world), ['True', 'NewReplicaSetAvailable']);
  });

  it('lab/W5: because its namespace goes is nothing to talk about', async () => {
    await using world = await DeploymentWorld.start({ controllers: [] });

    await world.client.create(Namespace, { metadata: { name: 'going' } });
    const stays = { metadata: { name: 'stays', namespace: 'going', finalizers: ['test/stay'] } };
    await world.client.create(ConfigMap, stays);
    await world.client.delete(Namespace, { name: 'going' });
    await world.env.settle();
    const web = { ...(await world.client.create(Deployment, webDeployment())) };
    const there = { ...web, metadata: { ...web.metadata, namespace: 'going' } };
    const tools = { client: world.client, signal: new AbortController().signal };
    assert.deepEqual(await createSet(there, newReplicaSet(there, []), tools), { outcome: 'terminating' });
  });
});

const progress = async (world: DeploymentWorld) => {
  const { status, reason } = (await world.condition('Progressing')) ?? {};
  return [status, reason];
};
