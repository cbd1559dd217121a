import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventTexts } from '../../../../test/support/event-texts.ts';
import { agent, AGENT as key, setImage } from '../../../../test/support/lab-daemons.ts';
import { addNode, addNodes, type Fate, PretendNodes, setTaints } from '../../../../test/support/pretend-nodes.ts';
import { ControllerRevision, DaemonSet } from '../../../api/generated/apps-v1.ts';
import { Namespace, Node, Pod, type Taint } from '../../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { TestEnv, type TestEnvOptions } from '../../../testing/test-env.ts';
import { daemonSetController } from './controller.ts';
import { newRevision } from './revisions.ts';

const HASH = 'controller-revision-hash';

async function started(options: TestEnvOptions = {}): Promise<TestEnv> {
  const env = await TestEnv.start(options);
  await env.startManager({ add: [daemonSetController()] });
  return env;
}

const podsOf = async ({ client }: TestEnv): Promise<readonly Pod[]> => (await client.live.list(Pod)).items;
const statusOf = async ({ client }: TestEnv) => (await client.live.get(DaemonSet, key)).status;
const placesOf = async (env: TestEnv): Promise<readonly string[]> =>
  (await podsOf(env)).map(({ spec }) => spec.nodeName ?? '').toSorted();
const imagesOf = async (env: TestEnv): Promise<readonly string[]> =>
  (await podsOf(env)).map(({ spec }) => spec.containers[0]?.image ?? '').toSorted();

async function revisionsOf({ client }: TestEnv): Promise<readonly ControllerRevision[]> {
  const { items } = await client.live.list(ControllerRevision);
  return items.toSorted((a, b) => a.revision - b.revision);
}

