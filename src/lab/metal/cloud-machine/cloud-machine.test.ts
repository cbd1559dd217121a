import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeConfig, MetalWorld, NAMESPACE } from '../../../../test/support/metal-world.ts';
import { CLUSTER_NAME_LABEL, Cluster, Machine } from '../../../api/cluster-api/core-v1beta2.ts';
import { Secret } from '../../../api/generated/core-v1.ts';
import type { JsonObject } from '../../../api/json.ts';
import { LabCluster, LabMachine } from '../../../api/lab-infrastructure/infrastructure-v1beta2.ts';
import type { Kind } from '../../../api/object.ts';
import type { Unstructured } from '../../../api/unstructured.ts';
import { findCondition, isTrue } from '../../../object/conditions.ts';
import { expectExactRbac } from '../../../testing/exact-rbac.ts';
import { expectNoWrites } from '../../../testing/recorder.ts';
import { hardwareId } from '../../machine/hardware-id.ts';
import { coreControllers } from '../core/controllers.ts';
import type { BootedHost, HostPower } from '../host/host-power.ts';
import { cloudMachineControllers } from './controllers.ts';
import type { CloudInstance, InstanceCloud, InstanceWish } from './instance-cloud.ts';

const MINUTE_MS = 60_000;
const key = (name: string) => ({ namespace: NAMESPACE, name });
const to = ({ group, kind }: Kind, name: string) => ({ apiGroup: group, kind, name });
const named = ({ group, version, kind }: Kind, name: string) => ({
  apiVersion: `${group}/${version}`,
  kind,
  metadata: key(name),
});

/** A cloud whose instances run the second time somebody asks, and take two questions to go. */
class PretendCloud implements InstanceCloud {
  readonly wishes: InstanceWish[] = [];
  readonly #instances = new Map<string, CloudInstance>();
  readonly #leaving = new Set<string>();

  async ensure(wanted: string, wish: InstanceWish): Promise<CloudInstance> {
    const known = this.#instances.get(wanted);
    if (known === undefined) this.wishes.push(wish);
    const { name, zone = 'zone-a' } = wish;
    const instance: CloudInstance = {
      id: `i-${name}`,
      providerId: `lab://${zone}/i-${name}`,
      hostname: `${name}.lab`,
      zone,
      addresses: [{ type: 'InternalIP', address: '10.1.0.1' }],
      macAddresses: ['02:00:00:00:00:01'],
      state: known === undefined ? 'pending' : 'running',
    };
    this.#instances.set(wanted, instance);
    return instance;
  }

  async remove(wanted: string): Promise<boolean> {
    const isGone = this.#leaving.has(wanted) || !this.#instances.has(wanted);
    this.#leaving.add(wanted);
    if (isGone) this.#instances.delete(wanted);
    return isGone;
  }

  get size(): number {
    return this.#instances.size;
  }
}

class NotedHosts implements HostPower {
  readonly booted = new Map<string, BootedHost>();

  async powerOn(host: BootedHost): Promise<void> {
    this.booted.set(host.id, host);
  }

  async wipe(id: string): Promise<void> {
    this.booted.delete(id);
  }
}

async function started() {
  const world = await MetalWorld.start();
  const [cloud, hosts] = [new PretendCloud(), new NotedHosts()];
  const providers = [
    { group: FakeConfig.group, machines: [FakeConfig.plural] },
    { group: LabMachine.group, clusters: [LabCluster.plural], machines: [LabMachine.plural] },
  ];
  const { connectWorkload } = world;
  await world.env.startManager({ name: 'core', add: [...coreControllers({ connectWorkload, providers })] });
  await world.env.startManager({ name: 'cloud', add: [...cloudMachineControllers({ cloud, hosts })] });
  return { world, cloud, hosts };
}

async function addCluster({ client }: MetalWorld, spec: JsonObject): Promise<void> {
  await client.create(LabCluster, { ...named(LabCluster, 'one'), spec });
  await client.create(Cluster, { ...named(Cluster, 'one'), spec: { infrastructureRef: to(LabCluster, 'one') } });
}

async function addMachine({ client }: MetalWorld, failureDomain?: string): Promise<void> {
  const metadata = { ...key('m'), labels: { [CLUSTER_NAME_LABEL]: 'one' } };
  await client.create(FakeConfig, { ...named(FakeConfig, 'm'), spec: {} });
  await client.create(LabMachine, {
    ...named(LabMachine, 'm'),
    metadata,
    spec: { instanceType: 'lab.large', zone: 'zone-b' },
  });
  await client.create(Machine, {
    ...named(Machine, 'm'),
    spec: {
      clusterName: 'one',
      bootstrap: { configRef: to(FakeConfig, 'm') },
      infrastructureRef: to(LabMachine, 'm'),
      ...(failureDomain !== undefined && { failureDomain }),
    },
  });
}

