import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  FAKE_PROVIDERS,
  FakeConfig,
  FakeConfigTemplate,
  FakeControlPlane,
  MetalWorld,
  NAMESPACE,
  OldCluster,
} from '../../../../test/support/metal-world.ts';
import {
  CLUSTER_FINALIZER,
  CLUSTER_NAME_LABEL,
  Cluster,
  DELETE_MACHINE_ANNOTATION,
  MACHINE_FINALIZER,
  Machine,
  MachineDeployment,
  MachineSet,
  type MachineSpec,
  PAUSED_ANNOTATION,
} from '../../../api/cluster-api/core-v1beta2.ts';
import { Node, Pod } from '../../../api/generated/core-v1.ts';
import { Metal3Machine, Metal3MachineTemplate } from '../../../api/metal3/infrastructure-v1beta2.ts';
import type { Kind } from '../../../api/object.ts';
import { fieldAt, type Unstructured } from '../../../api/unstructured.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import { findCondition, isTrue } from '../../../object/conditions.ts';
import { coreControllers } from './controllers.ts';

const MINUTE_MS = 60_000;
const key = (name: string) => ({ namespace: NAMESPACE, name });
const to = ({ group, kind }: Kind, name: string) => ({ apiGroup: group, kind, name });
const named = ({ group, version, kind }: Kind, name: string) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: key(name),
});

const OLD = { group: OldCluster.group, clusters: [OldCluster.plural] };

async function started(log = false): Promise<MetalWorld> {
  const world = await MetalWorld.start(log ? {} : { log: SILENT_LOG });
  const { connectWorkload } = world;
  const providers = [...FAKE_PROVIDERS, OLD];
  await world.env.startManager({ add: [...coreControllers({ connectWorkload, providers })] });
  return world;
}

const createCluster = ({ client }: MetalWorld, spec: Cluster['spec'] = { paused: false }) =>
  client.create(Cluster, { ...named(Cluster, 'one'), spec });

async function addMachine({ client }: MetalWorld, name = 'm', spec: Partial<MachineSpec> = {}): Promise<void> {
  await client.create(FakeConfig, { ...named(FakeConfig, name), spec: {} });
  await client.create(Metal3Machine, { ...named(Metal3Machine, name), spec: {} });
  await client.create(Machine, {
    ...named(Machine, name),
    spec: {
      clusterName: 'one',
      bootstrap: { configRef: to(FakeConfig, name) },
      infrastructureRef: to(Metal3Machine, name),
      ...spec,
    },
  });
}

const machine = ({ client }: MetalWorld, name = 'm') => client.live.get(Machine, key(name));
const saidV1beta1 = ({ status }: Machine | Cluster, type: string) =>
  status?.deprecated?.v1beta1?.conditions?.find((one) => one.type === type)?.status;

async function provision(world: MetalWorld, name = 'm'): Promise<string> {
  const providerID = `metal3://default/host/${name}`;
  await world.client.patch(Metal3Machine, key(name), { type: 'merge', body: { spec: { providerID } } });
  await world.setStatus(Metal3Machine as unknown as Kind<Unstructured>, name, {
    initialization: { provisioned: true },
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  });
  return providerID;
}

const bootstrap = (world: MetalWorld, name = 'm') =>
  world.setStatus(FakeConfig, name, { dataSecretName: name, initialization: { dataSecretCreated: true } });

/** From nothing to a Node. */
async function runMachine(world: MetalWorld, name = 'm', spec: Partial<MachineSpec> = {}): Promise<void> {
  await addMachine(world, name, spec);
  await bootstrap(world, name);
  const providerID = await provision(world, name);
  await world.addNode(`node-${name}`, {}, providerID);
  await world.env.advance(MINUTE_MS);
}

