import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall, INSTALL_CONFIG_OVERRIDES } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  Machine,
  MachineDeployment,
} from '../../src/api/cluster-api/core-v1beta2.ts';
import { ConfigMap, Node, Secret } from '../../src/api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../src/api/hive/hive-v1.ts';
import { Metal3Machine } from '../../src/api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../src/api/metal3/metal3-v1alpha1.ts';
import { ClusterVersion } from '../../src/api/openshift/config-v1.ts';
import { findCondition, isTrue } from '../../src/object/conditions.ts';
import { expectExactRbac } from '../../src/testing/exact-rbac.ts';
import { expectNoWrites } from '../../src/testing/recorder.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld } from '../support/agent-world.ts';

const namespace = 'test-capi';
const NAME = 'test-multinode';
const KEY = { namespace, name: NAME };
const WORKERS = { namespace, name: `${NAME}-worker` };
const HOUR_MS = 3_600_000;
const isControlPlane = ({ metadata: { labels = {} } }: Machine) =>
  Object.hasOwn(labels, 'cluster.x-k8s.io/control-plane');
const byText = (a: string, b: string): number => a.localeCompare(b);
const namesOf = (objects: readonly { readonly metadata: { readonly name: string } }[]): readonly string[] =>
  objects.map(({ metadata }) => metadata.name).toSorted(byText);
const decoded = ({ data = {} }: Secret, key: string): string =>
  Buffer.from(data[key] ?? '', 'base64').toString('utf8');

const mirrorsAt = (host: string): string =>
  `[[registry]]\nlocation = "registry.example.com/ocp"\n[[registry.mirror]]\nlocation = "${host}/ocp"\n`;
const MIRRORS = {
  metadata: { namespace, name: 'mirrors' },
  data: { 'registries.conf': mirrorsAt('mirror.example.com') },
};

/** What only hosts that boot an ISO need; the suite about those uses it. */
const FOR_LIVE_ISO = [
  'delete agent-install.openshift.io/agents',
  'get apiextensions.k8s.io/customresourcedefinitions',
  'get infrastructure.cluster.x-k8s.io/metal3machines',
  'patch infrastructure.cluster.x-k8s.io/metal3machines',
  'get infrastructure.cluster.x-k8s.io/metal3machinetemplates',
  'create infrastructure.cluster.x-k8s.io/metal3machinetemplates',
  'patch infrastructure.cluster.x-k8s.io/metal3machinetemplates',
  'list infrastructure.cluster.x-k8s.io/metal3machines',
  'list metal3.io/baremetalhosts',
];
/** What was made for a Machine that never was is taken away; crash points use it. */
const FOR_HALF_MADE = [
  'delete bootstrap.cluster.x-k8s.io/openshiftassistedconfigs',
  'delete infrastructure.cluster.x-k8s.io/metal3machines',
];
/** Somebody took the reference to the AgentClusterInstall away. */
const FOR_REPAIR = ['patch hive.openshift.io/clusterdeployments'];
/** A bootstrap Secret of the provider that this one replaces is adopted. */
const FOR_FOREIGN_SECRETS = ['patch secrets'];

