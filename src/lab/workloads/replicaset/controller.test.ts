import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DeploymentWorld, WEB, webReplicaSet } from '../../../../test/support/deployment-world.ts';
import { reconcileContext } from '../../../../test/support/reconcile-context.ts';
import { replicaSet } from '../../../../test/support/workload-objects.ts';
import { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { ConfigMap, Namespace, Pod } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/object.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { controllerReferenceOf } from '../../../object/owner-references.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import type { FaultRule } from '../../../testing/faults.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { replicaSetController } from './controller.ts';
import { MOST_CHANGES, ReplicaSetReconciler } from './reconcile.ts';

const SECOND_MS = 1000;
const start = (options = {}) => DeploymentWorld.start({ controllers: [replicaSetController()], ...options });

async function create(world: DeploymentWorld, replicas: number, spec: object = {}): Promise<void> {
  const set = webReplicaSet('web', replicas);
  await world.client.create(ReplicaSet, { ...set, spec: { ...set.spec, ...spec } });
  await world.env.settle();
}

const statusOf = async (world: DeploymentWorld) => (await world.client.get(ReplicaSet, WEB)).status;

async function scale(world: DeploymentWorld, replicas: number): Promise<void> {
  await world.client.patch(ReplicaSet, WEB, { type: 'merge', body: { spec: { replicas } } });
  await world.env.settle();
}

const isPod =
  (method: string): FaultRule['matches'] =>
  (request) =>
    request.method === method && request.target.includes('/pods');

describe('the ReplicaSet controller', () => {
  it('lab/W15: makes pods from the template, in its own name', async () => {
    await using world = await start();
    const metadata = { labels: { app: 'web', more: 'x' }, annotations: { a: 'b' }, finalizers: ['test/stay'] };
    const { template } = webReplicaSet('web', 1).spec;
    await create(world, 2, { template: { ...template, metadata } });
    const pods = await world.pods();
    assert.equal(pods.length, 2);
    for (const pod of pods) {
      assert.match(pod.metadata.name, /^web-[a-z0-9]{5}$/);
      assert.equal(pod.metadata.generateName, 'web-');
      assert.deepEqual(pod.metadata.labels, metadata.labels);
      assert.deepEqual(pod.metadata.annotations, metadata.annotations);
      assert.deepEqual(pod.metadata.finalizers, metadata.finalizers);
      const { uid: _, ...owner } = controllerReferenceOf(pod) ?? {};
      assert.deepEqual(owner, {
        apiVersion: 'apps/v1',
        kind: 'ReplicaSet',
        name: 'web',
        controller: true,
        blockOwnerDeletion: true,
      });
    }
  });

  it('lab/W15: tells of each pod that it makes and deletes', async () => {
    await using world = await start();
    await create(world, 2);
    const made = (await world.pods()).map(({ metadata }) => metadata.name);
    await scale(world, 1);
    const left = (await world.pods()).map(({ metadata }) => metadata.name);
    const gone = made.filter((name) => !left.includes(name));
    assert.deepEqual(
      new Set(await world.events('ReplicaSet')),
      new Set([
        ...made.map((name) => `Normal SuccessfulCreate Created pod: ${name}`),
        ...gone.map((name) => `Normal SuccessfulDelete Deleted pod: ${name}`),
      ]),
    );
  });

  it('lab/W15: replaces pods that ended, that are deleted, and that are on their way out', async () => {
    await using world = await start();
    const { template } = webReplicaSet('web', 1).spec;
    // With a node, deletion takes its time.
    await create(world, 3, { template: { ...template, spec: { ...template.spec, nodeName: 'n1' } } });
    const [ended, deleted] = await world.pods();
    assert.ok(ended !== undefined && deleted !== undefined);
    await world.setPod(ended, { phase: 'Failed' });
    await world.client.delete(Pod, keyOf(deleted));
    await world.env.settle();
    assert.equal((await world.pods()).length, 5);
    assert.equal((await world.activePods()).length, 3);
    assert.equal((await statusOf(world))?.terminatingReplicas, 1);
  });

  it('lab/W17: deletes what is not ready first', async () => {
    await using world = await start();
    await create(world, 3);
    const [ready] = await world.pods();
    await world.readyOne();
    await scale(world, 1);
    assert.deepEqual(
      (await world.pods()).map(({ metadata }) => metadata.name),
      [ready?.metadata.name],
    );
  });

  it('lab/W15: makes no more than 500 pods in one go, and the rest after', async () => {
    assert.equal(MOST_CHANGES, 500);
    await using world = await start({ mostRepeats: 1000 });
    await create(world, 501);
    assert.equal((await world.pods()).length, 501);
    const written = world.env.recorder.writes.map(({ method, target }) => `${method} ${target.split('?', 1)[0]}`);
    const firstStatus = written.findIndex((line) => line.startsWith('PUT'));
    assert.equal(written.slice(0, firstStatus).filter((line) => line.endsWith('/pods')).length, 500);
  });

  it('lab/W18: says what its pods are like', async () => {
    await using world = await start();
    await create(world, 2);
    const observedGeneration = 1;
    const counted = { replicas: 2, fullyLabeledReplicas: 2, terminatingReplicas: 0, observedGeneration };
    assert.deepEqual(await statusOf(world), counted);
    await world.readyOne();
    assert.deepEqual(await statusOf(world), { ...counted, readyReplicas: 1, availableReplicas: 1 });
    await scale(world, 0);
    assert.deepEqual(await statusOf(world), { replicas: 0, terminatingReplicas: 0, observedGeneration: 2 });
  });

  it('lab/W18: counts a pod as available when it was ready for long enough, to the second', async () => {
    await using world = await start();
    await create(world, 2, { minReadySeconds: 30 });
    await world.readyOne();
    await world.env.advance(10 * SECOND_MS);
    await world.readyOne();
    await expectNoWrites(world.env.recorder, () => world.env.advance(19 * SECOND_MS));
    await world.env.advance(SECOND_MS);
    assert.equal((await statusOf(world))?.availableReplicas, 1);
    await world.env.advance(10 * SECOND_MS);
    assert.equal((await statusOf(world))?.availableReplicas, 2);
  });

  it('lab/A6: writes nothing when nothing happens', async () => {
    await using world = await start();
    await create(world, 2);
    await world.run();
    await expectNoWrites(world.env.recorder, () => world.env.advance(3600 * SECOND_MS));
  });

  it('lab/A5: has exactly the rights that it uses', async () => {
    await using world = await start();
    const orphan = {
      metadata: { ...WEB, labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'x' }] },
    };
    await world.client.create(Pod, orphan);
    await create(world, 2);
    await scale(world, 1);
    expectExactRbac(world.env);
  });

  it('lab/W15: leaves pods alone while it is being deleted', async () => {
    await using world = await start();
    await create(world, 2);
    await world.client.patch(ReplicaSet, WEB, {
      type: 'merge',
      body: { metadata: { finalizers: ['test/stay'] } },
    });
    await world.client.delete(ReplicaSet, WEB);
    const [pod] = await world.pods();
    assert.ok(pod !== undefined);
    await world.client.delete(Pod, keyOf(pod));
    await world.env.settle();
    assert.equal((await world.pods()).length, 1);
    assert.equal((await statusOf(world))?.replicas, 1);
  });
});

