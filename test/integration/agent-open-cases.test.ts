import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { ConfigMap, Secret } from '../../src/api/generated/core-v1.ts';
import { findCondition, isTrue } from '../../src/object/conditions.ts';
import { clusterManifests } from '../support/agent-manifests.ts';
import { AgentWorld } from '../support/agent-world.ts';

const namespace = 'test-capi';
const KEY = { namespace, name: 'test-multinode' };
const isControlPlane = ({ metadata: { labels = {} } }: Machine) =>
  Object.hasOwn(labels, 'cluster.x-k8s.io/control-plane');

/** Cases that need no host: nothing is installed (section 11). */
describe('a hub without hosts', () => {
  let world: AgentWorld;
  before(async () => {
    world = await AgentWorld.start();
    await world.apply(clusterManifests());
    await world.env.advance(60_000);
  });
  after(() => world[Symbol.asyncDispose]());

  const masters = async () =>
    (await world.all(Machine)).filter(
      (machine) => isControlPlane(machine) && machine.metadata.labels?.[CLUSTER_NAME_LABEL] === KEY.name,
    );
  const controlPlane = (key = KEY) => world.client.live.get(OpenshiftAssistedControlPlane, key);

  it('agent/C12: makes exactly as many Machines as it is told, however often it looks', async () => {
    assert.equal((await masters()).length, 3);
    for (let round = 0; round < 4; round++) {
      const annotations = { 'example.com/round': String(round) };
      const body = { metadata: { annotations } };
      await world.client.patch(OpenshiftAssistedControlPlane, KEY, { type: 'merge', body });
      await world.env.settle();
    }
    assert.equal((await masters()).length, 3);
  });

  it('agent/B2: leaves a config alone that belongs to nobody', async () => {
    const key = { namespace, name: 'alone' };
    await world.client.create(OpenshiftAssistedConfig, {
      apiVersion: 'bootstrap.cluster.x-k8s.io/v1alpha2',
      kind: 'OpenshiftAssistedConfig',
      metadata: key,
      spec: {},
    });
    await world.env.advance(5 * 60_000);
    const { metadata, status } = await world.client.live.get(OpenshiftAssistedConfig, key);
    assert.deepEqual([metadata.finalizers, status?.conditions], [undefined, undefined]);
  });

  it('agent/B11: makes a Secret anew that somebody deleted', async () => {
    const [machine] = await masters();
    const key = { namespace, name: machine?.metadata.name ?? '' };
    await world.until('it is there', async () => (await world.client.live.find(Secret, key)) !== undefined, 5);
    const before = await world.client.live.get(Secret, key);
    await world.client.delete(Secret, key);
    await world.until(
      'it is there again',
      async () => (await world.client.live.find(Secret, key)) !== undefined,
      15,
    );
    assert.deepEqual((await world.client.live.get(Secret, key)).data, before.data);
  });

  it('agent/C17: says of Machines that they are outdated, and leaves them where they are', async () => {
    const [before] = await masters();
    const deletion = { nodeDrainTimeoutSeconds: 60, nodeDeletionTimeoutSeconds: 10 };
    const body = { spec: { machineTemplate: { deletion } } };
    await world.client.patch(OpenshiftAssistedControlPlane, KEY, { type: 'merge', body });
    await world.env.settle();
    const { replicas, upToDateReplicas } = (await controlPlane()).status ?? {};
    assert.deepEqual([replicas, upToDateReplicas], [3, 0]);
    for (const machine of await masters()) {
      const { status, reason } = findCondition(machine, 'UpToDate') ?? {};
      assert.deepEqual([status, reason], ['False', 'NotUpToDate']);
    }
    assert.equal((await masters())[0]?.metadata.uid, before?.metadata.uid);
  });

  it('agent/C5, agent/X11: does nothing for a Cluster that is paused', async () => {
    const name = 'paused';
    const manifests = clusterManifests({ name, workers: 1 }).map((object) =>
      object.kind === 'Cluster'
        ? { ...object, spec: { ...(object as { spec?: object }).spec, paused: true } }
        : object,
    );
    await world.apply(manifests);
    await world.env.advance(5 * 60_000);
    const key = { namespace, name };
    assert.equal(await world.client.live.find(AgentClusterInstall, key), undefined);
    const infraEnvs = (await world.all(InfraEnv)).filter(
      ({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === name,
    );
    assert.deepEqual(infraEnvs, []);
  });

  it('agent/M1, agent/B8: says what is wrong with mirrors, and has Machines wait without an error', async () => {
    const key = { namespace, name: 'mirrored' };
    const text = '[[registry]]\nlocation = 192.168.1.1:5000\n';
    await world.client.create(ConfigMap, {
      metadata: { namespace, name: 'mirrors' },
      data: { 'registries.conf': text },
    });
    const config = { imageRegistryRef: { name: 'mirrors' } };
    await world.apply(clusterManifests({ name: key.name, controlPlane: 1, workers: 0, config }));
    await world.env.advance(60_000);
    const { status, reason, message } = findCondition(await controlPlane(key), 'ClusterInstallConfigured') ?? {};
    assert.deepEqual([status, reason], ['False', 'InvalidMirrorConfig']);
    assert.match(message ?? '', /registries\.conf/);
    const { items } = await world.client.live.list(ConfigMap, { namespace });
    assert.ok(!items.some(({ metadata }) => metadata.name.endsWith('additional-registry-config')));
    assert.equal(await world.client.live.find(AgentClusterInstall, key), undefined);
    const waiting = (await world.all(OpenshiftAssistedConfig)).find(
      ({ metadata }) => metadata.labels?.[CLUSTER_NAME_LABEL] === key.name,
    );
    const said = findCondition(waiting, 'DataSecretAvailable');
    assert.equal(said?.reason, 'WaitingForAssistedInstaller');
    assert.match(said.message, /names no AgentClusterInstall yet|does not exist yet/);
    const good = '[[registry]]\nlocation = "a.example.com"\n[[registry.mirror]]\nlocation = "192.168.1.1:5000"\n';
    const body = { data: { 'registries.conf': good } };
    await world.client.patch(ConfigMap, { namespace, name: 'mirrors' }, { type: 'merge', body });
    await world.until('it is right', async () => isTrue(await controlPlane(key), 'ClusterInstallConfigured'), 5);
    assert.deepEqual(world.leaks(), []);
  });
});