describe('the DaemonSet controller', () => {
  it('lab/W25: keeps one pod on every node, and writes nothing while nothing changes', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1', 'n2');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    assert.deepEqual(await placesOf(env), ['n1', 'n2']);
    assert.deepEqual(await statusOf(env), {
      currentNumberScheduled: 2,
      desiredNumberScheduled: 2,
      numberAvailable: 2,
      numberMisscheduled: 0,
      numberReady: 2,
      observedGeneration: 1,
      updatedNumberScheduled: 2,
    });
    const events = await eventTexts(env.client, 'DaemonSet');
    assert.equal(events.length, 2);
    for (const text of events) assert.match(text, /^Normal SuccessfulCreate Created pod: agent-[a-z0-9]{5}$/);
    await expectNoWrites(env.recorder, async () => {
      // A heartbeat.
      const body = {
        status: { conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:01:00Z' }] },
      };
      await env.client.patch(Node, { name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
      await env.advance(3_600_000);
    });
  });

  it('lab/W19: follows nodes that come, go and change', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    await addNodes(env.client, 'n2');
    await nodes.settle(env);
    assert.deepEqual(await placesOf(env), ['n1', 'n2']);
    await setTaints(env.client, 'n2', [{ key: 'x', effect: 'NoSchedule' }]);
    await nodes.settle(env);
    assert.deepEqual(await placesOf(env), ['n1', 'n2']);
    assert.equal((await statusOf(env))?.numberMisscheduled, 1);
    await setTaints(env.client, 'n2', [{ key: 'x', effect: 'NoExecute' }]);
    await nodes.settle(env);
    assert.deepEqual(await placesOf(env), ['n1']);
    await env.client.delete(Node, { name: 'n1' });
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.desiredNumberScheduled, 0);
  });

  it('lab/W19: takes back a pod that waits for a node that is gone', async () => {
    await using env = await started();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await env.settle();
    assert.equal((await podsOf(env)).length, 1);
    await env.client.delete(Node, { name: 'n1' });
    await env.settle();
    assert.deepEqual(await podsOf(env), []);
  });

  it('lab/W20: case 4: counts control planes and uninitialised nodes only where they are tolerated', async () => {
    await using env = await started();
    const controlPlane: Taint = { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' };
    const uninitialized: Taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', effect: 'NoSchedule' };
    for (const name of ['c1', 'c2', 'c3']) await addNode(env.client, name, { taints: [controlPlane] });
    await addNodes(env.client, 'w1', 'w2');
    const nodes = new PretendNodes();
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.desiredNumberScheduled, 2);
    const tolerations = [{ key: controlPlane.key, operator: 'Exists' }];
    const body = { spec: { template: { spec: { tolerations } } } };
    await env.client.patch(DaemonSet, key, { type: 'merge', body });
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.desiredNumberScheduled, 5);
    await addNode(env.client, 'w3', { taints: [uninitialized] });
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.desiredNumberScheduled, 5);
    assert.deepEqual(await placesOf(env), ['c1', 'c2', 'c3', 'w1', 'w2']);
    await setTaints(env.client, 'w3', []);
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.numberAvailable, 6);
  });

  it('lab/W21: makes pods that only the scheduler binds', async () => {
    await using env = await started();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await env.settle();
    const [pod] = await podsOf(env);
    const [revision] = await revisionsOf(env);
    assert.ok(pod);
    assert.ok(revision);
    const { generateName, labels } = pod.metadata;
    assert.deepEqual([pod.spec.nodeName, generateName], [undefined, 'agent-']);
    const hash = revision.metadata.labels?.[HASH];
    assert.deepEqual(labels, { app: 'agent', [HASH]: hash, 'pod-template-generation': '1' });
  });

  it('lab/W24: replaces one pod after the other, each when the one before is available', async () => {
    await using env = await started();
    let fate: Fate = 'ready';
    const nodes = new PretendNodes({ fate: ({ status }) => (status?.phase === 'Running' ? 'ready' : fate) });
    await addNodes(env.client, 'n1', 'n2', 'n3');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    fate = 'pending';
    await env.client.patch(DaemonSet, key, setImage('agent:2'));
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:1', 'agent:1', 'agent:2']);
    const { numberAvailable, numberUnavailable, updatedNumberScheduled } = (await statusOf(env)) ?? {};
    assert.deepEqual([numberAvailable, numberUnavailable, updatedNumberScheduled], [2, 1, 1]);
    fate = 'ready';
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:2', 'agent:2', 'agent:2']);
    assert.equal((await statusOf(env))?.updatedNumberScheduled, 3);
  });

  it('lab/W24: waits minReadySeconds between two pods', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1', 'n2');
    await env.client.create(DaemonSet, agent({}, { minReadySeconds: 20 }));
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.numberAvailable, undefined);
    await env.advance(20_000);
    assert.equal((await statusOf(env))?.numberAvailable, 2);
    await env.client.patch(DaemonSet, key, setImage('agent:2'));
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:1', 'agent:2']);
    await env.advance(20_000);
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:2', 'agent:2']);
  });

  it('lab/W24: with surge, starts the new pod before the old one goes', async () => {
    await using env = await started();
    let fate: Fate = 'ready';
    const nodes = new PretendNodes({ fate: ({ status }) => (status?.phase === 'Running' ? 'ready' : fate) });
    await addNodes(env.client, 'n1', 'n2');
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    await env.client.create(DaemonSet, agent({}, { updateStrategy: { type: 'RollingUpdate', rollingUpdate } }));
    await nodes.settle(env);
    fate = 'pending';
    await env.advance(5_000);
    await env.client.patch(DaemonSet, key, setImage('agent:2'));
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:1', 'agent:1', 'agent:2']);
    assert.equal((await statusOf(env))?.numberAvailable, 2);
    fate = 'ready';
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:2', 'agent:2']);
  });

  it('lab/W24: OnDelete replaces only what somebody else deletes', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1', 'n2');
    await env.client.create(DaemonSet, agent({}, { updateStrategy: { type: 'OnDelete' } }));
    await nodes.settle(env);
    await env.client.patch(DaemonSet, key, setImage('agent:2'));
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:1', 'agent:1']);
    assert.equal((await statusOf(env))?.updatedNumberScheduled, undefined);
    const [first] = await podsOf(env);
    await env.client.delete(Pod, { namespace: 'default', name: first?.metadata.name ?? '' });
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:1', 'agent:2']);
  });

  it('lab/W22: numbers templates, and a template that comes back gets the next number', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    await env.client.patch(DaemonSet, key, setImage('agent:2'));
    await nodes.settle(env);
    const [first, second] = await revisionsOf(env);
    assert.deepEqual([first?.revision, second?.revision], [1, 2]);
    // What `kubectl rollout undo` sends.
    const { spec } = first?.data ?? {};
    await env.client.patch(DaemonSet, key, { type: 'strategic', body: JSON.parse(JSON.stringify({ spec })) });
    await nodes.settle(env);
    assert.deepEqual(await imagesOf(env), ['agent:1']);
    const numbers = (await revisionsOf(env)).map(({ metadata, revision }) => `${metadata.name} ${revision}`);
    assert.deepEqual(numbers, [`${second?.metadata.name} 2`, `${first?.metadata.name} 3`]);
  });

  it('lab/W22: forgets templates beyond the limit', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent({}, { revisionHistoryLimit: 1 }));
    for (const image of ['agent:2', 'agent:3', 'agent:4']) {
      await nodes.settle(env);
      await env.client.patch(DaemonSet, key, setImage(image));
    }
    await nodes.settle(env);
    assert.deepEqual(
      (await revisionsOf(env)).map(({ revision }) => revision),
      [3, 4],
    );
  });

  it('lab/W22: counts a collision of hashes and takes another name', async () => {
    await using env = await TestEnv.start();
    const set = await env.client.create(DaemonSet, agent());
    const taken = newRevision(set, 1);
    const { ownerReferences: _, ...metadata } = taken.metadata;
    await env.client.create(ControllerRevision, {
      ...taken,
      metadata: { ...metadata, labels: {} },
      data: { a: 1 },
    });
    await env.startManager({ add: [daemonSetController()] });
    await env.advance(1_000);
    const { collisionCount } = (await statusOf(env)) ?? {};
    assert.equal(collisionCount, 1);
    const own = (await revisionsOf(env)).filter(({ metadata: { labels } }) => labels?.['app'] === 'agent');
    assert.deepEqual(own.length, 1);
    assert.notEqual(own[0]?.metadata.name, taken.metadata.name);
  });

  it('lab/W22: keeps one of two revisions of one template, and relabels the pods of the other', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    const [revision] = await revisionsOf(env);
    assert.ok(revision);
    const labels = { app: 'agent', [HASH]: 'twin' };
    const { ownerReferences = [] } = revision.metadata;
    const twin = { metadata: { ...key, name: 'agent-twin', labels, ownerReferences }, revision: 7 };
    await env.client.create(ControllerRevision, { ...twin, data: revision.data ?? {} });
    await nodes.settle(env);
    assert.deepEqual(
      (await revisionsOf(env)).map(({ metadata }) => metadata.name),
      ['agent-twin'],
    );
    assert.equal((await podsOf(env))[0]?.metadata.labels?.[HASH], 'twin');
  });

  it('lab/W23: replaces failed pods, later and later, and says so', async () => {
    await using env = await started();
    const failures: number[] = [];
    const nodes = new PretendNodes({ fate: () => 'failed' });
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    const names = new Set<string>();
    for (let second = 0; second < 16; second++) {
      await nodes.settle(env);
      for (const { metadata } of await podsOf(env)) {
        if (!names.has(metadata.name)) failures.push(second);
        names.add(metadata.name);
      }
      await env.advance(1_000);
    }
    // At second 0 the first one fails and goes at once; the second one waits 1 s, then 2 s, 4 s and 8 s.
    assert.deepEqual(failures, [0, 1, 3, 7, 15]);
    const texts = await eventTexts(env.client, 'DaemonSet');
    const told = texts.filter((text) => text.startsWith('Warning FailedDaemonPod '));
    assert.match(told[0] ?? '', /Found failed daemon pod default\/agent-\w+ on node n1, will try to kill it$/);
  });

  it('lab/W23: replaces succeeded pods at once, and says so', async () => {
    await using env = await started();
    let left = 3;
    const nodes = new PretendNodes({
      fate: ({ status }) => (status?.phase === 'Pending' && left-- > 0 ? 'succeeded' : 'ready'),
    });
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.numberReady, 1);
    const texts = await eventTexts(env.client, 'DaemonSet');
    const told = texts.filter((text) => text.startsWith('Normal SucceededDaemonPod '));
    assert.match(
      told[0] ?? '',
      /Found succeeded daemon pod default\/agent-\w+ on node n1, will try to delete it$/,
    );
  });

  it('lab/W23: deletes the younger of two pods on a node', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    const [pod] = await podsOf(env);
    assert.ok(pod);
    await env.advance(5_000);
    const { labels = {}, ownerReferences = [] } = pod.metadata;
    const metadata = { name: 'younger', namespace: 'default', labels, ownerReferences };
    await env.client.create(Pod, { metadata, spec: pod.spec });
    await nodes.settle(env);
    assert.deepEqual(
      (await podsOf(env)).map((one) => one.metadata.name),
      [pod.metadata.name],
    );
  });
});

