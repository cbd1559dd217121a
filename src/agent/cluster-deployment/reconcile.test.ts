import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type ControlPlaneInput,
  type ControlPlaneWorld,
  cpKey,
  getControlPlane,
  NAMESPACE,
  prepare,
  setInstall,
  shownCondition,
  startWorld,
} from '../../../test/support/agent-control-plane-world.ts';
import { OpenshiftAssistedControlPlane } from '../../api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../api/assisted/hive-extensions-v1beta1.ts';
import { MachineDeployment } from '../../api/cluster-api/core-v1beta2.ts';
import { ConfigMap } from '../../api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../api/hive/hive-v1.ts';
import type { JsonObject } from '../../api/json.ts';
import { type Log, SILENT_LOG } from '../../base/log.ts';
import { expectNoWrites } from '../../testing/recorder.ts';

const getInstall = ({ client }: ControlPlaneWorld, key = cpKey) => client.live.get(AgentClusterInstall, key);
const shown = async ({ client }: ControlPlaneWorld, type = 'ClusterInstallConfigured') =>
  shownCondition(await getControlPlane(client), type);
const change = ({ client }: ControlPlaneWorld, body: JsonObject, key = cpKey) =>
  client.patch(OpenshiftAssistedControlPlane, key, { type: 'merge', body });
const completed = (reason: string) => ({
  conditions: [{ type: 'Completed', status: 'False', reason, message: '' }] as const,
  debugInfo: { state: 'installing' },
});

async function installed(world: ControlPlaneWorld, input: ControlPlaneInput = {}): Promise<AgentClusterInstall> {
  await prepare(world.client, input);
  await world.env.settle();
  return getInstall(world);
}

const workers = (
  name: string,
  replicas: number | undefined,
  namespace = NAMESPACE,
  cluster = 'ocp',
): MachineDeployment => ({
  apiVersion: 'cluster.x-k8s.io/v1beta2',
  kind: 'MachineDeployment',
  metadata: { namespace, name, labels: { 'cluster.x-k8s.io/cluster-name': cluster } },
  spec: {
    clusterName: cluster,
    ...(replicas !== undefined && { replicas }),
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: {
        clusterName: cluster,
        bootstrap: { dataSecretName: 'x' },
        infrastructureRef: {
          apiGroup: 'infrastructure.cluster.x-k8s.io',
          kind: 'Metal3MachineTemplate',
          name: 'workers',
        },
      },
    },
  },
});

