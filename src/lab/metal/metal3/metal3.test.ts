import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeConfig, MetalWorld, NAMESPACE } from '../../../../test/support/metal-world.ts';
import { CLUSTER_NAME_LABEL, Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Node, Secret } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import {
  HOST_ANNOTATION,
  Metal3Cluster,
  Metal3DataTemplate,
  Metal3Machine,
  type Metal3MachineSpec,
} from '../../../api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../../api/metal3/metal3-v1alpha1.ts';
import type { Kind } from '../../../api/object.ts';
import { findCondition, isTrue } from '../../../object/conditions.ts';
import { ownedBy } from '../../../object/owner-references.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import type { BootedHost, HostPower } from '../host/host-power.ts';
import { type Metal3Options, metal3Controllers } from './controllers.ts';

const MINUTE_MS = 60_000;
const key = (name: string) => ({ namespace: NAMESPACE, name });
const named = ({ group, version, kind }: Kind, name: string) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: key(name),
});
const QCOW2 = { url: 'http://images.example.com/rhcos.qcow2', checksum: 'abc', diskFormat: 'qcow2' } as const;
const ISO = { url: 'http://images.example.com/agent.iso', format: 'live-iso' } as const;

/** Remembers what it was told. */
class NotedHosts implements HostPower {
  readonly booted: BootedHost[] = [];
  readonly wiped: string[] = [];

  async powerOn(host: BootedHost): Promise<void> {
    if (!this.booted.some(({ id }) => id === host.id)) this.booted.push(host);
  }

  async wipe(id: string): Promise<void> {
    this.wiped.push(id);
  }
}

interface Started {
  readonly world: MetalWorld;
  readonly hosts: NotedHosts;
}

async function started(options: Partial<Metal3Options> = {}): Promise<Started> {
  const world = await MetalWorld.start();
  const hosts = new NotedHosts();
  const { connectWorkload } = world;
  await world.env.startManager({ add: [...metal3Controllers({ hosts, connectWorkload, ...options })] });
  return { world, hosts };
}

const addHost = ({ client }: MetalWorld, name: string, spec: JsonObject = {}) =>
  client.create(BareMetalHost, { ...named(BareMetalHost, name), spec: { online: false, ...spec } });
const host = ({ client }: MetalWorld, name: string) => client.live.get(BareMetalHost, key(name));
const stateOf = async (world: MetalWorld, name: string) => (await host(world, name)).status?.provisioning?.state;
const change = ({ client }: MetalWorld, name: string, spec: JsonObject) =>
  client.patch(BareMetalHost, key(name), { type: 'merge', body: { spec } });

