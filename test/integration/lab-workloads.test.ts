import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { Node, Pod } from '../../src/api/generated/core-v1.ts';
import { ClusterVersion, Infrastructure } from '../../src/api/openshift/config-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { INSTANCES } from '../../src/lab/cloud/instances/instance-fields.ts';
import { type Lab, startLab } from '../../src/lab/index.ts';
import { hardwareId } from '../../src/lab/machine/hardware-id.ts';
import type { WorkloadNode, WorkloadWish } from '../../src/lab/metal/workload/workload-clusters.ts';
import { adminClient } from '../support/admin-client.ts';

const KEY = { namespace: 'clusters', name: 'prod' };
const WISH: WorkloadWish = {
  version: '4.20.1',
  platform: 'None',
  hasExternalCloudProvider: false,
  baseDomain: 'example.com',
  clusterName: 'prod',
  infraId: 'prod-x7k2p',
};
const host = (name: string, role: WorkloadNode['role'] = 'worker'): WorkloadNode => ({
  name,
  role,
  labels: { 'metal3.io/uuid': `uuid-${name}` },
  hostId: `id-of-${name}`,
  architecture: 'amd64',
});
const POD = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default' },
  spec: { containers: [{ name: 'c', image: 'nobody/knows' }] },
});

async function namesIn(client: KubeClient): Promise<readonly string[]> {
  return (await client.list(Node)).items.map(({ metadata }) => metadata.name);
}

/** Somebody outside of this process, who has nothing but the text of a kubeconfig. */
async function outsider(parts: AsyncDisposableStack, kubeconfig: string): Promise<KubeClient> {
  const folder = mkdtempSync(join(tmpdir(), 'workloads-'));
  parts.defer(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'kubeconfig');
  writeFileSync(file, kubeconfig, { mode: 0o600 });
  return await adminClient(parts, file);
}

const readyOf = async (client: KubeClient, name: string): Promise<string | undefined> =>
  (await client.get(Node, { name })).status?.conditions?.find(({ type }) => type === 'Ready')?.status;