describe('pods that nobody owns', () => {
  const orphan = (name: string, labels: Record<string, string>) => ({
    metadata: { namespace: 'default', name, labels },
    spec: { containers: [{ name: 'web', image: 'x' }] },
  });
  const ownerOf = async (world: DeploymentWorld, name: string) =>
    controllerReferenceOf(await world.client.get(Pod, { namespace: 'default', name }))?.name;

  it('lab/W15: are adopted when they match, and count', async () => {
    await using world = await start();
    await world.client.create(Pod, orphan('before', { app: 'web' }));
    await world.client.create(Pod, orphan('other', { app: 'x' }));
    await create(world, 2);
    assert.deepEqual([await ownerOf(world, 'before'), await ownerOf(world, 'other')], ['web', undefined]);
    assert.equal((await statusOf(world))?.replicas, 2);
    await world.client.create(Pod, orphan('after', { app: 'web' }));
    await world.env.settle();
    assert.equal((await world.pods()).filter(({ metadata }) => metadata.labels?.['app'] === 'web').length, 2);
  });

  it('lab/W15: are released when they do not match any more, and replaced', async () => {
    await using world = await start();
    await create(world, 1);
    const [pod] = await world.pods();
    assert.ok(pod !== undefined);
    await world.client.patch(Pod, keyOf(pod), { type: 'merge', body: { metadata: { labels: { app: 'x' } } } });
    await world.env.settle();
    assert.equal(await ownerOf(world, pod.metadata.name), undefined);
    assert.equal((await world.pods()).length, 2);
  });

  it('lab/W15: stay orphans while their set is being deleted', async () => {
    await using world = await start();
    await create(world, 0);
    await world.client.patch(ReplicaSet, WEB, {
      type: 'merge',
      body: { metadata: { finalizers: ['test/stay'] } },
    });
    await world.client.delete(ReplicaSet, WEB);
    await world.client.create(Pod, orphan('late', { app: 'web' }));
    await world.env.settle();
    assert.equal(await ownerOf(world, 'late'), undefined);
  });
});

