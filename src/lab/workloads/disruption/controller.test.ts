import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTexts } from '../../../../test/support/event-texts.ts';
import { addNode, PretendNodes } from '../../../../test/support/pretend-nodes.ts';
import { uncoveredWrites } from '../../../../test/support/role-coverage.ts';
import { addServicePod, servicePod, setPodStatus } from '../../../../test/support/service-world.ts';
import { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { Pod } from '../../../api/generated/core-v1.ts';
import { PodDisruptionBudget, type PodDisruptionBudgetSpec } from '../../../api/generated/policy-v1.ts';
import { isTooManyRequests } from '../../../kube/client/api-error.ts';
import { findCondition } from '../../../object/conditions.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv } from '../../../testing/test-env.ts';
import { deploymentController } from '../deployment/controller.ts';
import { replicaSetController } from '../replicaset/controller.ts';
import { disruptionController } from './controller.ts';
import { staleDisruptionController, staleInMs } from './stale-disruption.ts';

const WEB = { namespace: 'default', name: 'web' };
const SELECTOR = { matchLabels: { app: 'web' } };
const SECOND_MS = 1000;

const start = async (): Promise<TestEnv> => {
  const env = await TestEnv.start();
  await env.startManager({ add: [disruptionController()] });
  return env;
};

const addBudget = (env: TestEnv, spec: Partial<PodDisruptionBudgetSpec>) =>
  env.client.create(PodDisruptionBudget, { metadata: WEB, spec: { selector: SELECTOR, ...spec } });

/** `[expected, desired, current, allowed]` */
const numbers = async (env: TestEnv) => {
  const { status } = await env.client.get(PodDisruptionBudget, WEB);
  const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed } = status ?? {};
  return [expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed];
};

/** `False SyncFailed why` */
const conditionOf = async (env: TestEnv): Promise<string> => {
  const condition = findCondition(await env.client.get(PodDisruptionBudget, WEB), 'DisruptionAllowed');
  return `${condition?.status} ${condition?.reason} ${condition?.message}`;
};

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'web', image: 'web' }] },
};