const READY = { status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' } as const;
const said = (type: string) => ({ deprecated: { v1beta1: { conditions: [{ type, ...READY }] } } });

async function addCluster({ client }: MetalWorld, isReady = true): Promise<Cluster> {
  const infrastructureRef = { apiGroup: Metal3Cluster.group, kind: Metal3Cluster.kind, name: 'one' };
  await client.create(Cluster, { ...named(Cluster, 'one'), spec: { infrastructureRef } });
  const status = isReady
    ? { ...said('InfrastructureReady'), initialization: { infrastructureProvisioned: true } }
    : { phase: 'Provisioning' };
  return client.patch(Cluster, key('one'), { type: 'merge', body: { status } }, { subresource: 'status' });
}

/** A Machine with bootstrap data, and its Metal3Machine. */
async function addMachine(world: MetalWorld, spec: Metal3MachineSpec, name = 'm'): Promise<Machine> {
  const { client } = world;
  await client.create(Secret, {
    metadata: key(name),
    data: { value: Buffer.from(`data of ${name}`).toString('base64') },
  });
  const to = ({ group, kind }: Kind) => ({ apiGroup: group, kind, name });
  const created = await client.create(Machine, {
    ...named(Machine, name),
    metadata: { ...key(name), labels: { [CLUSTER_NAME_LABEL]: 'one' } },
    spec: {
      clusterName: 'one',
      bootstrap: { configRef: to(FakeConfig), dataSecretName: name },
      infrastructureRef: to(Metal3Machine),
    },
  });
  const body = { status: said('BootstrapReady') };
  const machine = await client.patch(Machine, key(name), { type: 'merge', body }, { subresource: 'status' });
  const metadata = { ...key(name), labels: { [CLUSTER_NAME_LABEL]: 'one' }, ...ownedBy(created, Machine) };
  await client.create(Metal3Machine, { ...named(Metal3Machine, name), metadata, spec });
  return machine;
}

const readyMessage = (object: Metal3Machine): string => findCondition(object, 'Ready')?.message ?? '';
const metal3Machine = ({ client }: MetalWorld, name = 'm') => client.live.get(Metal3Machine, key(name));

describe('the stand-in of Metal3 for hosts', () => {
  it('agent/S13: a host is registered, inspected and prepared before it is available', async () => {
    const { world } = await started();
    await using _world = world;
    await addHost(world, 'a', { bootMACAddress: '00:11:22:33:44:55' });
    await world.env.settle();
    const states: (string | undefined)[] = [];
    for (let second = 0; second < 20; second++) {
      const state = await stateOf(world, 'a');
      if (states.at(-1) !== state) states.push(state);
      await world.env.advance(1000);
    }
    assert.deepEqual(states, ['registering', 'inspecting', 'preparing', 'available']);
    const { hardware, poweredOn } = (await host(world, 'a')).status ?? {};
    assert.ok(hardware);
    const [first, second] = (hardware.nics ?? []).map(({ mac = '' }) => mac);
    assert.deepEqual([first, /^52:54:00(:[0-9a-f]{2}){3}$/.test(second ?? '')], ['00:11:22:33:44:55', true]);
    assert.deepEqual([hardware.cpu, hardware.hostname, poweredOn], [{ arch: 'x86_64', count: 16 }, 'a', false]);
    await expectNoWrites(world.env.recorder, () => world.env.advance(10 * MINUTE_MS));
  });

  it('is as fast as it is told to be', async () => {
    const { world } = await started({ pace: { registering: 0, inspecting: 0, preparing: 0 } });
    await using _world = world;
    await addHost(world, 'a');
    await world.env.settle();
    assert.equal(await stateOf(world, 'a'), 'available');
  });

  it('agent/S13: boots only with an image and when it is to be on, with what its drive says', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await world.client.create(Secret, {
      metadata: key('user'),
      data: { value: Buffer.from('ignition').toString('base64') },
    });
    await addHost(world, 'a', { image: { url: QCOW2.url, format: 'qcow2' }, userData: { name: 'user' } });
    await world.env.advance(5 * MINUTE_MS);
    assert.deepEqual([await stateOf(world, 'a'), hosts.booted], ['available', []]);
    await change(world, 'a', { online: true });
    await world.env.advance(MINUTE_MS);
    const { status, metadata } = await host(world, 'a');
    assert.deepEqual([status?.provisioning?.state, status?.poweredOn], ['provisioned', true]);
    const [booted] = hosts.booted;
    assert.deepEqual(booted?.boot, { from: 'disk', userData: 'ignition' });
    assert.deepEqual(booted?.metadata, {
      uuid: metadata.uid,
      name: 'a',
      'metal3-name': 'a',
      'metal3-namespace': NAMESPACE,
      'local-hostname': 'a',
      local_hostname: 'a',
    });
    assert.deepEqual([booted?.architecture, booted?.macAddresses.length], ['amd64', 2]);
  });

  it('boots a live ISO by hand: no user data, no drive, no machine', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await addHost(world, 'sixth', { online: true, image: ISO });
    await world.env.advance(MINUTE_MS);
    assert.equal(await stateOf(world, 'sixth'), 'provisioned');
    assert.deepEqual(
      hosts.booted.map(({ name, boot, metadata }) => ({ name, boot, metadata })),
      [{ name: 'sixth', boot: { from: 'live-iso', url: ISO.url }, metadata: {} }],
    );
  });

  it('agent/S15: wipes a host whose image is taken away, and has it available again', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await addHost(world, 'a', { online: true, image: ISO });
    await world.env.advance(MINUTE_MS);
    const [booted] = hosts.booted;
    await change(world, 'a', { image: null, online: false });
    await world.env.settle();
    const leaving = await host(world, 'a');
    assert.deepEqual([leaving.status?.provisioning?.state, leaving.status?.poweredOn], ['deprovisioning', false]);
    await world.env.advance(MINUTE_MS);
    assert.equal(await stateOf(world, 'a'), 'available');
    assert.deepEqual(hosts.wiped, [booted?.id]);
  });

  it('wipes a host that is deleted', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await addHost(world, 'a', { online: true, image: ISO });
    await world.env.advance(MINUTE_MS);
    await world.client.delete(BareMetalHost, key('a'));
    await world.env.settle();
    assert.equal(await world.client.live.find(BareMetalHost, key('a')), undefined);
    assert.equal(hosts.wiped.length, 1);
  });

  it('shows an error of provisioning, and goes on when it is over', async () => {
    let problem: string | undefined = 'the disk is broken';
    const { world, hosts } = await started({ faults: { provisioningError: () => problem } });
    await using _world = world;
    await addHost(world, 'a', { online: true, image: ISO });
    await world.env.advance(2 * MINUTE_MS);
    const { status } = await host(world, 'a');
    assert.deepEqual(
      [status?.errorMessage, status?.errorType, status?.operationalStatus, hosts.booted.length],
      ['the disk is broken', 'provisioning error', 'error', 0],
    );
    problem = undefined;
    await world.env.advance(MINUTE_MS);
    const healed = await host(world, 'a');
    assert.deepEqual(
      [healed.status?.provisioning?.state, healed.status?.errorMessage, healed.status?.errorType],
      ['provisioned', '', undefined],
    );
  });

  it('stays where it is stuck, and waits for a Secret that is missing', async () => {
    let isStuck = true;
    const { world } = await started({ faults: { isStuck: ({ metadata }) => isStuck && metadata.name === 'a' } });
    await using _world = world;
    await addHost(world, 'a');
    await addHost(world, 'b', { online: true, image: QCOW2, userData: { name: 'missing' } });
    await world.env.advance(5 * MINUTE_MS);
    assert.equal(await stateOf(world, 'a'), undefined);
    assert.match((await host(world, 'b')).status?.errorMessage ?? '', /Secret default\/missing.*create it/);
    isStuck = false;
    await world.env.advance(MINUTE_MS);
    assert.equal(await stateOf(world, 'a'), 'available');
  });
});

