import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { METAL3 } from '../../src/agent/control-plane/watches.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Node } from '../../src/api/generated/core-v1.ts';
import { LabMachine } from '../../src/api/lab-infrastructure/infrastructure-v1beta2.ts';
import { Metal3Machine } from '../../src/api/metal3/infrastructure-v1beta2.ts';
import { Infrastructure } from '../../src/api/openshift/config-v1.ts';
import { hardwareId } from '../../src/lab/machine/hardware-id.ts';
import { cloudMachineControllers } from '../../src/lab/metal/cloud-machine/controllers.ts';
import type {
  CloudInstance,
  InstanceCloud,
  InstanceWish,
} from '../../src/lab/metal/cloud-machine/instance-cloud.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld } from '../support/agent-world.ts';

const NAME = 'external';
const ANNOTATIONS = {
  'controlplane.cluster.x-k8s.io/platform': 'External',
  'controlplane.cluster.x-k8s.io/platform-name': 'acme',
  'controlplane.cluster.x-k8s.io/cloud-controller-manager': 'External',
};
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const LAB = { group: METAL3.group, machines: 'labmachines', templates: 'labmachinetemplates' };

/** A cloud that has an instance as soon as somebody asks for it. */
class InstantCloud implements InstanceCloud {
  readonly instances = new Map<string, CloudInstance>();
  readonly userData: string[] = [];

  async ensure(wanted: string, { name, userData, zone = 'zone-a' }: InstanceWish): Promise<CloudInstance> {
    const known = this.instances.get(wanted);
    if (known !== undefined) return known;
    this.userData.push(userData);
    const id = `i-${this.userData.length}`;
    const instance = {
      id,
      providerId: `acme://${zone}/${id}`,
      hostname: name,
      zone,
      addresses: [{ type: 'InternalIP', address: `10.1.0.${this.userData.length}` }],
      macAddresses: [`02:00:00:00:00:0${this.userData.length}`],
      state: 'running',
    } as const;
    this.instances.set(wanted, instance);
    return instance;
  }

  async remove(wanted: string): Promise<boolean> {
    this.instances.delete(wanted);
    return true;
  }
}

const NAMESPACES = { Metal3: 'metal', Lab: 'cloud' } as const;
type Provider = keyof typeof NAMESPACES;
const PROVIDERS: readonly Provider[] = ['Metal3', 'Lab'];

