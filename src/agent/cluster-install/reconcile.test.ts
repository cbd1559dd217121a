import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ControlPlaneWorld,
  getControlPlane,
  NAMESPACE,
  prepare,
  setInstall,
  shownCondition,
  startWorld,
} from '../../../test/support/agent-control-plane-world.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { Secret } from '../../api/generated/core-v1.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { PrometheusMetrics } from '../../kube/metrics/metrics.ts';
import type { RecordedRequest } from '../../testing/recorder.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const SOURCE = { namespace: NAMESPACE, name: 'ocp-cp-admin-kubeconfig' };
const PUBLISHED = { namespace: NAMESPACE, name: 'ocp-kubeconfig' };
const METADATA = {
  clusterMetadata: { clusterID: 'c', infraID: 'i', adminKubeconfigSecretRef: { name: SOURCE.name } },
};
const shown = async ({ client }: ControlPlaneWorld, type: string) =>
  shownCondition(await getControlPlane(client), type);

const putSource = ({ client }: ControlPlaneWorld, data: Readonly<Record<string, string>>) =>
  client.create(Secret, { metadata: SOURCE, data });

async function installing(world: ControlPlaneWorld): Promise<void> {
  await prepare(world.client, { spec: { replicas: 0 } });
  await world.env.settle();
}

describe('how far an installation is', () => {
  for (const { state, want } of [
    { state: 'insufficient', want: 'False/ControlPlaneInstalling: Controlplane installing, status: insufficient' },
    { state: 'installing', want: 'False/ControlPlaneInstalling: Controlplane installing, status: installing' },
    { state: 'finalizing', want: 'True/Available' },
    { state: 'installed', want: 'True/Available' },
    { state: 'adding-hosts', want: 'True/Available' },
  ])
    it(`agent/K6, agent/X25: ${state}`, async () => {
      await using world = await startWorld();
      await installing(world);
      await setInstall(world.client, { debugInfo: { state } });
      await world.env.settle();
      assert.equal(await shown(world, 'Available'), want);
      const { status } = await getControlPlane(world.client);
      assert.equal(status?.initialization?.controlPlaneInitialized, want.startsWith('True') ? true : undefined);
    });

  for (const { state, want } of [
    {
      state: 'error',
      want: /^False\/InstallationFailed: the installation failed: host-1 failed; cluster has hosts in error; look at/,
    },
    {
      state: 'cancelled',
      want: /^False\/InstallationCancelled: the installation was cancelled: host-1 failed; cluster has/,
    },
  ])
    it(`agent/K6: ${state} tells the cause`, async () => {
      await using world = await startWorld();
      await installing(world);
      const conditions = [
        { type: 'Failed', status: 'True', reason: 'InstallationFailed', message: 'host-1 failed' },
      ] as const;
      await setInstall(world.client, {
        conditions,
        debugInfo: { state, stateInfo: 'cluster has hosts in error' },
      });
      await world.env.settle();
      assert.match((await shown(world, 'Available')) ?? '', want);
    });

  it('agent/K6: a control plane that was initialized stays so', async () => {
    await using world = await startWorld();
    await installing(world);
    await setInstall(world.client, { debugInfo: { state: 'finalizing' } });
    await world.env.settle();
    await setInstall(world.client, { debugInfo: { state: 'error' } });
    await world.env.settle();
    const { status } = await getControlPlane(world.client);
    assert.equal(status?.initialization?.controlPlaneInitialized, true);
  });

  it('counts how long it took, once', async () => {
    const metrics = new PrometheusMetrics();
    await using world = await startWorld({ controllers: { metrics } });
    await installing(world);
    await setInstall(world.client, { debugInfo: { state: 'installing' } });
    await world.env.advance(1_000_000);
    for (const state of ['finalizing', 'installed', 'adding-hosts']) {
      await setInstall(world.client, { debugInfo: { state } });
      await world.env.settle();
    }
    const text = await metrics.text();
    assert.match(text, /openshift_assisted_install_duration_seconds_count 1\n/);
    assert.match(text, /openshift_assisted_install_duration_seconds_sum 1000\n/);
    assert.match(text, /openshift_assisted_control_plane_machine_phase{phase="Running"} 0\n/);
  });

  it('agent/K1, agent/X12: an AgentClusterInstall of somebody else is nothing to care about', async () => {
    await using world = await startWorld();
    await prepare(world.client, { spec: { replicas: 0 } });
    await world.client.create(AgentClusterInstall, {
      apiVersion: 'extensions.hive.openshift.io/v1beta1',
      kind: 'AgentClusterInstall',
      metadata: { namespace: NAMESPACE, name: 'theirs' },
      spec: {
        clusterDeploymentRef: { name: 'theirs' },
        networking: {},
        provisionRequirements: { controlPlaneAgents: 3 },
      },
    });
    await world.env.advance(60_000);
    const { status, metadata } = await world.client.live.get(AgentClusterInstall, {
      namespace: NAMESPACE,
      name: 'theirs',
    });
    assert.deepEqual([status, metadata.labels], [undefined, undefined]);
  });
});