describe('the stand-in of Metal3 for Clusters', () => {
  it('agent/S11: is provisioned when it knows its endpoint, and stays while Machines are there', async () => {
    const { world } = await started();
    await using _world = world;
    const cluster = await addCluster(world, false);
    const metadata = { ...key('one'), labels: { [CLUSTER_NAME_LABEL]: 'one' }, ...ownedBy(cluster, Cluster) };
    await world.client.create(Metal3Cluster, { ...named(Metal3Cluster, 'one'), metadata, spec: {} });
    await world.env.settle();
    const before = await world.client.live.get(Metal3Cluster, key('one'));
    assert.match(findCondition(before, 'Ready')?.message ?? '', /controlPlaneEndpoint.*set both/);
    const body = { spec: { controlPlaneEndpoint: { host: 'api.example.com', port: 6443 } } };
    await world.client.patch(Metal3Cluster, key('one'), { type: 'merge', body });
    await world.env.settle();
    const { status } = await world.client.live.get(Metal3Cluster, key('one'));
    assert.deepEqual([status?.ready, status?.initialization], [true, { provisioned: true }]);
    await addMachine(world, { image: QCOW2 });
    await world.client.delete(Metal3Cluster, key('one'));
    await world.env.advance(5 * MINUTE_MS);
    assert.ok(await world.client.live.find(Metal3Cluster, key('one')));
    await world.client.delete(Machine, key('m'));
    await world.env.settle();
    assert.equal(await world.client.live.find(Metal3Cluster, key('one')), undefined);
  });
});

