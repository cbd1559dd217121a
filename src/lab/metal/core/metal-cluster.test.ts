import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  FAKE_PROVIDERS,
  FakeConfig,
  FakeConfigTemplate,
  FakeControlPlane,
  fakeBootstrap,
  fakeControlPlane,
  MetalWorld,
  metalDefinitions,
  NAMESPACE,
  NodeHosts,
} from '../../../../test/support/metal-world.ts';
import { asDefinition, originals, withoutOriginals } from '../../../../test/support/original-definitions.ts';
import {
  CLUSTER_NAME_LABEL,
  Cluster,
  CONTROL_PLANE_LABEL,
  Machine,
  MachineDeployment,
  MachineSet,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { Node, Secret } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import {
  Metal3Cluster,
  Metal3Machine,
  Metal3MachineTemplate,
} from '../../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import type { Kind, KubeObject } from '../../../api/object.ts';
import { isTrue } from '../../../object/conditions.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import type { TestEnvOptions } from '../../../testing/test-env.ts';
import { metal3Controllers } from '../metal3/controllers.ts';
import { coreControllers } from './controllers.ts';

const MINUTE_MS = 60_000;
const key = (name: string) => ({ namespace: NAMESPACE, name });
const to = ({ group, kind }: Kind, name: string) => ({ apiGroup: group, kind, name });
const header = ({ group, version, kind }: Kind) => ({ apiVersion: `${group}/${version}`, kind });
const texts = (found: readonly string[]): readonly string[] => found.toSorted((a, b) => (a < b ? -1 : 1));
const named = (kind: Kind, name: string) => ({ ...header(kind), metadata: key(name) });

async function started(
  options: TestEnvOptions = {},
): Promise<{ readonly world: MetalWorld; readonly hosts: NodeHosts }> {
  const world = await MetalWorld.start(options);
  const hosts = new NodeHosts(world);
  const { connectWorkload } = world;
  await world.env.startManager({
    name: 'core',
    add: [...coreControllers({ connectWorkload, providers: FAKE_PROVIDERS })],
  });
  await world.env.startManager({ name: 'metal3', add: [...metal3Controllers({ hosts, connectWorkload })] });
  await world.env.startManager({ name: 'providers', add: [fakeBootstrap(), fakeControlPlane()] });
  return { world, hosts };
}

/** As a person writes it: nothing that core fills in. */
async function applyCluster({ client }: MetalWorld): Promise<void> {
  for (const name of ['host-a', 'host-b', 'host-c'])
    await client.create(BareMetalHost, { ...named(BareMetalHost, name), spec: { online: false } });
  await client.create(Cluster, {
    ...named(Cluster, 'one'),
    spec: {
      infrastructureRef: to(Metal3Cluster, 'one'),
      controlPlaneRef: to(FakeControlPlane, 'one'),
      clusterNetwork: { pods: { cidrBlocks: ['10.128.0.0/14'] } },
    },
  });
  await client.create(Metal3Cluster, {
    ...named(Metal3Cluster, 'one'),
    spec: { controlPlaneEndpoint: { host: 'api.one.example.com', port: 6443 }, cloudProviderEnabled: false },
  });
  await client.create(FakeControlPlane, { ...named(FakeControlPlane, 'one'), spec: {} });
  await client.create(FakeConfigTemplate, {
    ...named(FakeConfigTemplate, 'workers'),
    spec: { template: { metadata: { annotations: { 'example.com/kept': 'yes' } }, spec: { size: 1 } } },
  });
  await client.create(Metal3MachineTemplate, {
    ...named(Metal3MachineTemplate, 'workers'),
    spec: {
      template: {
        spec: { image: { url: 'http://images.example.com/rhcos.qcow2', checksum: 'abc', diskFormat: 'qcow2' } },
      },
    },
  });
  await client.create(MachineDeployment, {
    ...named(MachineDeployment, 'workers'),
    spec: {
      clusterName: 'one',
      selector: {},
      template: {
        spec: {
          clusterName: 'one',
          bootstrap: { configRef: to(FakeConfigTemplate, 'workers') },
          infrastructureRef: to(Metal3MachineTemplate, 'workers'),
        },
      },
    },
  });
}

const EVERYTHING: readonly Kind<KubeObject, unknown>[] = [
  Cluster,
  MachineDeployment,
  MachineSet,
  Machine,
  Metal3Cluster,
  Metal3Machine,
  Metal3MachineTemplate,
  FakeConfig,
  FakeConfigTemplate,
  FakeControlPlane,
];

async function leftOf({ client }: MetalWorld): Promise<readonly string[]> {
  const names: string[] = [];
  for (const kind of EVERYTHING)
    for (const { metadata } of (await client.live.list(kind)).items) names.push(`${kind.kind} ${metadata.name}`);
  const secrets = (await client.live.list(Secret, { namespace: NAMESPACE })).items;
  return [...names, ...secrets.map(({ metadata }) => `Secret ${metadata.name}`)];
}

const GOOD = ['Ready', 'Available', 'BootstrapConfigReady', 'InfrastructureReady', 'NodeReady', 'NodeHealthy'];

function assertReady(machine: Machine): void {
  for (const type of GOOD) assert.ok(isTrue(machine, type), `${machine.metadata.name} ${type}`);
  assert.match(machine.spec.providerID ?? '', /^metal3:\/\/default\/host-[ab]\//);
  assert.equal(machine.spec.deletion?.nodeDeletionTimeoutSeconds, 10);
}

/** As Cluster API and Metal3 publish them, in the version that they store, with the labels that their packages add. */
function publishedDefinitions(): readonly JsonObject[] {
  const names = new Set(metalDefinitions().map(nameOf));
  const published = [...originals('cluster-api').values(), ...originals('metal3').values()]
    .filter(({ metadata }) => names.has(metadata.name))
    .map(({ metadata, spec }) => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: metadata.name, labels: { 'cluster.x-k8s.io/v1beta2': 'v1beta2' } },
      spec: { ...spec, versions: spec.versions.filter(({ storage }) => storage) },
    }));
  const ours = metalDefinitions().filter(
    (crd) => !published.some(({ metadata }) => metadata.name === nameOf(crd)),
  );
  // Plain JSON, whatever its type names.
  return [...(published as unknown as readonly JsonObject[]), ...ours];
}