describe('the kubeconfig of a workload cluster', () => {
  it('agent/K2: is not there while assisted-service names none', async () => {
    await using world = await startWorld();
    await installing(world);
    assert.equal(
      await shown(world, 'KubeconfigAvailable'),
      'False/KubeconfigUnavailable: Kubeconfig not available',
    );
  });

  it('agent/K4, agent/K5: is published where core looks for it', async () => {
    await using world = await startWorld();
    await installing(world);
    await putSource(world, { kubeconfig: base64('no ingress') });
    await setInstall(world.client, { debugInfo: { state: 'installing' } }, METADATA);
    await world.env.settle();
    const { type, data, metadata } = await world.client.live.get(Secret, PUBLISHED);
    assert.deepEqual([type, data], ['cluster.x-k8s.io/secret', { value: base64('no ingress') }]);
    assert.deepEqual(metadata.labels, { 'cluster.x-k8s.io/cluster-name': 'ocp' });
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, controller }) => [kind, controller]),
      [['OpenshiftAssistedControlPlane', true]],
    );
    const source = await world.client.live.get(Secret, SOURCE);
    assert.deepEqual(source.metadata.labels, { 'cluster.x-k8s.io/cluster-name': 'ocp' }, 'agent/K3');
    const object = await getControlPlane(world.client);
    assert.equal(shownCondition(object, 'KubeconfigAvailable'), 'True/KubeconfigAvailable');
    assert.equal(object.status?.initialization?.controlPlaneInitialized, true);
  });

  it('agent/X21: follows the source, with the next event or after a while', async () => {
    await using world = await startWorld();
    await installing(world);
    await putSource(world, { kubeconfig: base64('one') });
    await setInstall(world.client, { debugInfo: { state: 'installing' } }, METADATA);
    await world.env.settle();
    const value = async () => (await world.client.live.get(Secret, PUBLISHED)).data?.['value'];
    const write = (text: string) =>
      world.client.patch(Secret, SOURCE, { type: 'merge', body: { data: { kubeconfig: base64(text) } } });
    await write('two');
    await setInstall(world.client, { debugInfo: { state: 'adding-hosts' } });
    await world.env.settle();
    assert.equal(await value(), base64('two'));
    await write('three');
    await world.env.advance(610_000);
    assert.equal(await value(), base64('three'));
  });

  it('agent/X21: reads no Secret again while the installation only tells of its progress', async () => {
    await using world = await startWorld();
    await installing(world);
    await putSource(world, { kubeconfig: base64('one') });
    await setInstall(world.client, { debugInfo: { state: 'installing' } }, METADATA);
    await world.env.settle();
    const isRead = ({ method, target }: RecordedRequest) =>
      method === 'GET' && target.includes(`/secrets/${SOURCE.name}`);
    const reads = () => world.env.recorder.requests.filter(isRead).length;
    const before = reads();
    for (const stateInfo of ['10 %', '50 %', '90 %']) {
      await setInstall(world.client, { debugInfo: { state: 'installing', stateInfo } });
      await world.env.settle();
    }
    assert.equal(reads(), before);
    await setInstall(world.client, { debugInfo: { state: 'finalizing' } });
    await world.env.settle();
    assert.equal(reads(), before + 1);
  });

  it('agent/K4: makes the Secret anew that somebody deleted, after a while', async () => {
    await using world = await startWorld();
    await installing(world);
    await putSource(world, { kubeconfig: base64('one') });
    await setInstall(world.client, { debugInfo: { state: 'adding-hosts' } }, METADATA);
    await world.env.settle();
    await world.client.delete(Secret, PUBLISHED);
    await world.env.advance(300_000);
    await setInstall(world.client, { debugInfo: { state: 'adding-hosts', stateInfo: 'more' } });
    await world.env.advance(310_000);
    assert.equal((await world.client.live.get(Secret, PUBLISHED)).data?.['value'], base64('one'));
  });

  it('agent/X21: one that somebody else made is left alone', async () => {
    await using world = await startWorld();
    await installing(world);
    await world.client.create(Secret, { metadata: PUBLISHED, data: { value: base64('mine') } });
    await putSource(world, { kubeconfig: base64('theirs') });
    await setInstall(world.client, { debugInfo: { state: 'installing' } }, METADATA);
    await world.env.settle();
    assert.equal((await world.client.live.get(Secret, PUBLISHED)).data?.['value'], base64('mine'));
    assert.equal(await shown(world, 'KubeconfigAvailable'), 'True/KubeconfigAvailable');
  });

  it('agent/K3: stays available while the server only stumbles', async () => {
    await using world = await startWorld({ server: { log: SILENT_LOG } });
    await installing(world);
    await putSource(world, { kubeconfig: base64('k') });
    await setInstall(world.client, { debugInfo: { state: 'installing' } }, METADATA);
    await world.env.settle();
    const fault = { kind: 'refuse', status: 503, reason: 'ServiceUnavailable' } as const;
    using _fault = world.env.faults.arm({ matches: ({ target }) => target.includes('/secrets/'), fault });
    await setInstall(world.client, { debugInfo: { state: 'finalizing' } });
    await world.env.advance(30_000);
    assert.equal(await shown(world, 'KubeconfigAvailable'), 'True/KubeconfigAvailable');
    assert.equal(await shown(world, 'Available'), 'True/Available');
  });

  for (const { what, data, want } of [
    {
      what: 'does not exist',
      data: undefined,
      want: 'error retrieving Kubeconfig: Secret ocp-cp-admin-kubeconfig does not exist',
    },
    {
      what: 'has no kubeconfig',
      data: {},
      want: 'error creating Kubeconfig secret: Secret ocp-cp-admin-kubeconfig has no key kubeconfig',
    },
  ])
    it(`agent/K3: a source that ${what} is told`, async () => {
      await using world = await startWorld({ server: { log: SILENT_LOG } });
      await installing(world);
      if (data !== undefined) await putSource(world, data);
      await setInstall(world.client, { debugInfo: { state: 'installing' } }, METADATA);
      await world.env.settle();
      assert.equal(await shown(world, 'KubeconfigAvailable'), `False/KubeconfigUnavailable: ${want}`);
      assert.equal(
        await shown(world, 'Available'),
        'False/ControlPlaneInstalling: Controlplane installing, status: installing',
      );
      await world.client.delete(Secret, SOURCE);
      await putSource(world, { kubeconfig: base64('late') });
      await world.env.advance(60_000);
      assert.equal(await shown(world, 'KubeconfigAvailable'), 'True/KubeconfigAvailable');
    });
});