/** The whole life of a cluster, row by row of the script (8.6): each row begins where the one before it ended. */
describe('a cluster of three and two hosts, from manifests to nothing', () => {
  let world: AgentWorld;
  before(async () => {
    world = await AgentWorld.start();
  });
  after(() => world[Symbol.asyncDispose]());

  const controlPlane = () => world.client.live.get(OpenshiftAssistedControlPlane, KEY);
  const install = () => world.client.live.get(AgentClusterInstall, KEY);
  const installState = async () => (await install()).status?.debugInfo?.state ?? '';
  const configOf = (name: string) => world.client.live.get(OpenshiftAssistedConfig, { namespace, name });
  const dataCondition = async (name: string) => findCondition(await configOf(name), 'DataSecretAvailable');
  const workload = async () => {
    const secret = await world.client.live.get(Secret, { namespace, name: `${NAME}-kubeconfig` });
    return world.outside.workloads.connect(decoded(secret, 'value'));
  };
  const nodes = async () => (await (await workload()).live.list(Node)).items;
  /** The requests of the control-plane provider that change AgentClusterInstalls. */
  const installWrites = () =>
    world.env.recorder.writes.filter(
      ({ target }) => target.includes('/agentclusterinstalls/') && target.includes('agent-control-plane'),
    );
  const changeWorkers = (replicas: number) =>
    world.client.patch(MachineDeployment, WORKERS, { type: 'merge', body: { spec: { replicas } } });
  const changeControlPlane = (spec: { replicas?: number; distributionVersion?: string }) =>
    world.client.patch(OpenshiftAssistedControlPlane, KEY, { type: 'merge', body: { spec } });
  let lateWorker = '';

  it('agent/S1, agent/S2: row 1, core adopts what the user applied and copies the endpoint', async () => {
    const override = { 'controlplane.cluster.x-k8s.io/install-config-override': '{"fips":true}' };
    const config = { imageRegistryRef: { name: MIRRORS.metadata.name } };
    await world.client.create(ConfigMap, MIRRORS);
    await world.apply([...hostManifests(7), ...clusterManifests({ annotations: override, config })]);
    await world.env.settle();
    const { metadata } = await controlPlane();
    const [owner] = metadata.ownerReferences ?? [];
    assert.deepEqual([owner?.kind, owner?.name, owner?.controller], ['Cluster', NAME, true]);
    assert.equal(metadata.labels?.[CLUSTER_NAME_LABEL], NAME);
    const { spec } = await world.client.live.get(Cluster, KEY);
    assert.deepEqual(spec?.controlPlaneEndpoint, { host: `${NAME}.lab.home`, port: 6443 });
  });

  it('agent/C9, agent/D3, agent/D5, agent/D6, agent/D8: row 2, says what to install', async () => {
    const deployment = await world.client.live.get(ClusterDeployment, KEY);
    assert.partialDeepStrictEqual(deployment.spec, {
      clusterName: NAME,
      baseDomain: 'lab.home',
      pullSecretRef: { name: 'pull-secret' },
      clusterInstallRef: {
        group: 'extensions.hive.openshift.io',
        version: 'v1beta1',
        kind: 'AgentClusterInstall',
        name: NAME,
      },
    });
    const imageSet = await world.client.live.get(ClusterImageSet, { name: NAME });
    assert.match(imageSet.spec?.releaseImage ?? '', /\/ocp-release@sha256:[0-9a-f]{64}$/);
    const { spec, metadata } = await install();
    assert.partialDeepStrictEqual(spec, {
      provisionRequirements: { controlPlaneAgents: 3, workerAgents: 2 },
      platformType: 'BareMetal',
      imageSetRef: { name: NAME },
      apiVIPs: ['192.168.222.40'],
      ingressVIPs: ['192.168.222.41'],
      networking: {
        clusterNetwork: [{ cidr: '172.18.0.0/20', hostPrefix: 23 }],
        serviceNetwork: ['10.96.0.0/12'],
      },
    });
    assert.deepEqual(JSON.parse(metadata.annotations?.[INSTALL_CONFIG_OVERRIDES] ?? ''), {
      fips: true,
      capabilities: {
        baselineCapabilitySet: 'None',
        additionalEnabledCapabilities: [
          'baremetal',
          'Console',
          'Insights',
          'OperatorLifecycleManager',
          'Ingress',
          'marketplace',
          'NodeTuning',
          'DeploymentConfig',
        ],
      },
    });
    assert.equal((await controlPlane()).status?.version, '1.33.5');
  });

  it('agent/D4, agent/M2: row 2, tells the hosts of mirrors, and of other ones until it begins', async () => {
    const { spec } = await install();
    assert.deepEqual(spec?.manifestsConfigMapRefs, [{ name: 'additional-registry-config' }]);
    const key = { namespace, name: 'additional-registry-config' };
    const { data = {} } = await world.client.live.get(ConfigMap, key);
    assert.match(data['image-digest-mirror-set.json'] ?? '', /mirror\.example\.com\/ocp/);
    const changed = { 'registries.conf': mirrorsAt('other.example.com') };
    await world.client.patch(ConfigMap, MIRRORS.metadata, { type: 'merge', body: { data: changed } });
    const isChanged = async () =>
      JSON.stringify((await world.client.live.get(ConfigMap, key)).data).includes('other.example.com/ocp');
    await world.until('the other mirror is told', isChanged, 2);
  });

  it('agent/C12, agent/B7, agent/B12, agent/B14: row 3, each Machine gets an InfraEnv and a Secret', async () => {
    await world.until('five Secrets', async () => {
      const configs = await world.all(OpenshiftAssistedConfig);
      return configs.length === 5 && configs.every((config) => isTrue(config, 'DataSecretAvailable'));
    });
    const machines = await world.all(Machine);
    assert.equal(machines.filter(isControlPlane).length, 3);
    assert.deepEqual(namesOf(await world.all(InfraEnv)), namesOf(machines));
    assert.deepEqual(namesOf(await world.all(Metal3Machine)), namesOf(machines));
    for (const { metadata } of machines) {
      const said = world.history.conditions(OpenshiftAssistedConfig, metadata.name, 'DataSecretAvailable');
      assert.deepEqual(
        said.filter((text) => text !== 'False/WaitingForAssistedInstaller'),
        ['False/WaitingForInfraEnvToBeReady', 'True/DataSecretAvailable'],
      );
      const secret = await world.client.live.get(Secret, { namespace, name: metadata.name });
      assert.equal(secret.type, 'cluster.x-k8s.io/secret');
      assert.deepEqual(Object.keys(secret.data ?? {}).toSorted(byText), ['format', 'value']);
      const { systemd } = JSON.parse(decoded(secret, 'value'));
      const units: readonly string[] = systemd.units.map(({ name }: { readonly name: string }) => name);
      assert.ok(units.includes('agent.service') && units.includes('set-hostname.service'), units.join());
    }
    const first = world.history.conditions(OpenshiftAssistedConfig, machines[4]?.metadata.name ?? '', 'Ready');
    assert.equal(first.at(-1), 'True/Ready');
  });

  it('agent/G3, agent/G4, agent/G5, agent/S17: row 4, Agents get role, approval and what their node needs', async () => {
    await world.until('five approved Agents', async () => {
      const agents = await world.all(Agent);
      return agents.length === 5 && agents.every(({ spec }) => spec.approved === true);
    });
    const machines = new Map((await world.all(Machine)).map((machine) => [machine.metadata.name, machine]));
    const agents = await world.all(Agent);
    for (const { metadata, spec } of agents) {
      const machine = machines.get(metadata.labels?.[INFRA_ENV_LABEL] ?? '');
      assert.ok(machine);
      assert.equal(spec.role, isControlPlane(machine) ? 'master' : 'worker');
      const { ignition, storage } = JSON.parse(spec.ignitionConfigOverrides ?? '{}');
      assert.equal(ignition.version, '3.1.0');
      const files: readonly { readonly path: string; readonly contents: { readonly source: string } }[] =
        storage.files;
      const script = files.find(({ path }) => path === '/usr/local/bin/kubelet_custom_labels');
      const text = Buffer.from(script?.contents.source.split('base64,')[1] ?? '', 'base64').toString('utf8');
      assert.match(text, /metal3\.io\/uuid/);
      assert.match(text, /METADATA_UUID/);
      assert.equal(spec.installerArgs, '[]');
    }
    assert.equal(agents.filter(({ spec }) => spec.role === 'master').length, 3);
  });

  it('agent/S20, agent/K4, agent/K5: row 5, the kubeconfig is where core looks for it, and works', async () => {
    await world.until('the kubeconfig', async () => isTrue(await controlPlane(), 'KubeconfigAvailable'));
    assert.match(await installState(), /^(preparing-for-installation|installing)$/);
    const secret = await world.client.live.get(Secret, { namespace, name: `${NAME}-kubeconfig` });
    assert.equal(secret.type, 'cluster.x-k8s.io/secret');
    assert.equal(secret.metadata.labels?.[CLUSTER_NAME_LABEL], NAME);
    assert.equal(secret.metadata.ownerReferences?.[0]?.kind, 'OpenshiftAssistedControlPlane');
    assert.deepEqual(await nodes(), []);
    await world.env.settle();
    const cluster = await world.client.live.get(Cluster, KEY);
    assert.ok(isTrue(cluster, 'ControlPlaneInitialized'));
    assert.equal(cluster.status?.initialization?.controlPlaneInitialized, true);
  });

  it('agent/B9, agent/X20: row 6, a worker that comes now is held, and nothing is asked of the installation', async () => {
    const [before, writes] = [(await install()).spec, installWrites().length];
    const known = new Set(namesOf(await world.all(Machine)));
    await changeWorkers(3);
    await world.env.advance(2 * 60_000);
    const fresh = namesOf(await world.all(Machine)).filter((name) => !known.has(name));
    assert.equal(fresh.length, 1);
    [lateWorker = ''] = fresh;
    const { reason, message } = (await dataCondition(lateWorker)) ?? {};
    assert.equal(reason, 'WaitingForInstallComplete');
    assert.match(message ?? '', /installation is in progress \(installing\).* added when it is over/);
    assert.equal(await world.client.live.find(InfraEnv, { namespace, name: lateWorker }), undefined);
    assert.deepEqual((await install()).spec, before);
    assert.equal(installWrites().length, writes);
    assert.match(
      findCondition(await controlPlane(), 'ClusterInstallConfigured')?.message ?? '',
      /spec\.provisionRequirements of the AgentClusterInstall stay as they are/,
    );
  });

  it('agent/K6, agent/X25, agent/C13, agent/U6: row 7, Available comes at finalizing and stays', async () => {
    await world.until('five nodes', async () => (await nodes()).length === 5);
    await world.until('the control plane runs', async () => (await controlPlane()).status?.readyReplicas === 3);
    await world.until('UpgradeCompleted', async () => isTrue(await controlPlane(), 'UpgradeCompleted'));
    await world.until('adding-hosts', async () => (await installState()) === 'adding-hosts');
    assert.deepEqual(world.history.conditions(OpenshiftAssistedControlPlane, NAME, 'Available'), [
      'False/ControlPlaneInstalling',
      'True/Available',
    ]);
    const states = world.history.values(AgentClusterInstall, NAME, ({ status }) => status?.debugInfo?.state);
    assert.deepEqual(
      states.filter((state) => state !== '' && state !== 'insufficient'),
      ['ready', 'preparing-for-installation', 'installing', 'finalizing', 'installed', 'adding-hosts'],
    );
    assert.deepEqual(world.history.conditions(OpenshiftAssistedControlPlane, NAME, 'UpgradeCompleted'), [
      'False/UpgradeInProgress',
      'True/UpgradeCompleted',
    ]);
    const { status = {} } = await controlPlane();
    const { replicas, readyReplicas, availableReplicas, upToDateReplicas } = status;
    assert.deepEqual([replicas, readyReplicas, availableReplicas, upToDateReplicas], [3, 3, 3, 3]);
    assert.equal(status.distributionVersion, '4.20.1');
    for (const type of ['Ready', 'MachinesReady', 'MachinesCreated', 'KubernetesVersionAvailable'])
      assert.ok(isTrue(status, type), type);
    assert.ok(isTrue(await world.client.live.get(Cluster, KEY), 'ControlPlaneAvailable'));
    assert.equal(
      status.selector,
      `cluster.x-k8s.io/cluster-name=${NAME},cluster.x-k8s.io/control-plane-name=${NAME}`,
    );
  });

  it('agent/S21: no bootstrap node: as many hosts are on as there are Machines, and the one that bootstraps stays', async () => {
    const on = world.outside.hosts.record.filter(({ event }) => event === 'on').map(({ name }) => name);
    assert.deepEqual([on.length, new Set(on).size], [5, 5]);
    assert.deepEqual(
      world.outside.hosts.record.filter(({ event }) => event === 'off'),
      [],
    );
    const bootstraps = (await world.all(Agent)).filter(({ status }) => status?.bootstrap === true);
    const [bootstrap] = bootstraps;
    assert.ok(bootstrap);
    assert.equal(bootstraps.length, 1);
    const machineName = bootstrap.metadata.labels?.[INFRA_ENV_LABEL] ?? '';
    const { status } = await world.client.live.get(Machine, { namespace, name: machineName });
    const masters = (await nodes()).filter(({ metadata: { labels = {} } }) =>
      Object.hasOwn(labels, 'node-role.kubernetes.io/control-plane'),
    );
    assert.equal(masters.length, 3);
    assert.ok(namesOf(masters).includes(status?.nodeRef?.name ?? ''));
    assert.partialDeepStrictEqual(bootstrap.status, { progress: { currentStage: 'Done' } });
  });

  it('agent/B9, agent/S22: row 8, the held worker is added when the installation is over', async () => {
    await world.untilRunning(6);
    const lateAgent = async () =>
      (await world.all(Agent)).find(({ metadata }) => metadata.labels?.[INFRA_ENV_LABEL] === lateWorker)?.status;
    const isAdded = async () => (await lateAgent())?.debugInfo?.state === 'added-to-existing-cluster';
    await world.until('the host is added', isAdded, 10);
    assert.equal((await lateAgent())?.kind, 'AddToExistingClusterHost');
    assert.equal((await nodes()).length, 6);
    assert.equal(await installState(), 'adding-hosts');
    const { spec } = await install();
    assert.deepEqual(spec?.provisionRequirements, { controlPlaneAgents: 3, workerAgents: 3 });
    const machine = await world.client.live.get(Machine, { namespace, name: lateWorker });
    assert.match(machine.spec.providerID ?? '', /^metal3:\/\/test-capi\/host-\d\//);
  });

  it('agent/U5, agent/U6, agent/D3, agent/X1: row 9, a new version goes to the cluster, and the images follow', async () => {
    const before = await world.client.live.get(ClusterImageSet, { name: NAME });
    await changeControlPlane({ distributionVersion: '4.20.4' });
    await world.until('it has begun', async () => {
      const { reason } = findCondition(await controlPlane(), 'UpgradeCompleted') ?? {};
      return reason === 'UpgradeInProgress';
    });
    const version = await (await workload()).live.get(ClusterVersion, { name: 'version' });
    assert.deepEqual(version.spec?.desiredUpdate, { version: '4.20.4' });
    await world.until('it has ended', async () => isTrue(await controlPlane(), 'UpgradeCompleted'));
    const { status } = await controlPlane();
    assert.deepEqual([status?.distributionVersion, status?.version], ['4.20.4', '1.33.5']);
    const after = await world.client.live.get(ClusterImageSet, { name: NAME });
    assert.notEqual(after.spec?.releaseImage, before.spec?.releaseImage);
    assert.deepEqual(
      world.history.conditions(OpenshiftAssistedControlPlane, NAME, 'Available').at(-1),
      'True/Available',
    );
  });

  it('agent/B16, agent/S15: row 10, a worker that goes leaves nothing, and its host is free', async () => {
    const { metadata } = await world.client.live.get(Metal3Machine, { namespace, name: lateWorker });
    const host = (metadata.annotations?.['metal3.io/BareMetalHost'] ?? '').split('/')[1] ?? '';
    const annotations = { 'cluster.x-k8s.io/delete-machine': '' };
    const key = { namespace, name: lateWorker };
    await world.client.patch(Machine, key, { type: 'merge', body: { metadata: { annotations } } });
    await changeWorkers(2);
    await world.untilRunning(5);
    assert.deepEqual(world.named(lateWorker), []);
    assert.equal((await world.all(Agent)).length, 5);
    await world.until('the host is free', async () => {
      const { spec, status } = await world.client.live.get(BareMetalHost, { namespace, name: host });
      return status?.provisioning?.state === 'available' && spec?.consumerRef === undefined;
    });
    assert.deepEqual(
      (await nodes()).filter((node) => node.metadata.name === host),
      [],
    );
  });

  it('agent/C15, agent/C16, agent/X18: row 10, the control plane grows to five and shrinks one by one', async () => {
    await changeControlPlane({ replicas: 5 });
    await world.untilRunning(7);
    await world.until('five are ready', async () => (await controlPlane()).status?.readyReplicas === 5);
    const masters = (await world.all(Machine)).filter(isControlPlane);
    assert.equal(masters.length, 5);
    const from = world.history.all.length;
    await changeControlPlane({ replicas: 3 });
    await world.untilRunning(5);
    await world.until('three are ready', async () => (await controlPlane()).status?.readyReplicas === 3);
    const leaving = new Set<string>();
    for (const { plural, object, isRemoval } of world.history.all.slice(from)) {
      if (plural !== 'machines' || object.metadata.deletionTimestamp === undefined) continue;
      if (isRemoval) leaving.delete(object.metadata.name);
      else leaving.add(object.metadata.name);
      assert.ok(leaving.size <= 1, `two masters go at once: ${[...leaving].join(' ')}`);
    }
    const free = (await world.all(BareMetalHost)).filter(({ spec }) => spec?.consumerRef === undefined);
    assert.equal(free.length, 2);
    assert.equal((await world.all(InfraEnv)).length, 5);
  });

  it('writes nothing for an hour while nothing changes', async () => {
    // A look at the cluster that has become another one.
    await world.env.advance(HOUR_MS / 2);
    await expectNoWrites(world.env.recorder, () => world.env.advance(HOUR_MS));
  });

  it('agent/X17, agent/X19, agent/S10: row 11, everything goes in order, and nothing stays', async () => {
    const from = world.history.removals.length;
    const masters = namesOf((await world.all(Machine)).filter(isControlPlane));
    const workers = namesOf((await world.all(Machine)).filter((machine) => !isControlPlane(machine)));
    await world.client.delete(Cluster, KEY);
    await world.until(
      'the Cluster is gone',
      async () => (await world.client.live.find(Cluster, KEY)) === undefined,
    );
    await world.env.advance(60_000);
    const gone = world.history.removals.slice(from);
    const at = (name: string) => {
      assert.ok(gone.includes(name), `${name} is not gone`);
      return gone.indexOf(name);
    };
    const last = (plural: string, names: readonly string[]) =>
      Math.max(...names.map((name) => at(`${plural}/${name}`)));
    const order = [
      last('machines', workers),
      last('machines', masters),
      at(`agentclusterinstalls/${NAME}`),
      at(`clusterdeployments/${NAME}`),
      at(`clusterimagesets/${NAME}`),
      at(`openshiftassistedcontrolplanes/${NAME}`),
      at(`metal3clusters/${NAME}`),
      at(`clusters/${NAME}`),
    ];
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.deepEqual([world.leftovers(NAME), world.named('additional-registry-config')], [[], []]);
    for (const host of await world.all(BareMetalHost))
      assert.deepEqual([host.status?.provisioning?.state, host.spec?.consumerRef], ['available', undefined]);
    assert.deepEqual([world.outside.hosts.powered, world.outside.workloads.clusters], [[], []]);
  });

  it('used exactly the rights it has, and told no secret', () => {
    expectExactRbac(world.env, { manager: 'agent-bootstrap', unused: [...FOR_LIVE_ISO, ...FOR_FOREIGN_SECRETS] });
    expectExactRbac(world.env, { manager: 'agent-control-plane', unused: [...FOR_HALF_MADE, ...FOR_REPAIR] });
    assert.deepEqual(world.leaks(), []);
  });
});