describe('pods that cannot be made or deleted', () => {
  it('lab/W18: are told of once, in a condition and an event, until it works', async () => {
    await using world = await start({ log: SILENT_LOG });
    const refusal = world.env.faults.arm({
      matches: isPod('POST'),
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
    });
    await create(world, 3);
    const [condition] = (await statusOf(world))?.conditions ?? [];
    assert.deepEqual(
      [condition?.type, condition?.status, condition?.reason],
      ['ReplicaFailure', 'True', 'FailedCreate'],
    );
    const [event] = await world.events('ReplicaSet');
    assert.equal(event, `Warning FailedCreate Error creating: ${condition?.message}`);
    await world.env.advance(SECOND_MS);
    const tried = world.env.recorder.requests.length;
    assert.ok(tried < 100, `${tried} requests`);
    refusal[Symbol.dispose]();
    await world.env.advance(60 * SECOND_MS);
    assert.equal((await world.activePods()).length, 3);
    assert.equal((await statusOf(world))?.conditions, undefined);
  });

  it('lab/W18: a deletion that fails is told too', async () => {
    await using world = await start({ log: SILENT_LOG });
    await create(world, 2);
    const refusal = world.env.faults.arm({
      matches: isPod('DELETE'),
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
    });
    await scale(world, 0);
    const [condition] = (await statusOf(world))?.conditions ?? [];
    assert.equal(condition?.reason, 'FailedDelete');
    assert.match(condition?.message ?? '', /^unable to delete pods: /);
    assert.ok(
      (await world.events('ReplicaSet')).some((event) =>
        event.startsWith('Warning FailedDelete Error deleting: '),
      ),
    );
    refusal[Symbol.dispose]();
    await world.env.advance(60 * SECOND_MS);
    assert.deepEqual(await world.pods(), []);
    assert.equal((await statusOf(world))?.conditions, undefined);
  });

  it('lab/W15: in a namespace that goes are nothing to talk about', async () => {
    await using world = await start({ controllers: [] });
    await world.client.create(Namespace, { metadata: { name: 'going' } });
    const metadata = { name: 'stays', namespace: 'going', finalizers: ['test/stay'] };
    await world.client.create(ConfigMap, { metadata });
    await world.client.delete(Namespace, { name: 'going' });
    await world.env.settle();
    const { context, told } = reconcileContext(world.client);
    const set = replicaSet('web', 5);
    const there = { ...set, metadata: { ...set.metadata, namespace: 'going' } };
    assert.deepEqual(await new ReplicaSetReconciler().reconcile(there, context), {});
    assert.deepEqual(told, []);
  });
});

describe('pods are never made twice', () => {
  for (const kind of ['lost-response', 'duplicate'] as const) {
    it(`lab/W16: though the answer to one is a ${kind}`, async () => {
      await using world = await start({ log: SILENT_LOG });
      world.env.faults.arm({ matches: isPod('POST'), fault: { kind }, times: 1 });
      await create(world, 3);
      await world.env.advance(60 * SECOND_MS);
      assert.equal((await world.activePods()).length, 3);
      const posts = world.env.recorder.requests.filter(({ method, target }) =>
        isPod('POST')({ method, target, headers: {} }),
      );
      assert.ok(posts.length <= 4, `${posts.length} pods were made`);
    });
  }

  it('lab/W16: though the watch is late', async () => {
    await using world = await start();
    const isWatch: FaultRule['matches'] = ({ target }) => target.includes('/pods') && target.includes('watch=');
    world.env.faults.arm({ matches: isWatch, fault: { kind: 'silence' } });
    await create(world, 3);
    await world.env.advance(20 * SECOND_MS);
    assert.equal((await world.pods()).length, 3);
  });
});