describe('the stand-in of core for Clusters', () => {
  it('agent/S1: owns and labels what the Cluster refers to, also when it comes later', async () => {
    await using world = await started();
    await createCluster(world, {
      infrastructureRef: to(OldCluster, 'infra'),
      controlPlaneRef: to(FakeControlPlane, 'cp'),
    });
    await world.env.advance(MINUTE_MS);
    await world.client.create(OldCluster, { ...named(OldCluster, 'infra'), spec: {} });
    await world.client.create(FakeControlPlane, { ...named(FakeControlPlane, 'cp'), spec: {} });
    await world.env.advance(MINUTE_MS);
    const { metadata: owner } = await world.client.live.get(Cluster, key('one'));
    assert.ok(owner.finalizers?.includes(CLUSTER_FINALIZER));
    for (const [kind, name] of [
      [OldCluster, 'infra'],
      [FakeControlPlane, 'cp'],
    ] as const) {
      const { metadata } = await world.client.live.get(kind, key(name));
      assert.deepEqual(metadata.labels, { [CLUSTER_NAME_LABEL]: 'one' });
      assert.deepEqual(metadata.ownerReferences, [
        {
          apiVersion: 'cluster.x-k8s.io/v1beta2',
          kind: 'Cluster',
          name: 'one',
          uid: owner.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    }
  });

  it('agent/S2: copies endpoint and failure domains of infrastructure of the older contract', async () => {
    await using world = await started();
    await createCluster(world, { infrastructureRef: to(OldCluster, 'infra') });
    await world.client.create(OldCluster, {
      ...named(OldCluster, 'infra'),
      spec: { controlPlaneEndpoint: { host: 'api.example.com', port: 6443 } },
    });
    await world.env.advance(MINUTE_MS);
    const before = await world.client.live.get(Cluster, key('one'));
    const { initialization, phase } = before.status ?? {};
    assert.deepEqual(
      [initialization, phase, before.spec?.controlPlaneEndpoint],
      [undefined, 'Provisioning', undefined],
    );
    assert.equal(saidV1beta1(before, 'InfrastructureReady'), 'False');
    await world.setStatus(OldCluster, 'infra', { ready: true, failureDomains: { a: { controlPlane: true } } });
    await world.env.settle();
    const after = await world.client.live.get(Cluster, key('one'));
    const { spec, status = {} } = after;
    assert.deepEqual(spec?.controlPlaneEndpoint, { host: 'api.example.com', port: 6443 });
    assert.deepEqual(status.failureDomains, [{ name: 'a', controlPlane: true }]);
    assert.deepEqual([status.initialization, status.phase], [{ infrastructureProvisioned: true }, 'Provisioned']);
    assert.ok(isTrue(status, 'InfrastructureReady'));
    assert.equal(saidV1beta1(after, 'InfrastructureReady'), 'True');
  });

  it('agent/S3: follows the control plane, and never takes back that it was initialized', async () => {
    await using world = await started();
    await createCluster(world, { controlPlaneRef: to(FakeControlPlane, 'cp') });
    await world.client.create(FakeControlPlane, { ...named(FakeControlPlane, 'cp'), spec: {} });
    await world.env.settle();
    const said = (status: 'True' | 'False') => [
      { type: 'Available', status, reason: 'Test', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ];
    await world.setStatus(FakeControlPlane, 'cp', {
      initialization: { controlPlaneInitialized: true },
      conditions: said('True'),
    });
    await world.env.settle();
    await world.setStatus(FakeControlPlane, 'cp', { initialization: null, conditions: said('False') });
    await world.env.settle();
    const { status } = await world.client.live.get(Cluster, key('one'));
    assert.equal(status?.initialization?.controlPlaneInitialized, true);
    assert.ok(isTrue(status, 'ControlPlaneInitialized'));
    assert.equal(findCondition(status, 'ControlPlaneAvailable')?.status, 'False');
  });

  it('agent/S10: deletes workers, then the control plane, then the infrastructure', async () => {
    await using world = await started();
    const { client } = world;
    await createCluster(world, {
      infrastructureRef: to(OldCluster, 'infra'),
      controlPlaneRef: to(FakeControlPlane, 'cp'),
    });
    const held = { finalizers: ['example.com/held'] };
    for (const [kind, name] of [
      [OldCluster, 'infra'],
      [FakeControlPlane, 'cp'],
    ] as const)
      await client.create(kind, { ...named(kind, name), metadata: { ...key(name), ...held }, spec: {} });
    await addMachine(world);
    await world.env.settle();
    await client.delete(Cluster, key('one'));
    await world.env.advance(MINUTE_MS);
    const isLeaving = async (kind: Kind<Unstructured>, name: string) =>
      (await client.live.find(kind, key(name)))?.metadata.deletionTimestamp !== undefined;
    assert.equal(await client.live.find(Machine, key('m')), undefined);
    assert.deepEqual(
      [await isLeaving(FakeControlPlane, 'cp'), await isLeaving(OldCluster, 'infra')],
      [true, false],
    );
    const release = (kind: Kind<Unstructured>, name: string) =>
      client.patch(kind, key(name), { type: 'merge', body: { metadata: { finalizers: null } } });
    await release(FakeControlPlane, 'cp');
    await world.env.advance(MINUTE_MS);
    assert.deepEqual(await isLeaving(OldCluster, 'infra'), true);
    const { status } = await client.live.get(Cluster, key('one'));
    assert.equal(findCondition(status, 'Deleting')?.reason, 'WaitingForInfrastructureDeletion');
    await release(OldCluster, 'infra');
    await world.env.advance(MINUTE_MS);
    assert.equal(await client.live.find(Cluster, key('one')), undefined);
  });
});

describe('the stand-in of core for Machines', () => {
  it('agent/S5: takes its objects over from whoever made them, and gets what the webhook would give', async () => {
    await using world = await started();
    await createCluster(world);
    await addMachine(world);
    await world.env.settle();
    const stored = await machine(world);
    assert.deepEqual(stored.metadata.finalizers, ['machine.cluster.x-k8s.io']);
    assert.deepEqual(stored.metadata.labels, { [CLUSTER_NAME_LABEL]: 'one' });
    assert.deepEqual(stored.spec.deletion, { nodeDeletionTimeoutSeconds: 10 });
    assert.equal(stored.status?.phase, 'Pending');
    const { metadata } = await world.client.live.get(FakeConfig, key('m'));
    assert.deepEqual(
      metadata.ownerReferences?.map(({ kind, name, controller }) => [kind, name, controller]),
      [['Machine', 'm', true]],
    );
  });

  it('agent/S6: copies the name of the Secret, and says so in both spellings', async () => {
    await using world = await started();
    await createCluster(world);
    await addMachine(world);
    await world.env.settle();
    assert.equal(saidV1beta1(await machine(world), 'BootstrapReady'), 'False');
    await bootstrap(world);
    await world.env.settle();
    const stored = await machine(world);
    assert.equal(stored.spec.bootstrap.dataSecretName, 'm');
    assert.deepEqual(stored.status?.initialization, { bootstrapDataSecretCreated: true });
    assert.equal(saidV1beta1(stored, 'BootstrapReady'), 'True');
    assert.equal(stored.status?.phase, 'Provisioning');
  });

  it('agent/S7: copies provider ID and addresses only of infrastructure that is provisioned', async () => {
    await using world = await started();
    await createCluster(world);
    await addMachine(world);
    await bootstrap(world);
    const body = { spec: { providerID: 'early' } };
    await world.client.patch(Metal3Machine, key('m'), { type: 'merge', body });
    await world.env.settle();
    assert.equal((await machine(world)).spec.providerID, undefined);
    const providerID = await provision(world);
    await world.env.settle();
    const stored = await machine(world);
    assert.equal(stored.spec.providerID, providerID);
    assert.deepEqual(stored.status?.addresses, [{ type: 'InternalIP', address: '10.0.0.1' }]);
    assert.equal(stored.status?.phase, 'Provisioned');
    assert.equal(findCondition(stored, 'NodeHealthy')?.reason, 'ConnectionDown');
  });

  it('agent/S8: finds its Node by provider ID, and follows its health', async () => {
    await using world = await started();
    await createCluster(world);
    await world.addKubeconfig('one');
    await runMachine(world);
    const stored = await machine(world);
    assert.deepEqual([stored.status?.phase, stored.status?.nodeRef], ['Running', { name: 'node-m' }]);
    assert.ok(isTrue(stored, 'Ready') && isTrue(stored, 'Available'));
    const { metadata } = await world.workload.live.get(Node, { name: 'node-m' });
    assert.equal(metadata.annotations?.['cluster.x-k8s.io/machine'], 'm');
    await world.setNodeReady('node-m', 'False');
    await world.env.advance(2 * MINUTE_MS);
    const sick = await machine(world);
    assert.deepEqual(
      [isTrue(sick, 'Ready'), isTrue(sick, 'Available'), sick.status?.phase],
      [false, false, 'Running'],
    );
    assert.match(findCondition(sick, 'NodeHealthy')?.message ?? '', /said to be False/);
  });

  it('agent/S8: waits for a cluster that does not answer, and says why', async () => {
    await using world = await started();
    world.trouble = new Error('no route');
    await createCluster(world);
    await world.addKubeconfig('one');
    await runMachine(world);
    assert.match(findCondition(await machine(world), 'NodeHealthy')?.message ?? '', /no route/);
    world.trouble = undefined;
    await world.env.advance(MINUTE_MS);
    assert.ok(isTrue(await machine(world), 'Ready'));
  });

  it('agent/S9: deletes infrastructure, then bootstrap data, then the Node', async () => {
    await using world = await started();
    const { client } = world;
    await createCluster(world);
    await world.addKubeconfig('one');
    await runMachine(world);
    const hold = { type: 'merge' as const, body: { metadata: { finalizers: ['example.com/held'] } } };
    const release = { type: 'merge', body: { metadata: { finalizers: null } } } as const;
    await client.patch(Metal3Machine, key('m'), hold);
    await client.patch(FakeConfig, key('m'), hold);
    await client.delete(Machine, key('m'));
    await world.env.advance(MINUTE_MS);
    const deleting = await machine(world);
    assert.equal(findCondition(deleting, 'Deleting')?.reason, 'WaitingForInfrastructureDeletion');
    assert.equal(deleting.status?.phase, 'Deleting');
    assert.equal((await client.live.get(FakeConfig, key('m'))).metadata.deletionTimestamp, undefined);
    await client.patch(Metal3Machine, key('m'), release);
    await world.env.advance(MINUTE_MS);
    assert.equal(findCondition(await machine(world), 'Deleting')?.reason, 'WaitingForBootstrapDeletion');
    assert.ok(await world.workload.live.find(Node, { name: 'node-m' }));
    await client.patch(FakeConfig, key('m'), release);
    await world.env.advance(MINUTE_MS);
    assert.equal(await client.live.find(Machine, key('m')), undefined);
    assert.equal(await world.workload.live.find(Node, { name: 'node-m' }), undefined);
  });

  it('agent/S9: does not end while its Cluster is gone', async () => {
    await using world = await started();
    await addMachine(world);
    const body = { metadata: { finalizers: [MACHINE_FINALIZER] } };
    await world.client.patch(Machine, key('m'), { type: 'merge', body });
    await world.client.delete(Machine, key('m'));
    await world.env.advance(10 * MINUTE_MS);
    assert.ok(await world.client.live.find(Machine, key('m')));
    await createCluster(world);
    await world.env.advance(MINUTE_MS);
    assert.equal(await world.client.live.find(Machine, key('m')), undefined);
  });

  it('empties its Node first where a time for that is given', async () => {
    await using world = await started();
    await createCluster(world);
    await world.addKubeconfig('one');
    await runMachine(world, 'm', { deletion: { nodeDrainTimeoutSeconds: 120 } });
    await world.workload.create(Pod, {
      metadata: { name: 'stays', namespace: 'default', finalizers: ['example.com/held'] },
      spec: { nodeName: 'node-m', containers: [{ name: 'a', image: 'a' }] },
    });
    await world.client.delete(Machine, key('m'));
    await world.env.advance(MINUTE_MS);
    assert.equal(findCondition(await machine(world), 'Deleting')?.reason, 'DrainingNode');
    assert.equal((await world.workload.live.get(Node, { name: 'node-m' })).spec?.unschedulable, true);
    await world.env.advance(2 * MINUTE_MS);
    assert.equal(await world.client.live.find(Machine, key('m')), undefined);
  });

  it('does nothing about what is paused but saying so, and goes on afterwards', async () => {
    await using world = await started();
    await createCluster(world, { paused: true });
    await addMachine(world);
    await world.env.settle();
    const held = await machine(world);
    assert.deepEqual([held.metadata.finalizers, isTrue(held, 'Paused')], [undefined, true]);
    await world.client.patch(Cluster, key('one'), { type: 'merge', body: { spec: { paused: false } } });
    await world.env.settle();
    assert.equal(findCondition(await machine(world), 'Paused')?.status, 'False');
    const annotations = { [PAUSED_ANNOTATION]: '' };
    await world.client.patch(Machine, key('m'), { type: 'merge', body: { metadata: { annotations } } });
    await bootstrap(world);
    await world.env.settle();
    const paused = await machine(world);
    assert.deepEqual([isTrue(paused, 'Paused'), paused.spec.bootstrap.dataSecretName], [true, undefined]);
  });
});

async function addDeployment(world: MetalWorld, replicas: number): Promise<void> {
  const { client } = world;
  await createCluster(world);
  await client.create(FakeConfigTemplate, {
    ...named(FakeConfigTemplate, 'w'),
    spec: {
      template: {
        metadata: { labels: { size: 'big' }, annotations: { 'example.com/note': 'kept' } },
        spec: { color: 'red' },
      },
    },
  });
  for (const name of ['w', 'w2'])
    await client.create(Metal3MachineTemplate, {
      ...named(Metal3MachineTemplate, name),
      spec: { template: { spec: { image: { url: 'http://images.example.com/a' } } } },
    });
  await client.create(MachineDeployment, {
    ...named(MachineDeployment, 'w'),
    spec: {
      clusterName: 'one',
      replicas,
      selector: {},
      template: {
        metadata: { labels: { team: 'a' } },
        spec: {
          clusterName: 'one',
          bootstrap: { configRef: to(FakeConfigTemplate, 'w') },
          infrastructureRef: to(Metal3MachineTemplate, 'w'),
        },
      },
    },
  });
  await world.env.settle();
}

const machines = async ({ client }: MetalWorld) => (await client.live.list(Machine)).items;
const scale = ({ client }: MetalWorld, replicas: number) =>
  client.patch(MachineDeployment, key('w'), { type: 'merge', body: { spec: { replicas } } });

/** Everything that a Machine needs to be available. */
async function complete(world: MetalWorld): Promise<void> {
  for (const { metadata, status } of await machines(world)) {
    if (status?.phase === 'Running' || metadata.deletionTimestamp !== undefined) continue;
    await bootstrap(world, metadata.name);
    await world.addNode(`node-${metadata.name}`, {}, await provision(world, metadata.name));
  }
  await world.env.advance(MINUTE_MS);
}

describe('the stand-in of core for MachineSets and MachineDeployments', () => {
  it('agent/S4: makes Machines with clones of both templates, all of one name', async () => {
    await using world = await started(true);
    await addDeployment(world, 2);
    const made = await machines(world);
    assert.equal(made.length, 2);
    const [first] = made;
    assert.ok(first);
    const { name, labels = {} } = first.metadata;
    assert.deepEqual(
      [first.spec.bootstrap.configRef, first.spec.infrastructureRef],
      [to(FakeConfig, name), to(Metal3Machine, name)],
    );
    const { items: sets } = await world.client.live.list(MachineSet);
    assert.deepEqual(
      [labels['cluster.x-k8s.io/set-name'], labels['cluster.x-k8s.io/deployment-name'], labels['team']],
      [sets[0]?.metadata.name, 'w', 'a'],
    );
    const config = await world.client.live.get(FakeConfig, key(name));
    assert.equal(config.apiVersion, 'bootstrap.example.com/v1alpha9');
    assert.equal(fieldAt(config, 'spec', 'color'), 'red');
    const { annotations = {}, labels: cloned = {} } = config.metadata;
    assert.deepEqual(
      [
        annotations['cluster.x-k8s.io/cloned-from-name'],
        annotations['cluster.x-k8s.io/cloned-from-groupkind'],
        annotations['example.com/note'],
        cloned['size'],
        cloned['team'],
        cloned[CLUSTER_NAME_LABEL],
      ],
      ['w', 'FakeConfigTemplate.bootstrap.example.com', 'kept', 'big', 'a', 'one'],
    );
    const { metadata: template } = await world.client.live.get(FakeConfigTemplate, key('w'));
    assert.deepEqual(
      template.ownerReferences?.map(({ kind, controller }) => [kind, controller]),
      [['Cluster', undefined]],
    );
  });

  it('agent/S28: fills in what a manifest may leave out', async () => {
    await using world = await started(true);
    await addDeployment(world, 1);
    const { spec, metadata } = await world.client.live.get(MachineDeployment, key('w'));
    const own = { 'cluster.x-k8s.io/deployment-name': 'w', [CLUSTER_NAME_LABEL]: 'one' };
    assert.deepEqual(spec.selector, { matchLabels: own });
    assert.deepEqual(spec.template.metadata?.labels, { ...own, team: 'a' });
    assert.deepEqual(metadata.labels, { [CLUSTER_NAME_LABEL]: 'one' });
    assert.deepEqual(fieldAt(await world.client.live.get(MachineDeployment, key('w')), 'spec', 'rollout'), {
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
    });
    const [made] = await machines(world);
    assert.equal(made?.spec.deletion?.nodeDeletionTimeoutSeconds, 10);
  });

  it('agent/S4: takes away the Machine that was asked to go, when there are too many', async () => {
    await using world = await started(true);
    await world.addKubeconfig('one');
    await addDeployment(world, 3);
    await complete(world);
    const [, second] = await machines(world);
    assert.ok(second);
    const annotations = { [DELETE_MACHINE_ANNOTATION]: '' };
    await world.client.patch(Machine, key(second.metadata.name), {
      type: 'merge',
      body: { metadata: { annotations } },
    });
    await scale(world, 2);
    await world.env.advance(MINUTE_MS);
    const left = await machines(world);
    assert.equal(left.length, 2);
    assert.ok(!left.some(({ metadata }) => metadata.name === second.metadata.name));
    await scale(world, 0);
    await world.env.advance(MINUTE_MS);
    assert.deepEqual(await machines(world), []);
    assert.deepEqual((await world.client.live.list(FakeConfig)).items, []);
  });

  it('agent/S4: replaces a Machine that is deleted once it is gone', async () => {
    await using world = await started(true);
    await addDeployment(world, 1);
    const [old] = await machines(world);
    await world.client.delete(Machine, key(old?.metadata.name ?? ''));
    await world.env.advance(MINUTE_MS);
    const [made, ...more] = await machines(world);
    assert.deepEqual([more.length, made?.metadata.uid === old?.metadata.uid], [0, false]);
  });

  it('replaces Machines one after the other when the template changes', async () => {
    await using world = await started(true);
    await world.addKubeconfig('one');
    await addDeployment(world, 2);
    await complete(world);
    const before = new Set((await machines(world)).map(({ metadata }) => metadata.name));
    const body = { spec: { template: { spec: { infrastructureRef: to(Metal3MachineTemplate, 'w2') } } } };
    await world.client.patch(MachineDeployment, key('w'), { type: 'merge', body });
    await world.env.settle();
    assert.equal((await machines(world)).length, 3);
    for (let round = 0; round < 4; round++) await complete(world);
    const after = await machines(world);
    assert.deepEqual([after.length, after.some(({ metadata }) => before.has(metadata.name))], [2, false]);
    assert.equal((await world.client.live.list(MachineSet)).items.length, 1);
    const { status } = await world.client.live.get(MachineDeployment, key('w'));
    assert.deepEqual([status?.upToDateReplicas, status?.phase], [2, 'Running']);
  });

  it('gives labels and times of deletion to Machines that exist', async () => {
    await using world = await started(true);
    await addDeployment(world, 1);
    const template = {
      metadata: { labels: { team: 'b' } },
      spec: { deletion: { nodeDeletionTimeoutSeconds: 30 } },
    };
    await world.client.patch(MachineDeployment, key('w'), { type: 'merge', body: { spec: { template } } });
    await world.env.settle();
    const [made, ...more] = await machines(world);
    assert.deepEqual(
      [made?.metadata.labels?.['team'], made?.spec.deletion?.nodeDeletionTimeoutSeconds, more.length],
      ['b', 30, 0],
    );
  });
});