describe('the disruption controller', () => {
  it('lab/W33: follows pods', async () => {
    await using env = await start();
    await addBudget(env, { minAvailable: 1 });
    await env.settle();
    assert.deepEqual(await numbers(env), [0, 1, 0, 0]);
    await addServicePod(env, 'p1');
    await addServicePod(env, 'p2');
    await addServicePod(env, 'other', { labels: { app: 'other' } });
    await env.settle();
    assert.deepEqual(await numbers(env), [2, 1, 2, 1]);
    await setPodStatus(env, 'p1', { isReady: false });
    await env.settle();
    assert.deepEqual(await numbers(env), [2, 1, 1, 0]);
  });

  it('lab/W33: follows what controllers want', async () => {
    await using env = await start();
    await env.startManager({ name: 'workloads', add: [deploymentController(), replicaSetController()] });
    await addNode(env.client, 'n1');
    const nodes = new PretendNodes();
    await env.client.create(Deployment, { metadata: WEB, spec: { replicas: 3, selector: SELECTOR, template } });
    await addBudget(env, { maxUnavailable: '50%' });
    await nodes.settle(env);
    assert.deepEqual(await numbers(env), [3, 1, 3, 2]);
    await env.client.patch(Deployment, WEB, { type: 'merge', body: { spec: { replicas: 6 } } });
    await nodes.settle(env);
    assert.deepEqual(await numbers(env), [6, 3, 6, 3]);
  });

  it('lab/W33: takes up a changed budget', async () => {
    await using env = await start();
    await addBudget(env, { minAvailable: 1 });
    await addServicePod(env, 'p1');
    await env.settle();
    await env.client.patch(PodDisruptionBudget, WEB, { type: 'merge', body: { spec: { minAvailable: 0 } } });
    await env.settle();
    assert.deepEqual(await numbers(env), [1, 0, 1, 1]);
    const { metadata, status } = await env.client.get(PodDisruptionBudget, WEB);
    assert.equal(status?.observedGeneration, metadata.generation);
  });

  it('lab/W33: says SyncFailed when nobody says how many pods there should be, and recovers', async () => {
    await using env = await start();
    const controller = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid: 'uid-ds', controller: true };
    const { spec } = servicePod('p1');
    await env.client.create(Pod, {
      metadata: { namespace: 'default', name: 'p1', labels: { app: 'web' }, ownerReferences: [controller] },
      spec: { ...spec, containers: [{ name: 'web', image: 'web' }] },
    });
    await addBudget(env, { maxUnavailable: 1 });
    await env.settle();
    assert.match(await conditionOf(env), /^False SyncFailed DaemonSet ds, which controls pod p1/);
    const [event = ''] = await eventTexts(env.client, 'PodDisruptionBudget');
    assert.match(event, /^Warning CalculateExpectedPodCountFailed Failed to calculate/);
    await expectNoWrites(env.recorder, () => env.advance(600 * SECOND_MS));
    const mending = {
      type: 'json',
      body: [
        { op: 'remove', path: '/spec/maxUnavailable' },
        { op: 'add', path: '/spec/minAvailable', value: 0 },
      ],
    } as const;
    await env.client.patch(PodDisruptionBudget, WEB, mending);
    await env.settle();
    assert.match(await conditionOf(env), /^False InsufficientPods/);
  });

  it('lab/W33: forgets an eviction after two minutes when the pod is still there', async () => {
    await using env = await start();
    await addBudget(env, { minAvailable: 1 });
    for (const name of ['p1', 'p2']) await addServicePod(env, name);
    await env.settle();
    const { status } = await env.client.get(PodDisruptionBudget, WEB);
    const disruptedPods = { p1: env.clock.now().toISOString().replace(/\.\d+/, '') };
    const body = { status: { ...status, conditions: [], disruptedPods, disruptionsAllowed: 0 } };
    await env.client.patch(PodDisruptionBudget, WEB, { type: 'merge', body }, { subresource: 'status' });
    await env.settle();
    assert.deepEqual(await numbers(env), [2, 1, 1, 0]);
    await expectNoWrites(env.recorder, () => env.advance(119 * SECOND_MS));
    await env.advance(SECOND_MS);
    assert.deepEqual(await numbers(env), [2, 1, 2, 1]);
    assert.deepEqual(await eventTexts(env.client, 'Pod'), [
      'Warning NotDeleted Budget default/web expected this pod to be deleted after its eviction, and it was not',
    ]);
  });

  it('lab/W33, lab/W34: case 7: a drain evicts one of two pods, and the second when its replacement is ready', async () => {
    await using env = await start();
    await env.startManager({ name: 'workloads', add: [replicaSetController()] });
    for (const name of ['n1', 'n2']) await addNode(env.client, name);
    let isReady = true;
    const nodes = new PretendNodes({ fate: () => (isReady ? 'ready' : 'pending') });
    await env.client.create(ReplicaSet, { metadata: WEB, spec: { replicas: 2, selector: SELECTOR, template } });
    await addBudget(env, { minAvailable: 1 });
    await nodes.settle(env);
    assert.deepEqual(await numbers(env), [2, 1, 2, 1]);
    const { items } = await env.client.list(Pod, { namespace: 'default' });
    const [first, second] = items.map(({ metadata }) => ({ namespace: 'default', name: metadata.name }));
    assert.ok(first !== undefined && second !== undefined);
    isReady = false;
    await env.client.evict(first);
    await nodes.settle(env);
    assert.deepEqual(await numbers(env), [2, 1, 1, 0]);
    await assert.rejects(env.client.evict(second), isTooManyRequests);
    isReady = true;
    await nodes.settle(env);
    assert.deepEqual(await numbers(env), [2, 1, 2, 1]);
    await env.client.evict(second);
    await nodes.settle(env);
    assert.equal(await env.client.find(Pod, second), undefined);
  });

  it('lab/A6: writes nothing when nothing changes, nor when it starts anew', async () => {
    await using env = await start();
    await addBudget(env, { minAvailable: 1 });
    await env.settle();
    assert.deepEqual(await eventTexts(env.client, 'PodDisruptionBudget'), [
      'Normal NoPods No matching pods found',
    ]);
    await expectNoWrites(env.recorder, async () => {
      await env.startManager({ name: 'another', add: [disruptionController(), staleDisruptionController()] });
      await env.advance(3600 * SECOND_MS);
    });
  });

  it('lab/A5: needs what it uses, and no more than every cluster gives to the controller', async () => {
    await using env = await start();
    await addBudget(env, { maxUnavailable: 1 });
    await addServicePod(env, 'p1');
    await env.settle();
    expectExactRbac(env);
    const role = 'system:controller:disruption-controller';
    for (const controller of [disruptionController(), staleDisruptionController()])
      assert.deepEqual(await uncoveredWrites(env.client, controller, role), []);
  });
});

describe('the mark of a disruption', () => {
  const NOW = new Date('2026-01-01T00:02:00Z');
  const marked = (
    facts: { reason?: string; status?: string; phase?: 'Failed'; isLeaving?: boolean } = {},
  ): Pod => {
    const { reason = 'EvictionByEvictionAPI', status = 'True', ...rest } = facts;
    const pod = servicePod('p', rest);
    const condition = { type: 'DisruptionTarget', status, reason, lastTransitionTime: '2026-01-01T00:01:00Z' };
    return { ...pod, status: { ...pod.status, conditions: [condition] } };
  };

  for (const [what, pod, want] of [
    ['a pod that was evicted a minute ago', marked(), 60_000],
    ['a pod without it', servicePod('p'), undefined],
    ['a pod whose mark was taken back', marked({ status: 'False' }), undefined],
    ['a pod that its kubelet ends', marked({ reason: 'TerminationByKubelet' }), undefined],
    ['a pod that has ended', marked({ phase: 'Failed' }), undefined],
    ['a pod that is leaving', marked({ isLeaving: true }), undefined],
  ] as const) {
    it(`lab/W33: ${what}`, () => {
      assert.equal(staleInMs(pod, NOW), want);
    });
  }

  it('lab/W33: is taken back after two minutes when the pod stays', async () => {
    await using env = await TestEnv.start();
    await env.startManager({ add: [staleDisruptionController()] });
    await addServicePod(env, 'p1');
    const key = { namespace: 'default', name: 'p1' };
    const conditions = [
      {
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ];
    const body = { status: { conditions } };
    await env.client.patch(Pod, key, { type: 'strategic', body }, { subresource: 'status' });
    await expectNoWrites(env.recorder, () => env.advance(119 * SECOND_MS));
    await env.advance(SECOND_MS);
    const { status } = await env.client.get(Pod, key);
    const mark = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
    assert.equal(mark?.status, 'False');
    assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    await expectNoWrites(env.recorder, () => env.advance(3600 * SECOND_MS));
    expectExactRbac(env, { unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'] });
  });
});