describe('what assisted-service is asked to install', () => {
  it('agent/D5: an AgentClusterInstall from the control plane and its Cluster', async () => {
    await using world = await startWorld();
    const config = {
      baseDomain: 'example.com',
      pullSecretRef: { name: 'pull' },
      apiVIPs: ['192.0.2.1'],
      ingressVIPs: ['192.0.2.2'],
      sshAuthorizedKey: 'ssh-ed25519 A',
      mastersSchedulable: true,
      proxy: { httpProxy: 'http://proxy.example' },
      diskEncryption: { enableOn: 'all', mode: 'tpmv2' as const },
      manifestsConfigMapRefs: [{ name: 'extra' }],
    };
    const { metadata, spec } = await installed(world, { spec: { config } });
    assert.deepEqual(metadata.labels, {
      'cluster.x-k8s.io/cluster-name': 'ocp',
      'cluster.x-k8s.io/control-plane': '',
      'cluster.x-k8s.io/control-plane-name': 'ocp-cp',
      'agentclusterinstalls.agent-install.openshift.io/consumer': 'OpenshiftAssistedControlPlane',
    });
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name }) => [kind, name]),
      [['OpenshiftAssistedControlPlane', 'ocp-cp']],
    );
    assert.deepEqual(spec, {
      clusterDeploymentRef: { name: 'ocp-cp' },
      imageSetRef: { name: 'ocp-cp' },
      provisionRequirements: { controlPlaneAgents: 3, workerAgents: 0 },
      platformType: 'BareMetal',
      apiVIPs: ['192.0.2.1'],
      ingressVIPs: ['192.0.2.2'],
      sshPublicKey: 'ssh-ed25519 A',
      mastersSchedulable: true,
      proxy: { httpProxy: 'http://proxy.example' },
      diskEncryption: { enableOn: 'all', mode: 'tpmv2' },
      manifestsConfigMapRefs: [{ name: 'extra' }],
      networking: {
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
      },
    });
    assert.match(
      metadata.annotations?.['agent-install.openshift.io/install-config-overrides'] ?? '',
      /^{"capabilities":{"baselineCapabilitySet":"None"/,
    );
    assert.equal(await shown(world), 'True/ClusterInstallConfigured');
  });

  it('agent/D6: platform External with its name and its cloud controller manager', async () => {
    await using world = await startWorld();
    const annotations = {
      'controlplane.cluster.x-k8s.io/platform': 'External',
      'controlplane.cluster.x-k8s.io/platform-name': 'acme',
      'controlplane.cluster.x-k8s.io/cloud-controller-manager': 'External',
    };
    const { spec } = await installed(world, { metadata: { annotations } });
    assert.equal(spec?.platformType, 'External');
    assert.deepEqual(spec?.external, { platformName: 'acme', cloudControllerManager: 'External' });
  });

  it('agent/D6: a wrong annotation is told, and nothing is written', async () => {
    await using world = await startWorld();
    await prepare(world.client, {
      metadata: { annotations: { 'controlplane.cluster.x-k8s.io/platform': 'AWS' } },
    });
    await world.env.settle();
    assert.equal(
      await shown(world),
      'False/InvalidPlatform: annotation controlplane.cluster.x-k8s.io/platform is "AWS"; allowed is External',
    );
    assert.equal(await world.client.live.find(AgentClusterInstall, cpKey), undefined);
    await change(world, { metadata: { annotations: { 'controlplane.cluster.x-k8s.io/platform': null } } });
    await world.env.settle();
    assert.equal(await shown(world), 'True/ClusterInstallConfigured');
  });

  it('agent/D9: a wrong baseline is told, and nothing is written', async () => {
    await using world = await startWorld();
    const config = {
      baseDomain: 'd',
      pullSecretRef: { name: 'pull' },
      capabilities: { baselineCapability: 'xv4.1' },
    };
    await prepare(world.client, { spec: { config } });
    await world.env.settle();
    assert.equal(
      await shown(world),
      'False/InvalidCapabilities: invalid baseline capability set, must be one of: None, vCurrent, or v4.x. Got: [xv4.1]',
    );
    assert.equal(await world.client.live.find(AgentClusterInstall, cpKey), undefined);
  });

  it('agent/D5: what others write to it stays, and what users take back goes', async () => {
    await using world = await startWorld();
    const config = { baseDomain: 'd', pullSecretRef: { name: 'pull' }, sshAuthorizedKey: 'k' };
    await installed(world, { spec: { config } });
    const body = {
      metadata: { labels: { theirs: 'yes' }, finalizers: ['example.com/held'] },
      spec: { holdInstallation: true, networking: { machineNetwork: [{ cidr: '192.0.2.0/24' }] } },
    };
    await world.client.patch(AgentClusterInstall, cpKey, { type: 'merge', body });
    await change(world, { spec: { replicas: 1, config: { sshAuthorizedKey: null } } });
    await world.env.settle();
    const { metadata, spec } = await getInstall(world);
    assert.equal(metadata.labels?.['theirs'], 'yes');
    assert.deepEqual(metadata.finalizers, ['example.com/held']);
    assert.equal(spec?.holdInstallation, true);
    assert.deepEqual(spec?.networking?.machineNetwork, [{ cidr: '192.0.2.0/24' }]);
    assert.equal(spec?.sshPublicKey, undefined);
    assert.equal(spec?.provisionRequirements?.controlPlaneAgents, 1);
    await world.client.patch(AgentClusterInstall, cpKey, {
      type: 'merge',
      body: { metadata: { finalizers: null } },
    });
  });

  it('agent/X20, agent/X4: workers are those of the MachineDeployments of this cluster and namespace', async () => {
    await using world = await startWorld();
    await installed(world);
    await world.client.create(MachineDeployment, workers('two', 2));
    await world.client.create(MachineDeployment, workers('unsaid', undefined));
    await world.client.create(MachineDeployment, workers('elsewhere', 7, NAMESPACE, 'another'));
    await prepare(world.client, { namespace: 'other', spec: { replicas: 1 } });
    await world.client.create(MachineDeployment, workers('two', 5, 'other'));
    await world.env.settle();
    assert.deepEqual((await getInstall(world)).spec?.provisionRequirements, {
      controlPlaneAgents: 3,
      workerAgents: 3,
    });
    const other = await getInstall(world, { ...cpKey, namespace: 'other' });
    assert.deepEqual(other.spec?.provisionRequirements, { controlPlaneAgents: 1, workerAgents: 5 });
  });

  it('agent/X20: nothing is changed while the installation goes on, and the numbers follow when it ended', async () => {
    await using world = await startWorld();
    await installed(world);
    await setInstall(world.client, completed('InstallationInProgress'));
    await world.client.create(MachineDeployment, workers('late', 2));
    await change(world, { spec: { config: { sshAuthorizedKey: 'late' } } });
    await world.env.settle();
    const during = await getInstall(world);
    assert.deepEqual(during.spec?.provisionRequirements, { controlPlaneAgents: 3, workerAgents: 0 });
    assert.equal(during.spec?.sshPublicKey, undefined);
    assert.equal(
      await shown(world),
      'True/ClusterInstallConfigured: the installation has begun: spec.provisionRequirements, spec.sshPublicKey of the AgentClusterInstall stay as they are',
    );
    await setInstall(world.client, completed('InstallationCompleted'));
    await world.env.settle();
    const afterwards = await getInstall(world);
    assert.deepEqual(afterwards.spec?.provisionRequirements, { controlPlaneAgents: 3, workerAgents: 2 });
    assert.equal(afterwards.spec?.sshPublicKey, undefined);
  });

  for (const { whose, key } of [
    { whose: 'by a name that no control plane has', key: { namespace: NAMESPACE, name: 'theirs' } },
    { whose: 'by the name of a control plane elsewhere', key: { namespace: 'default', name: cpKey.name } },
  ])
    it(`agent/D1: a ClusterDeployment ${whose} is left alone without a word`, async () => {
      const errors: string[] = [];
      const log: Log = { ...SILENT_LOG, error: (_, text) => void errors.push(text), child: () => log };
      await using world = await startWorld({ server: { log } });
      await installed(world, { spec: { replicas: 0 } });
      const asked = world.releases.asked.length;
      await expectNoWrites(world.env.recorder, async () => {
        await world.client.create(ClusterDeployment, {
          apiVersion: 'hive.openshift.io/v1',
          kind: 'ClusterDeployment',
          metadata: { ...key, labels: { 'cluster.x-k8s.io/cluster-name': 'ocp' } },
          spec: { clusterName: 'theirs', baseDomain: 'example.com', platform: {} },
        });
        await world.env.advance(120_000);
      });
      assert.equal(await world.client.live.find(AgentClusterInstall, key), undefined);
      assert.equal(world.releases.asked.length, asked, 'no registry is asked for it');
      assert.deepEqual(errors, []);
    });

  it('agent/D7: a wrong reference to the installation is put right, a right one is not touched', async () => {
    await using world = await startWorld();
    await installed(world);
    await world.client.patch(ClusterDeployment, cpKey, {
      type: 'merge',
      body: { spec: { clusterInstallRef: { name: 'wrong' } } },
    });
    await world.env.settle();
    const { spec } = await world.client.live.get(ClusterDeployment, cpKey);
    assert.equal(spec?.clusterInstallRef?.name, 'ocp-cp');
    await world.env.advance(900_000);
    await expectNoWrites(world.env.recorder, () => world.env.advance(3_600_000));
  });
});

