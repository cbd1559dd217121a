import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DaemonSet, ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { startLab } from '../../src/lab/index.ts';
import { cloudUser } from '../support/lab-people.ts';
import { pretendDevicePlugin } from '../support/pretend-device-plugin.ts';

const KEY = { namespace: 'default', name: 'p' };
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const REVISION = 'deployment.kubernetes.io/revision';

interface WorkloadOptions {
  readonly kind?: 'Deployment' | 'DaemonSet';
  readonly name?: string;
  readonly replicas?: number;
  readonly version?: string;
  readonly tolerations?: readonly object[];
}

/** Its containers are simulated, and ready two seconds after their start. */
const workload = ({
  kind = 'Deployment',
  name = 'web',
  replicas = 1,
  version = '1',
  tolerations = [],
}: WorkloadOptions) =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind,
    metadata: { namespace: 'default', name },
    spec: {
      ...(kind === 'Deployment' && { replicas }),
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations: { 'simulate.slipway.dev/c': '{"readyAfter":"2s"}' } },
        spec: { tolerations, containers: [{ name: 'c', image: `nginx:${version}` }] },
      },
    },
  });

const podsOf = async (client: KubeClient, app: string) =>
  (await client.list(Pod, { namespace: 'default', labels: `app=${app}` })).items;
const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

/** `Pending: 0/5 nodes are available …` */
function schedulingOf(pod: Pod | undefined): string {
  const { phase, conditions = [] } = pod?.status ?? {};
  return `${phase}: ${conditions.find(({ type }) => type === 'PodScheduled')?.message}`;
}

/** What a cloud controller manager does when it knows the machines. */
async function initialise(client: KubeClient): Promise<void> {
  for (const { metadata, spec } of (await client.list(Node)).items) {
    const others = (spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED);
    const taints = others.map(({ key, effect }) => ({ key, effect }));
    await client.patch(Node, metadata, { type: 'merge', body: { spec: { taints } } });
  }
}