describe('what the DaemonSet controller owns', () => {
  it('goes with the daemon set', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    await env.client.delete(DaemonSet, key, { propagationPolicy: 'Foreground' });
    await nodes.settle(env);
    assert.deepEqual([await podsOf(env), await revisionsOf(env)], [[], []]);
    assert.equal(await env.client.live.find(DaemonSet, key), undefined);
  });

  it('is left behind as orphans, and adopted by the next daemon set that selects it', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    const [pod] = await podsOf(env);
    await env.client.delete(DaemonSet, key, { propagationPolicy: 'Orphan' });
    await nodes.settle(env);
    const second = await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    const [adopted] = await podsOf(env);
    assert.equal(adopted?.metadata.uid, pod?.metadata.uid);
    assert.deepEqual(
      adopted?.metadata.ownerReferences?.map(({ uid }) => uid),
      [second.metadata.uid],
    );
    assert.equal((await revisionsOf(env)).length, 1);
  });

  it('is released when it is not selected any more, and replaced', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    const [pod] = await podsOf(env);
    const name = pod?.metadata.name ?? '';
    const body = { metadata: { labels: { app: 'other' } } };
    await env.client.patch(Pod, { namespace: 'default', name }, { type: 'merge', body });
    await nodes.settle(env);
    const released = await env.client.live.get(Pod, { namespace: 'default', name });
    assert.equal(released.metadata.ownerReferences, undefined);
    assert.equal((await podsOf(env)).length, 2);
  });
});