async function booted(lab: Lab, name: string): Promise<string> {
  const { token } = lab.cloud.issueToken('lab-provider');
  const userData = Buffer.from('{"ignition":{"version":"3.2.0"}}').toString('base64');
  const body = JSON.stringify({ name, type: 'lab.small', zone: 'a', userData });
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${lab.cloud.url}/v1/instances`, { method: 'POST', headers, body });
  const { id } = (await response.json()) as { readonly id: string };
  await lab.until(() => lab.cloud.state.get(INSTANCES, id)?.state === 'running', { within: '1m' });
  await lab.settle();
  return id;
}

async function ordered(lab: Lab, id: string, order: 'stop' | 'start' | 'terminate'): Promise<void> {
  const headers = { authorization: `Bearer ${lab.cloud.issueToken('lab-provider').token}` };
  const place = `${lab.cloud.url}/v1/instances/${id}`;
  const response = await (order === 'terminate'
    ? fetch(place, { method: 'DELETE', headers })
    : fetch(`${place}/actions`, { method: 'POST', headers, body: JSON.stringify({ action: order }) }));
  assert.ok(response.ok, `${order} ${id}: ${response.status} ${await response.text()}`);
}

describe('a cluster that is installed while the lab runs', () => {
  it('agent/S20: has an API server that its kubeconfig leads to, and is gone when it is removed', async () => {
    await using lab = await startLab({ clusters: [{ name: 'hub' }], metal: true, clock: 'auto' });
    await using parts = new AsyncDisposableStack();
    const { workloads } = lab;
    const [cluster, same] = await Promise.all([workloads.ensure(KEY, WISH), workloads.ensure(KEY, WISH)]);
    assert.equal(same, cluster);
    const client = await outsider(parts, cluster.kubeconfig);
    const { status } = await client.get(Infrastructure, { name: 'cluster' });
    assert.equal(status?.infrastructureName, 'prod-x7k2p');
    assert.equal(workloads.byKubeconfig(cluster.kubeconfig), cluster);
    const other = await workloads.ensure({ ...KEY, namespace: 'others' }, { ...WISH, infraId: 'prod-2' });
    assert.equal(lab.cluster('others-prod').client, other.client);
    const before = readdirSync(lab.directory);
    assert.ok(before.includes('prod.kubeconfig'));
    await workloads.remove(KEY);
    await workloads.remove(KEY);
    assert.deepEqual(
      before.filter((name) => !readdirSync(lab.directory).includes(name)),
      ['prod.kubeconfig'],
    );
    assert.throws(() => lab.cluster('prod'), { reason: 'UnknownCluster' });
    await assert.rejects(client.list(Node), { reason: 'NetworkError' });
    await assert.rejects(workloads.connect(cluster.kubeconfig), { reason: 'NetworkError' });
    assert.ok(await workloads.ensure(KEY, WISH));
  });

  it('agent/S21: has nodes that run pods, and lose them with their machine', async () => {
    await using lab = await startLab({ clusters: [{ name: 'hub' }], metal: true, clock: 'auto' });
    await using parts = new AsyncDisposableStack();
    const cluster = await lab.workloads.ensure(KEY, WISH);
    await cluster.join(host('cp', 'control-plane'));
    await cluster.join(host('w'));
    await cluster.join(host('w'));
    const client = await outsider(parts, cluster.kubeconfig);
    assert.deepEqual(await namesIn(client), ['cp', 'w']);
    const node = await client.get(Node, { name: 'w' });
    assert.equal(node.metadata.labels?.['metal3.io/uuid'], 'uuid-w');
    assert.equal(node.metadata.labels?.['node-role.kubernetes.io/worker'], '');
    assert.equal(node.status?.nodeInfo?.kubeletVersion, 'v1.33.0+slipway');
    assert.equal(node.status?.nodeInfo?.systemUUID, 'id-of-w');
    await assert.rejects(cluster.join({ ...host('w'), hostId: 'another' }), { reason: 'NodeNameTaken' });
    await lab.cluster('prod').apply(POD);
    const pod = async () => await client.get(Pod, { namespace: 'default', name: 'p' });
    await lab.until(async () => (await pod()).status?.phase === 'Running', { within: '1m' });
    assert.equal((await pod()).spec.nodeName, 'w', 'the other one is for the control plane');
    await lab.workloads.leave('id-of-w');
    await lab.workloads.leave('id-of-w');
    await lab.until(async () => (await readyOf(client, 'w')) === 'Unknown', { within: '5m' });
    await lab.until(async () => (await pod()).metadata.deletionTimestamp !== undefined, { within: '30m' });
    await client.delete(Node, { name: 'w' });
    await lab.until(async () => (await client.find(Pod, { namespace: 'default', name: 'p' })) === undefined, {
      within: '5m',
    });
    await cluster.join(host('w'));
    await lab.until(async () => (await readyOf(client, 'w')) === 'True', { within: '1m' });
  });

  it('agent/S24: becomes what its ClusterVersion is asked for, on the time of the lab', async () => {
    await using lab = await startLab({ clusters: [{ name: 'hub' }], metal: { updateMs: 60_000 }, clock: 'auto' });
    const cluster = await lab.workloads.ensure(KEY, WISH);
    const client = await lab.workloads.connect(cluster.kubeconfig);
    await cluster.installCompleted();
    const body = { spec: { desiredUpdate: { version: '4.20.7' } } };
    await client.patch(ClusterVersion, { name: 'version' }, { type: 'merge', body });
    const newest = async () => (await client.get(ClusterVersion, { name: 'version' })).status?.history?.[0];
    await lab.until(async () => (await newest())?.version === '4.20.7', { within: '30s' });
    assert.equal((await newest())?.state, 'Partial');
    const killed = lab.crashAfter({ component: 'clusterVersion', write: 1, cluster: 'prod' });
    await lab.clock.advance('2m');
    await killed;
    assert.equal((await newest())?.state, 'Completed');
  });

  it('lab/B2: is part of what the lab explains, kills and waits for', async () => {
    await using lab = await startLab({ clusters: [{ name: 'hub' }], metal: true, clock: 'auto' });
    const cluster = await lab.workloads.ensure(KEY, WISH);
    await cluster.join(host('w'));
    await lab.cluster('prod').apply(POD.replace('"nobody/knows"', '"i","resources":{"requests":{"cpu":"99"}}'));
    const about = [await cluster.client.get(Pod, { namespace: 'default', name: 'p' })];
    await assert.rejects(
      lab.until(() => ({ isDone: false, about, waitedFor: 'the pod runs' }), { within: '10s' }),
      /0\/1 nodes are available: 1 Insufficient cpu/,
    );
    const killed = lab.crashAfter({ component: 'node/w', write: 1, cluster: 'prod' });
    await lab.clock.advance('1m');
    await killed;
    await lab.cluster('prod').node('w').powerOff();
    await lab.until(async () => (await readyOf(cluster.client, 'w')) === 'Unknown', { within: '5m' });
    await lab.clock.runUntilIdle({ max: '30m' });
  });

  it('is there again when the lab starts again with its data, and with it its nodes and pods', async () => {
    const data = mkdtempSync(join(tmpdir(), 'lab-data-'));
    try {
      const options = { clusters: [{ name: 'hub' }], metal: true, clock: 'auto', data } as const;
      let kubeconfig = '';
      {
        await using lab = await startLab(options);
        const cluster = await lab.workloads.ensure(KEY, WISH);
        ({ kubeconfig } = cluster);
        await lab.workloads.ensure({ ...KEY, name: 'gone' }, WISH);
        await cluster.join(host('w'));
        await cluster.join(host('left'));
        await cluster.leave('id-of-left');
        await cluster.installCompleted();
        // Nobody knows yet that the other one is gone.
        const selector = '"spec":{"nodeSelector":{"kubernetes.io/hostname":"w"},';
        await lab.cluster('prod').apply(POD.replace('"spec":{', selector));
        await lab.workloads.remove({ ...KEY, name: 'gone' });
      }
      await using lab = await startLab(options);
      await using parts = new AsyncDisposableStack();
      const cluster = lab.workloads.find(KEY);
      assert.ok(cluster !== undefined);
      assert.equal(cluster.kubeconfig, kubeconfig);
      assert.equal(await lab.workloads.ensure(KEY, WISH), cluster);
      assert.equal(lab.workloads.find({ ...KEY, name: 'gone' }), undefined);
      const client = await outsider(parts, kubeconfig);
      assert.deepEqual(await namesIn(client), ['left', 'w']);
      assert.equal(lab.cluster('prod').client, cluster.client);
      const { status } = await client.get(ClusterVersion, { name: 'version' });
      assert.deepEqual(
        status?.history?.map(({ state }) => state),
        ['Completed'],
      );
      const isRunning = async () =>
        (await client.find(Pod, { namespace: 'default', name: 'p' }))?.status?.phase === 'Running';
      await lab.until(isRunning, { within: '5m' });
      await lab.until(async () => (await readyOf(client, 'w')) === 'True', { within: '5m' });
      await cluster.leave('id-of-w');
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });

  it('agent/S21: has instances of the cloud as nodes, which go and come with their power', async () => {
    const data = mkdtempSync(join(tmpdir(), 'lab-data-'));
    const options = { clusters: [{ name: 'hub' }], metal: true, cloud: true, clock: 'auto', data } as const;
    const wish = { ...WISH, platform: 'External', hasExternalCloudProvider: true } as const;
    try {
      let id = '';
      {
        await using lab = await startLab(options);
        id = await booted(lab, 'w-1');
        const cluster = await lab.workloads.ensure(KEY, wish);
        const { hostname = '', privateAddress } = lab.cloud.state.get(INSTANCES, id)?.fields ?? {};
        await cluster.join({ ...host(hostname), hostId: hardwareId(id) });
        const { spec } = await cluster.client.get(Node, { name: hostname });
        assert.ok(spec.taints?.some(({ key }) => key === 'node.cloudprovider.kubernetes.io/uninitialized'));
        assert.equal(spec.providerID, undefined, 'left to the cloud controller manager');
        const { privateAddress: other } = lab.cloud.state.get(INSTANCES, await booted(lab, 'w-2'))?.fields ?? {};
        assert.notEqual(other, privateAddress);
        await ordered(lab, id, 'stop');
        await lab.until(async () => (await readyOf(cluster.client, hostname)) === 'Unknown', { within: '5m' });
        await ordered(lab, id, 'start');
        await lab.until(async () => (await readyOf(cluster.client, hostname)) === 'True', { within: '5m' });
      }
      await using lab = await startLab(options);
      const { client } = await lab.workloads.ensure(KEY, wish);
      const [name = ''] = await namesIn(client);
      await lab.until(async () => (await readyOf(client, name)) === 'True', { within: '5m' });
      await ordered(lab, id, 'terminate');
      await lab.until(async () => (await readyOf(client, name)) === 'Unknown', { within: '5m' });
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });

  it('is none of a lab that was started without machines', async () => {
    await using lab = await startLab({ clock: 'auto' });
    assert.throws(() => lab.workloads, { reason: 'NoMetal', message: /metal: true/ });
    assert.ok(!existsSync(join(lab.directory, 'workloads.json')));
  });
});
