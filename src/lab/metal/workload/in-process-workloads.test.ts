import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Namespace, Node } from '../../../api/generated/core-v1.ts';
import { ClusterVersion, type DesiredUpdate, Infrastructure } from '../../../api/openshift/config-v1.ts';
import { SystemClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { createClient } from '../../../kube/client/create-client.ts';
import type { KubeClient } from '../../../kube/client/kube-client.ts';
import { accessFromText } from '../../../kube/config/kubeconfig-text.ts';
import { connect } from '../../../kube/transport/connection.ts';
import { TestEnv } from '../../../testing/index.ts';
import { FAIL_UPDATE } from './cluster-version.ts';
import { InProcessWorkloads, type InProcessWorkloadsOptions } from './in-process-workloads.ts';
import type { WorkloadNode, WorkloadWish } from './workload-clusters.ts';

const KEY = { namespace: 'ns', name: 'prod' };
const WISH: WorkloadWish = {
  version: '4.20.1',
  platform: 'None',
  hasExternalCloudProvider: false,
  baseDomain: 'example.com',
  clusterName: 'prod',
  infraId: 'prod-x7k2p',
};
const MASTER: WorkloadNode = {
  name: 'host-1',
  role: 'control-plane',
  labels: { 'metal3.io/uuid': 'u-1' },
  hostId: 'h-1',
  architecture: 'amd64',
};
const WORKER: WorkloadNode = {
  name: 'host-2',
  role: 'worker',
  labels: {},
  providerId: 'cloud://i-2',
  hostId: 'h-2',
  architecture: 'arm64',
};
const MINUTE_MS = 60_000;

async function world(given: Partial<InProcessWorkloadsOptions> = {}) {
  const env = await TestEnv.start();
  const { clock, activity } = env;
  const workloads = new InProcessWorkloads({ clock, activity, ...given });
  return {
    env,
    workloads,
    cluster: await workloads.ensure(KEY, WISH),
    [Symbol.asyncDispose]: async () => {
      await workloads[Symbol.asyncDispose]();
      await env[Symbol.asyncDispose]();
    },
  };
}

const versionOf = (client: KubeClient) => client.live.get(ClusterVersion, { name: 'version' });

/** `Completed 4.20.1`, the newest first. */
const historyOf = async (client: KubeClient): Promise<readonly string[]> =>
  ((await versionOf(client)).status?.history ?? []).map(
    ({ state, version, completionTime }) =>
      `${state} ${version}${(completionTime ?? null) === null ? '' : ' ended'}`,
  );

const conditionOf = async (client: KubeClient, type: string): Promise<string> => {
  const found = (await versionOf(client)).status?.conditions?.find((condition) => condition.type === type);
  return `${found?.status} ${found?.message ?? ''}`;
};

const update = (client: KubeClient, desiredUpdate: DesiredUpdate) =>
  client.patch(
    ClusterVersion,
    { name: 'version' },
    { type: 'merge', body: { spec: { desiredUpdate: { ...desiredUpdate } } } },
  );

const readyOf = ({ status }: Node): string | undefined =>
  status?.conditions?.find(({ type }) => type === 'Ready')?.status;

describe('a cluster in this process', () => {
  it('agent/S20: is started once, and found by its key and its kubeconfig', async () => {
    await using given = await world();
    const { workloads, cluster } = given;
    const [again, same] = await Promise.all([workloads.ensure(KEY, WISH), workloads.ensure(KEY, WISH)]);
    assert.equal(again, cluster);
    assert.equal(same, cluster);
    assert.equal(workloads.find(KEY), cluster);
    assert.equal(workloads.byKubeconfig(cluster.kubeconfig), cluster);
    const client = await workloads.connect(cluster.kubeconfig);
    assert.equal((await versionOf(client)).metadata.name, 'version');
  });

  it('agent/S20: is another one than that of the same name in another namespace', async () => {
    await using given = await world();
    const { workloads, cluster } = given;
    const other = await workloads.ensure({ ...KEY, namespace: 'other' }, WISH);
    assert.notEqual(other.kubeconfig, cluster.kubeconfig);
    await other.join(WORKER);
    const client = await workloads.connect(cluster.kubeconfig);
    assert.deepEqual((await client.list(Node)).items, []);
    assert.equal(workloads.clusters.length, 2);
  });

  it('agent/S24: is reached over a socket with its kubeconfig where it was told to listen', async () => {
    const clock = new SystemClock();
    const listen = { host: '127.0.0.1', port: 0 };
    await using workloads = new InProcessWorkloads({ clock, listen });
    const { kubeconfig } = await workloads.ensure(KEY, WISH);
    const access = await accessFromText(kubeconfig, { env: {}, clock });
    await using connection = connect(access, { clock, log: SILENT_LOG });
    const client = createClient({
      transport: connection.transport,
      fieldManager: 'test',
      clock,
      log: SILENT_LOG,
    });
    assert.equal((await versionOf(client)).status?.desired?.version, WISH.version);
    assert.equal(workloads.byKubeconfig(kubeconfig), workloads.find(KEY));
  });

  it('cannot be reached with a kubeconfig that is none, is of nobody, or of one that was removed', async () => {
    await using given = await world();
    const { workloads, cluster } = given;
    await workloads.remove(KEY);
    await workloads.remove(KEY);
    assert.equal(workloads.find(KEY), undefined);
    const next = await workloads.ensure(KEY, WISH);
    for (const text of [cluster.kubeconfig, 'x: [', '', '{"clusters":[]}'])
      await assert.rejects(workloads.connect(text), { reason: 'NetworkError' });
    assert.ok(await workloads.connect(next.kubeconfig));
  });

  it('can be out of reach, also for those who have a client already', async () => {
    await using given = await world();
    const { workloads, cluster } = given;
    const client = await workloads.connect(cluster.kubeconfig);
    workloads.outage(KEY, true);
    await assert.rejects(client.list(Node), { reason: 'NetworkError' });
    await assert.rejects(workloads.connect(cluster.kubeconfig), { reason: 'NetworkError' });
    await cluster.join(MASTER);
    workloads.outage(KEY, false);
    assert.equal((await client.list(Node)).items.length, 1);
  });

  it('says what it runs on', async () => {
    await using given = await world();
    const { workloads, cluster } = given;
    const infrastructure = await cluster.client.get(Infrastructure, { name: 'cluster' });
    assert.equal(infrastructure.status?.infrastructureName, 'prod-x7k2p');
    assert.equal(infrastructure.status?.platformStatus?.type, 'None');
    assert.equal(infrastructure.status?.apiServerURL, 'https://api.prod.example.com:6443');
    assert.ok(await cluster.client.find(Namespace, { name: 'openshift-config-managed' }));
    const external = { platform: 'External', platformName: 'acme', hasExternalCloudProvider: true } as const;
    const cloudy = await workloads.ensure({ namespace: 'ns', name: 'cloudy' }, { ...WISH, ...external });
    const { spec, status } = await cloudy.client.get(Infrastructure, { name: 'cluster' });
    assert.deepEqual(spec?.platformSpec, { type: 'External', external: { platformName: 'acme' } });
    assert.deepEqual(status?.platformStatus, {
      type: 'External',
      external: { cloudControllerManager: { state: 'External' } },
    });
  });
});

describe('nodes of a cluster in this process', () => {
  it('agent/S21: are ready, with the labels of their role and those that were given', async () => {
    await using given = await world();
    await given.cluster.join(MASTER);
    const node = await given.cluster.client.get(Node, { name: 'host-1' });
    assert.equal(readyOf(node), 'True');
    const { labels = {} } = node.metadata;
    assert.deepEqual(
      ['metal3.io/uuid', 'node-role.kubernetes.io/master', 'node-role.kubernetes.io/control-plane'].map(
        (label) => labels[label],
      ),
      ['u-1', '', ''],
    );
    assert.equal(labels['kubernetes.io/hostname'], 'host-1');
    assert.deepEqual(
      node.spec.taints?.map(({ key }) => key),
      ['node-role.kubernetes.io/master'],
    );
  });

  it('agent/S21: say which machine they are, and of which release', async () => {
    await using given = await world();
    await given.cluster.join(WORKER);
    const { metadata, spec, status = {} } = await given.cluster.client.get(Node, { name: 'host-2' });
    assert.equal(spec.providerID, 'cloud://i-2');
    assert.deepEqual(spec.taints ?? [], []);
    const { kubeletVersion, architecture, systemUUID } = status.nodeInfo ?? {};
    assert.deepEqual([kubeletVersion, architecture, systemUUID], ['v1.33.0+slipway', 'arm64', 'h-2']);
    assert.equal(metadata.labels?.['kubernetes.io/arch'], 'arm64');
    assert.ok((status.addresses ?? []).some(({ type }) => type === 'InternalIP'));
  });

  it('wait for a cloud controller manager where there is to be one', async () => {
    await using given = await world();
    const wish = { ...WISH, platform: 'External', hasExternalCloudProvider: true } as const;
    const cluster = await given.workloads.ensure({ namespace: 'ns', name: 'cloudy' }, wish);
    await cluster.join(WORKER);
    const { spec, status } = await cluster.client.get(Node, { name: 'host-2' });
    assert.deepEqual(spec.taints, [
      { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' },
    ]);
    assert.deepEqual(status?.addresses, [{ type: 'Hostname', address: 'host-2' }]);
  });

  it('take all pods where there is only one', async () => {
    await using given = await world();
    const cluster = await given.workloads.ensure(
      { namespace: 'ns', name: 'sno' },
      { ...WISH, isSingleNode: true },
    );
    await cluster.join(MASTER);
    const { spec, metadata } = await cluster.client.get(Node, { name: 'host-1' });
    assert.deepEqual(spec.taints ?? [], []);
    assert.equal(metadata.labels?.['node-role.kubernetes.io/worker'], '');
  });

  it('stay as objects when their machine is wiped, and get ready again when it comes back', async () => {
    await using given = await world();
    const { workloads, cluster } = given;
    await cluster.join(WORKER);
    const { metadata } = await cluster.client.get(Node, { name: 'host-2' });
    await cluster.join(WORKER);
    const same = await cluster.client.get(Node, { name: 'host-2' });
    assert.equal(same.metadata.resourceVersion, metadata.resourceVersion, 'the same node again changes nothing');
    await workloads.leave('h-2');
    await workloads.leave('h-2');
    await workloads.leave('unknown');
    assert.equal(readyOf(await cluster.client.get(Node, { name: 'host-2' })), 'Unknown');
    await cluster.join(WORKER);
    assert.equal(readyOf(await cluster.client.get(Node, { name: 'host-2' })), 'True');
    await cluster.client.delete(Node, { name: 'host-2' });
    await cluster.leave('h-2');
    assert.equal(await cluster.client.find(Node, { name: 'host-2' }), undefined);
  });
});

describe('the ClusterVersion of a cluster in this process', () => {
  it('agent/S24: is being installed until whoever installs says that it is done', async () => {
    await using given = await world();
    const { env, cluster } = given;
    const { client } = cluster;
    await env.advance(120 * MINUTE_MS);
    assert.deepEqual(await historyOf(client), ['Partial 4.20.1']);
    assert.equal(await conditionOf(client, 'Progressing'), 'True Working towards 4.20.1');
    assert.equal(await conditionOf(client, 'Available'), 'False ');
    await cluster.installCompleted();
    assert.deepEqual(await historyOf(client), ['Completed 4.20.1 ended']);
    assert.equal(await conditionOf(client, 'Progressing'), 'False Cluster version is 4.20.1');
    assert.equal(await conditionOf(client, 'Available'), 'True Done applying 4.20.1');
    const { metadata } = await versionOf(client);
    await cluster.installCompleted();
    assert.equal((await versionOf(client)).metadata.resourceVersion, metadata.resourceVersion);
  });

  it('agent/S25: works towards the version that is asked for, and gets there', async () => {
    await using given = await world();
    const { env, cluster } = given;
    const { client } = cluster;
    await update(client, { version: '4.20.9' });
    await env.advance(60 * MINUTE_MS);
    assert.deepEqual(await historyOf(client), ['Partial 4.20.1'], 'not during the installation');
    await cluster.installCompleted();
    await env.advance(1000);
    assert.deepEqual(await historyOf(client), ['Partial 4.20.9', 'Completed 4.20.1 ended']);
    assert.equal((await versionOf(client)).status?.desired?.version, '4.20.9');
    assert.equal(await conditionOf(client, 'Progressing'), 'True Working towards 4.20.9');
    assert.equal(await conditionOf(client, 'Available'), 'True Done applying 4.20.1');
    await env.advance(11 * MINUTE_MS);
    assert.deepEqual(await historyOf(client), ['Completed 4.20.9 ended', 'Completed 4.20.1 ended']);
    assert.equal(await conditionOf(client, 'Available'), 'True Done applying 4.20.9');
    const { metadata } = await versionOf(client);
    await env.advance(120 * MINUTE_MS);
    assert.equal((await versionOf(client)).metadata.resourceVersion, metadata.resourceVersion, 'it rests');
  });

  it('agent/S25: finds out the version of an image, and keeps on asking for one that nobody has', async () => {
    const images = new Map<string, string>();
    await using given = await world({ versionOfImage: async (image) => images.get(image), updateMs: MINUTE_MS });
    const { env, cluster } = given;
    const { client } = cluster;
    await cluster.installCompleted();
    await update(client, { image: 'registry.example/release@sha256:1', force: true });
    await env.advance(10 * MINUTE_MS);
    assert.deepEqual(await historyOf(client), ['Completed 4.20.1 ended']);
    assert.equal(
      await conditionOf(client, 'ReleaseAccepted'),
      'False Retrieving payload failed image="registry.example/release@sha256:1" failure=nobody has this image',
    );
    images.set('registry.example/release@sha256:1', '4.21.0-rc.1');
    await env.advance(3 * MINUTE_MS);
    assert.deepEqual(await historyOf(client), ['Completed 4.21.0-rc.1 ended', 'Completed 4.20.1 ended']);
    assert.match(await conditionOf(client, 'ReleaseAccepted'), /^True Payload loaded version="4\.21\.0-rc\.1"/);
  });

  it('agent/S25: asks a registry that comes later', async () => {
    await using given = await world({ updateMs: MINUTE_MS });
    const { env, workloads, cluster } = given;
    await cluster.installCompleted();
    const registry = workloads.useReleases(() => Promise.resolve('4.20.8'));
    await update(cluster.client, { image: 'registry.example/release@sha256:1', force: true });
    await env.advance(2 * MINUTE_MS);
    registry[Symbol.dispose]();
    await update(cluster.client, { image: 'registry.example/release:4.20.9-x86_64', force: true });
    await env.advance(2 * MINUTE_MS);
    assert.deepEqual((await historyOf(cluster.client)).slice(0, 2), [
      'Completed 4.20.9 ended',
      'Completed 4.20.8 ended',
    ]);
  });

  it('agent/S25: leaves an update unfinished when another one is asked for', async () => {
    await using given = await world();
    const { env, cluster } = given;
    await cluster.installCompleted();
    await update(cluster.client, { version: '4.20.9' });
    await env.advance(MINUTE_MS);
    await update(cluster.client, { version: '4.20.10' });
    await env.advance(11 * MINUTE_MS);
    assert.deepEqual(await historyOf(cluster.client), [
      'Completed 4.20.10 ended',
      'Partial 4.20.9 ended',
      'Completed 4.20.1 ended',
    ]);
  });

  it('agent/S25: fails when it is told to, and tries again when it is asked anew', async () => {
    await using given = await world();
    const { env, cluster } = given;
    const { client } = cluster;
    await cluster.installCompleted();
    const annotate = (why: string | null) =>
      client.patch(
        ClusterVersion,
        { name: 'version' },
        { type: 'merge', body: { metadata: { annotations: { [FAIL_UPDATE]: why } } } },
      );
    await annotate('etcd is not happy');
    await update(client, { version: '4.20.9' });
    await env.advance(11 * MINUTE_MS);
    assert.deepEqual(await historyOf(client), ['Partial 4.20.9 ended', 'Completed 4.20.1 ended']);
    assert.equal(
      await conditionOf(client, 'Progressing'),
      'False Error while reconciling 4.20.9: etcd is not happy',
    );
    assert.equal(await conditionOf(client, 'Failing'), 'True etcd is not happy');
    await annotate(null);
    await env.advance(60 * MINUTE_MS);
    assert.deepEqual((await historyOf(client))[0], 'Partial 4.20.9 ended');
    await update(client, { version: '4.20.9', force: true });
    await env.advance(11 * MINUTE_MS);
    assert.deepEqual((await historyOf(client))[0], 'Completed 4.20.9 ended');
    assert.equal(await conditionOf(client, 'Failing'), 'False ');
  });
});