describe('clusters of platform External, on Metal3 and on machines of a cloud', () => {
  const cloud = new InstantCloud();
  let world: AgentWorld;
  before(async () => {
    world = await AgentWorld.start({
      namespaces: Object.values(NAMESPACES),
      controllers: (hosts) => cloudMachineControllers({ cloud, hosts }),
      controlPlane: { infrastructure: [METAL3, LAB] },
    });
  });
  after(() => world[Symbol.asyncDispose]());

  const keyOf = (provider: Provider) => ({ namespace: NAMESPACES[provider], name: NAME });
  const workloadOf = (provider: Provider) => {
    const cluster = world.outside.workloads.find(keyOf(provider));
    assert.ok(cluster);
    return cluster.client;
  };
  const nodesOf = async (provider: Provider) => (await workloadOf(provider).live.list(Node)).items;
  const machinesOf = async (provider: Provider) =>
    (await world.client.live.list(Machine, { namespace: NAMESPACES[provider] })).items;
  /** Which provider ID the node of a name has, as a cloud controller manager knows it from its cloud. */
  async function providerIds(provider: Provider): Promise<ReadonlyMap<string, string>> {
    if (provider === 'Lab')
      return new Map([...cloud.instances.values()].map(({ hostname, providerId }) => [hostname, providerId]));
    const machines = await world.all(Metal3Machine);
    return new Map(
      machines.map(({ metadata: { namespace, name, annotations = {} } }) => {
        const host = (annotations['metal3.io/BareMetalHost'] ?? '').split('/')[1] ?? '';
        return [host, `metal3://${namespace}/${host}/${name}`];
      }),
    );
  }

  it('agent/D6: says External to assisted-service, by the annotations of the control plane', async () => {
    const setup = { name: NAME, controlPlane: 1, workers: 1, vips: false, annotations: ANNOTATIONS };
    const nodeRegistration = { name: '$METADATA_NAME' };
    await world.apply([
      ...hostManifests(2, NAMESPACES.Metal3),
      ...clusterManifests({ ...setup, namespace: NAMESPACES.Metal3, cloudProviderEnabled: true }),
      ...clusterManifests({
        ...setup,
        namespace: NAMESPACES.Lab,
        infrastructure: 'Lab',
        configSpec: { nodeRegistration },
      }),
    ]);
    await world.env.advance(60_000);
    for (const provider of PROVIDERS) {
      const { spec } = await world.client.live.get(AgentClusterInstall, keyOf(provider));
      assert.equal(spec?.platformType, 'External');
      assert.deepEqual(spec.external, { platformName: 'acme', cloudControllerManager: 'External' });
      assert.deepEqual([spec.apiVIPs, spec.ingressVIPs], [undefined, undefined]);
    }
  });

  it('agent/S21, agent/X4: installs both, though they have one name', async () => {
    const isInstalled = async (provider: Provider) => {
      const install = await world.client.live.get(AgentClusterInstall, keyOf(provider));
      return install.status?.debugInfo?.state === 'adding-hosts';
    };
    await world.until(
      'both are installed',
      async () => (await isInstalled('Metal3')) && (await isInstalled('Lab')),
    );
    for (const provider of PROVIDERS) {
      assert.equal((await nodesOf(provider)).length, 2);
      const controlPlane = await world.client.live.get(OpenshiftAssistedControlPlane, keyOf(provider));
      assert.ok(isTrue(controlPlane, 'Available'));
    }
    assert.equal(cloud.instances.size, 2);
    for (const text of cloud.userData) assert.match(text, /agent\.service/);
    const ids = [...cloud.instances.values()].map(({ id }) => hardwareId(id));
    const powered = world.outside.hosts.powered.map(({ host }) => host.id);
    assert.ok(ids.every((id) => powered.includes(id)));
  });

  it('has Nodes that wait for a cloud controller manager, and an Infrastructure that says so', async () => {
    for (const provider of PROVIDERS) {
      for (const { spec } of await nodesOf(provider)) {
        assert.ok(spec.taints?.some(({ key }) => key === UNINITIALIZED));
        assert.equal(spec.providerID, undefined);
      }
      const infrastructure = await workloadOf(provider).live.get(Infrastructure, { name: 'cluster' });
      assert.partialDeepStrictEqual(infrastructure, {
        spec: { platformSpec: { type: 'External', external: { platformName: 'acme' } } },
        status: {
          platformStatus: { type: 'External', external: { cloudControllerManager: { state: 'External' } } },
        },
      });
      const phases = (await machinesOf(provider)).map((machine) => machine.status?.phase);
      assert.ok(!phases.includes('Running'), phases.join());
    }
    assert.deepEqual(
      (await world.all(LabMachine)).map(({ spec }) => spec?.providerID?.startsWith('acme://zone-a/')),
      [true, true],
    );
  });

  it('agent/S8, agent/C13: runs when the cloud controller manager has come', async () => {
    for (const provider of PROVIDERS) {
      const ids = await providerIds(provider);
      for (const { metadata, spec } of await nodesOf(provider)) {
        const providerID = ids.get(metadata.name);
        assert.ok(providerID, metadata.name);
        const taints = (spec.taints ?? [])
          .filter(({ key }) => key !== UNINITIALIZED)
          .map((taint) => ({ ...taint }));
        const body = { spec: { providerID, taints } };
        await workloadOf(provider).patch(Node, { name: metadata.name }, { type: 'merge', body });
      }
    }
    for (const provider of PROVIDERS) {
      await world.untilRunning(2, NAMESPACES[provider]);
      const controlPlane = await world.client.live.get(OpenshiftAssistedControlPlane, keyOf(provider));
      await world.until('it is ready', async () =>
        isTrue(await world.client.live.get(OpenshiftAssistedControlPlane, keyOf(provider)), 'Ready'),
      );
      assert.equal(controlPlane.status?.replicas, 1);
    }
  });

  it('agent/X17, agent/X19: leaves neither objects nor instances behind', async () => {
    for (const provider of PROVIDERS) await world.client.delete(Cluster, keyOf(provider));
    await world.until('both are gone', async () => (await world.all(Cluster)).length === 0);
    await world.env.advance(60_000);
    assert.deepEqual(world.leftovers(NAME), []);
    assert.deepEqual([cloud.instances.size, world.outside.hosts.powered], [0, []]);
    assert.deepEqual(world.leaks(), []);
  });
});