async function bootstrap(world: MetalWorld): Promise<void> {
  const data = { value: Buffer.from('ignition').toString('base64') };
  await world.client.create(Secret, { metadata: key('m'), data });
  const status = { dataSecretName: 'm', initialization: { dataSecretCreated: true } };
  await world.setStatus(FakeConfig as Kind<Unstructured>, 'm', status);
}

const ENDPOINT = { controlPlaneEndpoint: { host: 'api.example.com', port: 6443 } };
const labMachine = ({ client }: MetalWorld) => client.live.get(LabMachine, key('m'));

describe('machines of the lab cloud as infrastructure of Cluster API', () => {
  it('has a Cluster provisioned when it knows its endpoint, with its zones as failure domains', async () => {
    const { world } = await started();
    await using _world = world;
    await addCluster(world, { zones: ['zone-a', 'zone-b'] });
    await world.env.advance(MINUTE_MS);
    const before = await world.client.live.get(LabCluster, key('one'));
    assert.match(findCondition(before, 'Ready')?.message ?? '', /set both/);
    await world.client.patch(LabCluster, key('one'), { type: 'merge', body: { spec: ENDPOINT } });
    await world.env.settle();
    const { status } = await world.client.live.get(Cluster, key('one'));
    assert.equal(status?.initialization?.infrastructureProvisioned, true);
    assert.deepEqual(
      status?.failureDomains?.map(({ name }) => name),
      ['zone-a', 'zone-b'],
    );
  });

  it('boots an instance with the bootstrap data, and gives its provider ID to the Machine', async () => {
    const { world, cloud, hosts } = await started();
    await using _world = world;
    await addCluster(world, ENDPOINT);
    await addMachine(world);
    await world.env.advance(MINUTE_MS);
    assert.deepEqual([cloud.size, findCondition(await labMachine(world), 'Ready')?.status], [0, 'False']);
    await bootstrap(world);
    await world.env.advance(MINUTE_MS);
    assert.deepEqual(cloud.wishes, [{ name: 'm', userData: 'ignition', zone: 'zone-b', type: 'lab.large' }]);
    const [booted] = [...hosts.booted.values()];
    assert.ok(booted);
    assert.deepEqual(booted.boot, { from: 'disk', userData: 'ignition' });
    const { name, 'provider-id': providerId } = booted.metadata;
    assert.deepEqual([booted.id, name, providerId], [hardwareId('i-m'), 'm.lab', 'lab://zone-b/i-m']);
    const { spec = {}, status = {} } = await labMachine(world);
    assert.deepEqual([spec.providerID, status.initialization], ['lab://zone-b/i-m', { provisioned: true }]);
    assert.ok(isTrue(status, 'Ready'));
    const machine = await world.client.live.get(Machine, key('m'));
    assert.deepEqual([machine.spec.providerID, machine.spec.failureDomain], ['lab://zone-b/i-m', 'zone-b']);
    assert.equal(machine.status?.phase, 'Provisioned');
    await expectNoWrites(world.env.recorder, () => world.env.advance(10 * MINUTE_MS));
  });

  it('takes the failure domain of the Machine before its own zone', async () => {
    const { world, cloud } = await started();
    await using _world = world;
    await addCluster(world, ENDPOINT);
    await addMachine(world, 'zone-c');
    await bootstrap(world);
    await world.env.advance(MINUTE_MS);
    assert.equal(cloud.wishes[0]?.zone, 'zone-c');
  });

  it('leaves no instance behind, and uses exactly the rights it has', async () => {
    const { world, cloud, hosts } = await started();
    await using _world = world;
    await addCluster(world, ENDPOINT);
    await addMachine(world);
    await bootstrap(world);
    await world.env.advance(MINUTE_MS);
    await world.client.delete(Machine, key('m'));
    await world.env.advance(MINUTE_MS);
    assert.equal(await world.client.live.find(Machine, key('m')), undefined);
    assert.deepEqual([cloud.size, hosts.booted.size], [0, 0]);
    expectExactRbac(world.env, {
      manager: 'cloud',
      unused: ['create events.k8s.io/events', 'patch events.k8s.io/events'],
    });
  });
});