describe('the release image of an installation', () => {
  it('agent/D3, agent/U7: is in a ClusterImageSet by digest, which follows the version', async () => {
    await using world = await startWorld();
    await installed(world);
    const image = async () =>
      (await world.client.live.get(ClusterImageSet, { name: 'ocp-cp' })).spec?.releaseImage ?? '';
    const first = await image();
    assert.match(first, /^quay\.io\/openshift-release-dev\/ocp-release@sha256:[0-9a-f]{64}$/);
    await change(world, { spec: { distributionVersion: '4.20.2' } });
    await world.env.settle();
    assert.notEqual(await image(), first, 'agent/U7');
    await world.client.delete(ClusterImageSet, { name: 'ocp-cp' });
    await world.env.settle();
    assert.notEqual(await image(), '');
  });

  it('agent/X19: one that nobody marked and our installation uses is adopted, another one is left alone', async () => {
    await using world = await startWorld();
    const theirs = {
      apiVersion: 'hive.openshift.io/v1',
      kind: 'ClusterImageSet',
      metadata: { name: 'ocp-cp' },
      spec: { releaseImage: 'registry.example/theirs:1' },
    };
    await world.client.create(ClusterImageSet, theirs);
    const { spec } = await installed(world);
    assert.deepEqual(spec?.imageSetRef, { name: 'metal-ocp-cp' });
    const left = await world.client.live.get(ClusterImageSet, { name: 'ocp-cp' });
    assert.equal(left.spec?.releaseImage, 'registry.example/theirs:1');
  });

  it('agent/X19: stays with the one it has when the other name becomes free', async () => {
    await using world = await startWorld();
    await world.client.create(ClusterImageSet, {
      apiVersion: 'hive.openshift.io/v1',
      kind: 'ClusterImageSet',
      metadata: { name: 'ocp-cp' },
      spec: { releaseImage: 'registry.example/theirs:1' },
    });
    await installed(world);
    await world.client.delete(ClusterImageSet, { name: 'ocp-cp' });
    await world.client.patch(OpenshiftAssistedControlPlane, cpKey, {
      type: 'merge',
      body: { spec: { replicas: 1 } },
    });
    await world.env.settle();
    const { items } = await world.client.live.list(ClusterImageSet);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['metal-ocp-cp'],
    );
  });

  it('agent/X19: both names taken is told', async () => {
    await using world = await startWorld({ server: { log: SILENT_LOG } });
    for (const name of ['ocp-cp', 'metal-ocp-cp'])
      await world.client.create(ClusterImageSet, {
        apiVersion: 'hive.openshift.io/v1',
        kind: 'ClusterImageSet',
        metadata: { name },
        spec: { releaseImage: 'x' },
      });
    await prepare(world.client, { spec: { replicas: 0 } });
    await world.env.settle();
    assert.match(
      (await shown(world)) ?? '',
      /^False\/ClusterImageSetConflict: ClusterImageSets ocp-cp and metal-ocp-cp exist/,
    );
  });
});