describe('the stand-in of Metal3 for Machines', () => {
  it('agent/S12: waits for the Cluster and for bootstrap data, and names what it waits for', async () => {
    const { world } = await started();
    await using _world = world;
    await addHost(world, 'a');
    await addCluster(world, false);
    await addMachine(world, { image: QCOW2 });
    await world.env.advance(MINUTE_MS);
    const waiting = findCondition(await metal3Machine(world), 'AssociateBareMetalHost');
    assert.equal(waiting?.reason, 'WaitingForClusterInfrastructureReady');
    assert.equal((await host(world, 'a')).spec?.consumerRef, undefined);
  });

  it('agent/S12: claims a free host, and gives it image, user data and power', async () => {
    const { world } = await started();
    await using _world = world;
    await addHost(world, 'busy', { online: true, image: ISO });
    await addHost(world, 'free');
    await addCluster(world);
    await world.env.advance(MINUTE_MS);
    await addMachine(world, { image: QCOW2, automatedCleaningMode: 'disabled' });
    await world.env.settle();
    const { spec, metadata } = await host(world, 'free');
    assert.deepEqual(spec?.consumerRef, {
      apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
      kind: 'Metal3Machine',
      ...key('m'),
    });
    assert.deepEqual(spec?.image, { url: QCOW2.url, checksum: 'abc', format: 'qcow2' });
    assert.deepEqual(
      [spec?.userData, spec?.online, spec?.automatedCleaningMode, metadata.labels],
      [key('m'), true, 'disabled', { [CLUSTER_NAME_LABEL]: 'one' }],
    );
    const machine = await metal3Machine(world);
    assert.equal(machine.metadata.annotations?.[HOST_ANNOTATION], 'default/free');
    assert.deepEqual(machine.status?.userData, key('m'));
    assert.ok(isTrue(machine, 'AssociateBareMetalHost'));
  });

  it('agent/S12: says that no host is free, and takes one that gets free', async () => {
    const { world } = await started();
    await using _world = world;
    await addCluster(world);
    await addMachine(world, { image: QCOW2, hostSelector: { matchLabels: { size: 'big' } } });
    await addHost(world, 'small');
    await world.env.advance(MINUTE_MS);
    const waiting = findCondition(await metal3Machine(world), 'AssociateBareMetalHost');
    assert.match(waiting?.message ?? '', /no BareMetalHost.*add one/);
    const labels = { size: 'big' };
    await world.client.patch(BareMetalHost, key('small'), { type: 'merge', body: { metadata: { labels } } });
    await world.env.settle();
    assert.equal((await host(world, 'small')).spec?.consumerRef?.name, 'm');
  });

  it('agent/S14: gives its Node the provider ID, found by the label with the uid of the host', async () => {
    const { world } = await started();
    await using _world = world;
    await addHost(world, 'a');
    await addCluster(world);
    await world.addKubeconfig('one');
    await addMachine(world, { image: QCOW2 });
    await world.env.advance(MINUTE_MS);
    const { metadata } = await host(world, 'a');
    await world.addNode('a');
    await world.env.advance(MINUTE_MS);
    const waiting = await metal3Machine(world);
    assert.equal(waiting.spec?.providerID, undefined);
    assert.match(readyMessage(waiting), /no Node has the label metal3.io\/uuid=/);
    const labels = { 'metal3.io/uuid': metadata.uid ?? '' };
    await world.workload.patch(Node, { name: 'a' }, { type: 'merge', body: { metadata: { labels } } });
    await world.env.advance(MINUTE_MS);
    const { spec = {}, status = {} } = await metal3Machine(world);
    const node = await world.workload.live.get(Node, { name: 'a' });
    assert.deepEqual([spec.providerID, node.spec?.providerID], Array(2).fill('metal3://default/a/m'));
    assert.deepEqual([status.ready, status.initialization], [true, { provisioned: true }]);
    assert.ok(isTrue(status, 'Ready'));
    const hostnames = status.addresses?.filter(({ type }) => type === 'Hostname');
    assert.deepEqual(hostnames, [{ type: 'Hostname', address: 'a' }]);
    await expectNoWrites(world.env.recorder, () => world.env.advance(10 * MINUTE_MS));
  });

  it('agent/S14: leaves a Node alone that says it is another one', async () => {
    const { world } = await started();
    await using _world = world;
    await addHost(world, 'a');
    await addCluster(world);
    await world.addKubeconfig('one');
    await addMachine(world, { image: QCOW2 });
    await world.env.advance(MINUTE_MS);
    const { metadata } = await host(world, 'a');
    await world.addNode('a', { 'metal3.io/uuid': metadata.uid ?? '' }, 'other://1');
    await world.env.advance(MINUTE_MS);
    const message = findCondition(await metal3Machine(world), 'Ready')?.message ?? '';
    assert.match(message, /spec.providerID of Node a is other:\/\/1, not metal3:\/\/default\/a\/m/);
  });

  it('agent/S12: puts what a Metal3DataTemplate says on the drive, and the provider ID', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await addHost(world, 'a');
    await addCluster(world);
    await addMachine(world, { image: QCOW2, dataTemplate: { name: 'data' } });
    await world.env.advance(MINUTE_MS);
    const waiting = findCondition(await metal3Machine(world), 'AssociateBareMetalHost');
    assert.equal(waiting?.reason, 'WaitingForMetal3Data');
    await world.client.create(Metal3DataTemplate, {
      ...named(Metal3DataTemplate, 'data'),
      spec: {
        clusterName: 'one',
        metaData: {
          strings: [{ key: 'greeting', value: 'hello' }],
          objectNames: [{ key: 'host', object: 'baremetalhost' }],
          indexes: [{ key: 'index', prefix: 'n-', offset: 5 }],
          fromHostInterfaces: [{ key: 'mac', interface: 'enp1s0' }],
          fromLabels: [{ key: 'cluster', object: 'machine', label: CLUSTER_NAME_LABEL }],
        },
      },
    });
    await world.env.advance(MINUTE_MS);
    const { greeting, host: name, index, mac, cluster, providerid, uuid } = hosts.booted[0]?.metadata ?? {};
    const { metadata, status } = await host(world, 'a');
    assert.deepEqual([greeting, name, index, cluster], ['hello', 'a', 'n-5', 'one']);
    assert.deepEqual([providerid, uuid, mac], ['default/a/m', metadata.uid, status?.hardware?.nics?.[0]?.mac]);
  });

  it('agent/S15: lets go of its host only when that is empty again', async () => {
    const { world, hosts } = await started();
    await using _world = world;
    await addHost(world, 'a');
    await addCluster(world);
    await addMachine(world, { image: ISO });
    await world.env.advance(MINUTE_MS);
    assert.deepEqual(hosts.booted[0]?.boot, { from: 'live-iso', url: ISO.url });
    await world.client.delete(Metal3Machine, key('m'));
    await world.env.settle();
    const { image, online, userData, consumerRef } = { ...(await host(world, 'a')).spec };
    assert.deepEqual([image, online, userData, consumerRef?.name], [undefined, false, undefined, 'm']);
    assert.ok(await world.client.live.find(Metal3Machine, key('m')));
    await world.env.advance(MINUTE_MS);
    assert.equal(await world.client.live.find(Metal3Machine, key('m')), undefined);
    const { spec, metadata } = await host(world, 'a');
    assert.deepEqual([spec?.consumerRef, metadata.labels?.[CLUSTER_NAME_LABEL]], [undefined, undefined]);
    assert.equal(await stateOf(world, 'a'), 'available');
  });
});