/** How many pods there were, and how many were ready, after each change of one of them. */
async function crowds(client: KubeClient, signal: AbortSignal) {
  const pods = new Map<string, Pod>();
  const seen: { readonly pods: number; readonly ready: number }[] = [];
  const take = (pod: Pod, isGone: boolean) => {
    // As controllers count: one that is on its way out is none any more.
    if (isGone || pod.metadata.deletionTimestamp !== undefined) pods.delete(pod.metadata.name);
    else pods.set(pod.metadata.name, pod);
    seen.push({ pods: pods.size, ready: [...pods.values()].filter(isReady).length });
  };
  try {
    for await (const event of client.live.watch(Pod, { namespace: 'default', signal }))
      if (event.type !== 'BOOKMARK') take(event.object, event.type === 'DELETED');
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return seen;
}

describe('cases for everybody, on automatic time', () => {
  it('lab/W7: a Deployment of four changes with five pods at most and three ready ones at least, and goes back', async () => {
    await using lab = await startLab({ nodes: 3, clock: 'auto' });
    const { client } = lab.cluster();
    const rolledOut = () => lab.until(() => lab.cluster().rolledOut('default', 'web'), { within: '2m' });
    const sets = async () =>
      (await client.list(ReplicaSet, { namespace: 'default' })).items
        .map(({ metadata: { annotations = {} }, spec }) => {
          const history = annotations['deployment.kubernetes.io/revision-history'] ?? '';
          return `${spec?.template?.spec?.containers[0]?.image} ${spec?.replicas} ${annotations[REVISION]} ${history}`;
        })
        .toSorted();
    await lab.cluster().apply(workload({ replicas: 4 }));
    await rolledOut();
    const stop = new AbortController();
    const watching = crowds(client, stop.signal);
    await lab.cluster().apply(workload({ replicas: 4, version: '2' }));
    await rolledOut();
    assert.deepEqual(await sets(), ['nginx:1 0 1 ', 'nginx:2 4 2 ']);
    // What `kubectl rollout undo` does.
    await lab.cluster().apply(workload({ replicas: 4 }));
    await rolledOut();
    assert.deepEqual(await sets(), ['nginx:1 4 3 1', 'nginx:2 0 2 ']);
    stop.abort();
    const seen = (await watching).slice(4);
    assert.ok(seen.length > 20, String(seen.length));
    assert.equal(Math.max(...seen.map(({ pods }) => pods)), 5);
    assert.equal(Math.min(...seen.map(({ ready }) => ready)), 3);
  });

  it('lab/W20: nodes that a cloud has not initialised get no pods of a DaemonSet, and a Deployment waits', async () => {
    const cluster = { name: 'c1', controlPlane: 3, workers: 2, cloudProvider: 'external' } as const;
    await using lab = await startLab({ clusters: [cluster], clock: 'auto' });
    const c1 = lab.cluster();
    const desired = async (name: string) => {
      const { status } = await c1.client.get(DaemonSet, { namespace: 'default', name });
      return [status?.desiredNumberScheduled, status?.numberReady];
    };
    const everywhere = [{ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }];
    await c1.apply(workload({ kind: 'DaemonSet', name: 'some' }));
    await c1.apply(workload({ kind: 'DaemonSet', name: 'all', tolerations: everywhere }));
    await c1.apply(workload({ name: 'web' }));
    await lab.clock.advance(30_000);
    assert.deepEqual(
      [await desired('some'), await desired('all')],
      [
        [0, 0],
        [0, 0],
      ],
    );
    assert.deepEqual([await podsOf(c1.client, 'some'), await podsOf(c1.client, 'all')], [[], []]);
    const [waiting] = await podsOf(c1.client, 'web');
    assert.match(
      schedulingOf(waiting),
      /^Pending: 0\/5 nodes are available: 5 node\(s\) had untolerated taint\(s\)\./,
    );
    await initialise(c1.client);
    await lab.until(() => c1.rolledOut('default', 'web'), { within: '1m' });
    await lab.clock.advance(30_000);
    assert.deepEqual(
      [await desired('some'), await desired('all')],
      [
        [2, 2],
        [5, 5],
      ],
    );
  });

  it('lab/K3: says how many devices are missing where, and schedules when a plugin has one more', async () => {
    await using lab = await startLab({ clusters: [{ name: 'c1', controlPlane: 2, workers: 3 }], clock: 'auto' });
    const { client } = lab.cluster();
    // Nodes are numbered from the control plane on: w-1 is the third.
    await using plugin = await pretendDevicePlugin(join(lab.directory, '1', 'n', '3'), { devices: ['a', 'b'] });
    await plugin.register();
    const hasDevices = async (count: string) =>
      (await client.get(Node, { name: 'w-1' })).status?.allocatable?.['acme.example/npu'] === count;
    await lab.until(() => hasDevices('2'), { within: '1m' });
    const limits = { 'acme.example/npu': '3' };
    const containers = [{ name: 'c', image: 'trainer', resources: { limits } }];
    await client.create(Pod, { metadata: KEY, spec: { containers } });
    const scheduling = async () => {
      const { items } = await client.list(Event, { namespace: 'default' });
      return items.filter(
        ({ regarding, reason = '' }) => regarding?.name === 'p' && /Scheduled|FailedSch/.test(reason),
      );
    };
    await lab.clock.advance(60_000);
    const [told, ...more] = await scheduling();
    assert.deepEqual(more, []);
    assert.equal(
      told?.note,
      '0/5 nodes are available: 2 node(s) had untolerated taint(s), 3 Insufficient acme.example/npu. preemption: not simulated by the lab.',
    );
    plugin.report(['a', 'b', 'c']);
    const isRunning = async () => (await client.get(Pod, KEY)).status?.phase === 'Running';
    await lab.until(isRunning, { within: '2m' });
    await lab.settle();
    assert.deepEqual((await scheduling()).map(({ reason = '' }) => reason).toSorted(), [
      'FailedScheduling',
      'Scheduled',
    ]);
    assert.deepEqual(plugin.calls, ['allocate a,b,c']);
  });

  const lost = async (silentMs: number) => {
    const lab = await startLab({ nodes: 2, clock: 'auto' });
    const { client } = lab.cluster();
    await lab.cluster().apply(workload({ replicas: 2 }));
    await lab.cluster().apply(workload({ kind: 'DaemonSet', name: 'agent' }));
    await lab.until(() => lab.cluster().rolledOut('default', 'web'), { within: '1m' });
    await lab.clock.advance(10_000);
    const names = async (app: string) =>
      (await podsOf(client, app))
        .filter(({ spec }) => spec.nodeName === 'w-1')
        .map(({ metadata }) => metadata.name);
    const before = [await names('web'), await names('agent')];
    await lab.cluster().node('w-1').stopHeartbeat();
    await lab.clock.advance(silentMs);
    const node = await client.get(Node, { name: 'w-1' });
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    const taints = node.spec?.taints?.map(
      ({ key, effect }) => `${key.replace('node.kubernetes.io/', '')} ${effect}`,
    );
    return { lab, client, names, before, ready, taints: taints?.toSorted() };
  };

  it('lab/W37: pods leave a node five minutes after it was lost, those of a DaemonSet stay', async () => {
    const { lab, client, names, before, ready, taints } = await lost(70_000);
    await using _lab = lab;
    assert.equal(before.flat().length, 2);
    assert.deepEqual([ready?.status, ready?.reason], ['Unknown', 'NodeStatusUnknown']);
    assert.deepEqual(taints, ['unreachable NoExecute', 'unreachable NoSchedule']);
    const staying = async () =>
      (await podsOf(client, 'web'))
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ spec }) => spec.nodeName ?? '')
        .toSorted();
    await lab.clock.advance(250_000);
    assert.deepEqual(await staying(), ['w-1', 'w-2'], 'not before their time');
    await lab.clock.advance(60_000);
    assert.deepEqual(await staying(), ['w-2', 'w-2']);
    assert.deepEqual(await names('agent'), before[1]);
  });

  it('lab/W37: nothing is deleted when the node is back in time', async () => {
    const { lab, client, names, before } = await lost(200_000);
    await using _lab = lab;
    lab.cluster().node('w-1').resumeHeartbeat();
    await lab.clock.advance(600_000);
    assert.deepEqual([await names('web'), await names('agent')], before);
    const { spec, status } = await client.get(Node, { name: 'w-1' });
    assert.deepEqual(spec?.taints ?? [], []);
    assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
    assert.ok((await podsOf(client, 'web')).every(isReady));
  });

  it('lab/C4: an answer that gets lost makes one load balancer, not two', async () => {
    await using lab = await startLab({ cloud: true, clock: 'auto' });
    const cloud = await cloudUser(lab);
    using _fault = lab.cloud.fault({
      match: { method: 'POST', kind: 'load-balancers', nth: 1 },
      effect: { dropAfter: 'commit' },
    });
    const wish = { name: 'front', listeners: [{ port: 8443, targetPort: 31_000 }] };
    const create = () => cloud('POST', '/v1/load-balancers', wish, { 'idempotency-key': 'once' });
    await assert.rejects(create(), /fetch failed/);
    const { id } = await create();
    const { items } = await cloud('GET', '/v1/load-balancers');
    assert.deepEqual(
      items.map((one: { readonly id: string }) => one.id),
      [id],
    );
    const isActive = async () => (await cloud('GET', `/v1/load-balancers/${id}`)).state === 'active';
    await lab.until(isActive, { within: '1m' });
  });
});