const REGISTRIES =
  '[[registry]]\nlocation = "registry.example"\n[[registry.mirror]]\nlocation = "mirror.example"\n';
const mirrored = { baseDomain: 'd', pullSecretRef: { name: 'pull' }, imageRegistryRef: { name: 'mirrors' } };
const putMirrors = ({ client }: ControlPlaneWorld, text: string) =>
  client.create(ConfigMap, {
    metadata: { namespace: NAMESPACE, name: 'mirrors' },
    data: { 'registries.conf': text },
  });
const USUAL = { namespace: NAMESPACE, name: 'additional-registry-config' };

describe('mirror registries of an installation', () => {
  it('agent/D4: become manifests, which the installation takes', async () => {
    await using world = await startWorld({ server: { log: SILENT_LOG } });
    await prepare(world.client, { spec: { config: mirrored } });
    await world.env.settle();
    assert.match(
      (await shown(world)) ?? '',
      /^False\/ImageRegistryNotFound: ConfigMap mirrors, which spec\.config\.imageRegistryRef names/,
    );
    await putMirrors(world, REGISTRIES);
    await world.env.advance(60_000);
    assert.deepEqual((await getInstall(world)).spec?.manifestsConfigMapRefs, [
      { name: 'additional-registry-config' },
    ]);
    const { data, metadata } = await world.client.live.get(ConfigMap, USUAL);
    assert.deepEqual(Object.keys(data ?? {}), ['image-digest-mirror-set.json']);
    assert.deepEqual(
      metadata.ownerReferences?.map(({ name }) => name),
      ['ocp-cp'],
    );
  });

  it('agent/M1: a broken registries.conf is told, and nothing is written', async () => {
    await using world = await startWorld();
    await prepare(world.client, {
      metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } },
      spec: { config: mirrored },
    });
    await putMirrors(world, '[[registry]]\nlocation = 192.0.2.1\n');
    await change(world, { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } });
    await world.env.settle();
    assert.match((await shown(world)) ?? '', /^False\/InvalidMirrorConfig/);
    assert.equal(await world.client.live.find(ConfigMap, USUAL), undefined);
    const body = { data: { 'registries.conf': REGISTRIES } };
    await world.client.patch(ConfigMap, { namespace: NAMESPACE, name: 'mirrors' }, { type: 'merge', body });
    await world.env.advance(61_000);
    assert.equal(await shown(world), 'True/ClusterInstallConfigured');
  });

  it('agent/X30: two control planes of a namespace have a ConfigMap each', async () => {
    await using world = await startWorld();
    await prepare(world.client, { spec: { replicas: 0 } });
    await putMirrors(world, REGISTRIES);
    await change(world, { spec: { config: mirrored } });
    await world.env.settle();
    await prepare(world.client, { cluster: 'second', name: 'second-cp', spec: { config: mirrored, replicas: 0 } });
    await world.env.advance(61_000);
    const names = async (key: typeof cpKey) => (await getInstall(world, key)).spec?.manifestsConfigMapRefs;
    assert.deepEqual(await names(cpKey), [{ name: 'additional-registry-config' }]);
    assert.deepEqual(await names({ ...cpKey, name: 'second-cp' }), [
      { name: 'second-cp-additional-registry-config' },
    ]);
  });
});