const nameOf = (crd: JsonObject): string => asDefinition(crd).metadata.name;

describe('a cluster on hosts with providers that nobody knows', () => {
  it('agent/S8: gets from manifests to running Machines, which are ready and available', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await applyCluster(world);
    await world.env.advance(5 * MINUTE_MS);
    const { items: machines } = await world.client.live.list(Machine);
    assert.deepEqual(texts(machines.map(({ status = {} }) => `${status.phase} ${status.nodeRef?.name}`)), [
      'Running host-a',
      'Running host-b',
    ]);
    for (const machine of machines) assertReady(machine);
    const cluster = await world.client.live.get(Cluster, key('one'));
    assert.deepEqual(cluster.spec?.controlPlaneEndpoint, { host: 'api.one.example.com', port: 6443 });
    assert.deepEqual(cluster.status?.initialization, {
      infrastructureProvisioned: true,
      controlPlaneInitialized: true,
    });
    assert.ok(isTrue(cluster, 'Available'), JSON.stringify(cluster.status?.conditions));
    assert.deepEqual(texts(hosts.calls), ['on host-a', 'on host-b']);
    const nodes = (await world.workload.live.list(Node)).items;
    assert.deepEqual(
      texts(nodes.map(({ spec }) => spec?.providerID ?? '')),
      texts(machines.map(({ spec }) => spec.providerID ?? '')),
    );
    const deployment = await world.client.live.get(MachineDeployment, key('workers'));
    const { replicas, readyReplicas, availableReplicas, upToDateReplicas, phase } = deployment.status ?? {};
    assert.deepEqual(
      [replicas, readyReplicas, availableReplicas, upToDateReplicas, phase],
      [1, 1, 1, 1, 'Running'],
    );
    await expectNoWrites(world.env.recorder, () => world.env.advance(10 * MINUTE_MS));
  });

  it('agent/S10: leaves nothing when the Cluster is deleted', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await applyCluster(world);
    await world.env.advance(5 * MINUTE_MS);
    await world.client.delete(Cluster, key('one'));
    await world.env.advance(5 * MINUTE_MS);
    assert.deepEqual(await leftOf(world), []);
    const { items } = await world.client.live.list(BareMetalHost);
    assert.deepEqual(
      items.map(({ status, spec, metadata }) => [
        status?.provisioning?.state,
        spec?.consumerRef,
        metadata.labels?.[CLUSTER_NAME_LABEL],
      ]),
      Array.from({ length: 3 }, () => ['available', undefined, undefined]),
    );
    assert.equal(hosts.on.size, 0);
    // The Nodes go with their cluster.
    assert.equal((await world.workload.live.list(Node)).items.length, 2);
  });

  it('agent/S8: writes only what the definitions of Cluster API and Metal3 themselves allow', {
    skip: withoutOriginals('cluster-api') || withoutOriginals('metal3'),
  }, async () => {
    const { world } = await started({ crds: publishedDefinitions() });
    await using _world = world;
    await applyCluster(world);
    await world.env.advance(5 * MINUTE_MS);
    const { items: machines } = await world.client.live.list(Machine);
    assert.deepEqual(
      machines.map(({ status = {} }) => status.phase),
      ['Running', 'Running'],
    );
    for (const machine of machines) assertReady(machine);
    await expectNoWrites(world.env.recorder, () => world.env.advance(10 * MINUTE_MS));
    await world.client.delete(Cluster, key('one'));
    await world.env.advance(5 * MINUTE_MS);
    assert.deepEqual(await leftOf(world), []);
  });

  it('uses every right that it has, and no other', async () => {
    const { world } = await started();
    await using _world = world;
    await applyCluster(world);
    await world.env.advance(5 * MINUTE_MS);
    const { items } = await world.client.live.list(Machine);
    const worker = items.find(({ metadata }) => metadata.labels?.[CONTROL_PLANE_LABEL] === undefined);
    assert.ok(worker);
    await world.client.delete(Machine, key(worker.metadata.name));
    await world.env.advance(5 * MINUTE_MS);
    await world.client.delete(Cluster, key('one'));
    await world.env.advance(5 * MINUTE_MS);
    expectExactRbac(world.env, { manager: 'core' });
    expectExactRbac(world.env, {
      manager: 'metal3',
      unused: ['get infrastructure.cluster.x-k8s.io/metal3datatemplates', 'create secrets'],
    });
  });
});