describe('the DaemonSet controller and its server', () => {
  it('says that a pod cannot be created, and tries again', async () => {
    await using env = await started({ log: SILENT_LOG });
    const nodes = new PretendNodes();
    env.faults.arm({
      matches: ({ method, target }) => method === 'POST' && target.includes('/pods?'),
      times: 1,
      fault: { kind: 'refuse', status: 403, reason: 'Forbidden' },
    });
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await env.advance(1_000);
    await nodes.settle(env);
    assert.deepEqual(await placesOf(env), ['n1']);
    const texts = await eventTexts(env.client, 'DaemonSet');
    assert.ok(
      texts.some((text) => text.startsWith('Warning FailedCreate Error creating: ')),
      texts.join('\n'),
    );
  });

  it('makes nothing in a namespace that goes, and does not complain', async () => {
    await using env = await started();
    await addNodes(env.client, 'n1');
    await env.client.create(Namespace, { metadata: { name: 'going', finalizers: ['example.com/hold'] } });
    const set = { ...agent(), metadata: { namespace: 'going', name: 'agent', finalizers: ['example.com/hold'] } };
    await env.client.create(DaemonSet, set);
    await env.settle();
    await env.client.delete(Namespace, { name: 'going' });
    await env.advance(60_000);
    assert.deepEqual(await podsOf(env), []);
    const texts = await eventTexts(env.client, 'DaemonSet');
    assert.ok(!texts.some((text) => text.startsWith('Warning')), texts.join('\n'));
  });

  it('leaves the annotations of others alone', async () => {
    await using env = await started();
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
    await env.client.create(DaemonSet, { ...agent(), metadata: { ...key, annotations } });
    await env.settle();
    const { metadata, status } = await env.client.live.get(DaemonSet, key);
    assert.equal(status?.observedGeneration, 1);
    assert.equal(metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'], '{}');
  });

  it('uses exactly the rights that it declares', async () => {
    await using env = await started();
    const nodes = new PretendNodes();
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent({}, { revisionHistoryLimit: 1 }));
    await nodes.settle(env);
    for (const image of ['agent:2', 'agent:1', 'agent:3']) {
      await env.client.patch(DaemonSet, key, setImage(image));
      await nodes.settle(env);
    }
    const [pod] = await podsOf(env);
    const body = { metadata: { labels: { app: 'other' } } };
    await env.client.patch(Pod, { namespace: 'default', name: pod?.metadata.name ?? '' }, { type: 'merge', body });
    await nodes.settle(env);
    expectExactRbac(env);
  });

  it('lab/A5: needs no more than Kubernetes gives to its controller of this name', async () => {
    await using env = await TestEnv.start();
    const nodes = new PretendNodes();
    const user = 'system:serviceaccount:kube-system:daemon-set-controller';
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'];
    const transport = env.activity.around(env.server.client(user, groups));
    await env.startManager({ add: [daemonSetController()], wrap: () => transport, selfCheck: false });
    await addNodes(env.client, 'n1');
    await env.client.create(DaemonSet, agent());
    await nodes.settle(env);
    await env.client.patch(DaemonSet, key, setImage('agent:2'));
    await nodes.settle(env);
    await env.client.patch(DaemonSet, key, setImage('agent:1'));
    await nodes.settle(env);
    assert.equal((await statusOf(env))?.numberAvailable, 1);
    assert.deepEqual(
      (await revisionsOf(env)).map(({ revision }) => revision),
      [2, 3],
    );
  });
});
