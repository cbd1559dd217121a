import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  registerBootstrapWebhooks,
  registerControlPlaneWebhooks,
} from '../../src/agent/webhooks/agent-webhooks.ts';
import { OpenshiftAssistedConfigV1alpha1 } from '../../src/api/agent/bootstrap-v1alpha1.ts';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlaneV1alpha2 } from '../../src/api/agent/controlplane-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { agentDefinitions } from '../../src/api/agent/definitions.schema.ts';
import { InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, CONVERSION_DATA_ANNOTATION, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Node, Secret } from '../../src/api/generated/core-v1.ts';
import { ClusterDeployment, ClusterImageSet } from '../../src/api/hive/hive-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { Infrastructure } from '../../src/api/openshift/config-v1.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { PrometheusMetrics } from '../../src/kube/metrics/metrics.ts';
import {
  type ConfigurationOptions,
  webhookConfigurations,
  withConversion,
} from '../../src/kube/webhook/webhook-configurations.ts';
import { Webhooks } from '../../src/kube/webhook/webhooks.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import { AgentWorld, agentCrds } from '../support/agent-world.ts';

const namespace = 'test-capi';
const OPTIONS: ConfigurationOptions = {
  name: 'agent',
  address: { service: { namespace: 'capoa-system', name: 'webhooks' } },
  trust: 'self-managed',
};

/** A hub that asks the webhooks of both providers, as an installed one does. */
async function startWithWebhooks(): Promise<AgentWorld> {
  const webhooks = new Webhooks({ clock: new VirtualClock(), log: SILENT_LOG, metrics: new PrometheusMetrics() });
  registerBootstrapWebhooks(webhooks);
  registerControlPlaneWebhooks(webhooks);
  const crds = agentCrds(agentDefinitions().map((definition) => withConversion(definition, OPTIONS)));
  const world = await AgentWorld.start({ crds, server: { resolveService: () => webhooks.local } });
  await world.apply(webhookConfigurations(webhooks, OPTIONS));
  return world;
}

const untilReady = (world: AgentWorld, key: { readonly namespace: string; readonly name: string }) =>
  world.until('the control plane is ready', async () => {
    const controlPlane = await world.client.live.get(OpenshiftAssistedControlPlane, key);
    return isTrue(controlPlane, 'Ready') && isTrue(controlPlane, 'UpgradeCompleted');
  });

/** As the server has it, whatever the version says of its type. */
const specOf = (objects: readonly KubeObject[], kind: string): unknown =>
  (objects.find((object) => object.kind === kind) as { readonly spec?: unknown } | undefined)?.spec;

describe('examples of upstream, unchanged, on a hub with webhooks', () => {
  it('agent/D6: one node: platform None, and nothing but a control plane', async () => {
    await using world = await startWithWebhooks();
    const key = { namespace, name: 'test-sno' };
    const setup = { name: key.name, controlPlane: 1, hasWorkers: false, vips: false };
    await world.apply([...hostManifests(1), ...clusterManifests(setup)]);
    await untilReady(world, key);
    const { spec } = await world.client.live.get(AgentClusterInstall, key);
    assert.deepEqual(spec?.provisionRequirements, { controlPlaneAgents: 1, workerAgents: 0 });
    assert.equal(spec.platformType, 'None');
    const workload = world.outside.workloads.find(key)?.client;
    assert.ok(workload);
    const nodes = (await workload.live.list(Node)).items;
    assert.deepEqual([nodes.length, (await world.all(Machine)).length], [1, 1]);
    const { status } = await workload.live.get(Infrastructure, { name: 'cluster' });
    assert.equal(status?.controlPlaneTopology, 'SingleReplica');
    await world.client.delete(Cluster, key);
    await world.until('it is gone', async () => (await world.client.live.find(Cluster, key)) === undefined);
    assert.deepEqual(world.leftovers(key.name), []);
  });

  it('agent/C8, agent/E4, agent/X13, agent/R1: one node of OKD: a pull secret is made up, and specs stay', async () => {
    await using world = await startWithWebhooks();
    const key = { namespace, name: 'test-sno-okd' };
    const version = '4.20.0-okd-scos.9';
    const setup = { name: key.name, controlPlane: 1, hasWorkers: false, vips: false, pullSecret: null, version };
    const manifests = clusterManifests(setup);
    await world.apply([...hostManifests(1), ...manifests]);
    await untilReady(world, key);
    await world.client.live.get(Secret, { namespace, name: 'placeholder-pull-secret' });
    const deployment = await world.client.live.get(ClusterDeployment, key);
    assert.deepEqual(deployment.spec?.pullSecretRef, { name: 'placeholder-pull-secret' });
    const [infraEnv] = await world.all(InfraEnv);
    assert.deepEqual(infraEnv?.spec?.pullSecretRef, { name: 'placeholder-pull-secret' });
    const imageSet = await world.client.live.get(ClusterImageSet, { name: key.name });
    assert.match(imageSet.spec?.releaseImage ?? '', /okd\/scos-release@sha256:/);
    const { spec, metadata, status } = await world.client.live.get(OpenshiftAssistedControlPlane, key);
    assert.equal(spec.config?.pullSecretRef, undefined);
    assert.deepEqual([metadata.generation, status?.distributionVersion], [1, version]);
  });

  it('agent/V1, agent/V3, agent/V4, agent/V5, agent/X8: several nodes in the old versions: read as they were written', async () => {
    await using world = await startWithWebhooks();
    const key = { namespace, name: 'test-multinode' };
    const manifests = clusterManifests({ isOld: true });
    await world.apply([...hostManifests(5), ...manifests]);
    await world.untilRunning(5);
    await untilReady(world, key);
    const old = await world.client.live.get(OpenshiftAssistedControlPlaneV1alpha2, key);
    const { openshiftAssistedConfigSpec: { cpuArchitecture, ...configSpec } = {}, ...spec } = old.spec;
    assert.deepEqual(
      { openshiftAssistedConfigSpec: configSpec, ...spec },
      specOf(manifests, 'OpenshiftAssistedControlPlane'),
    );
    assert.equal(cpuArchitecture, 'x86_64');
    assert.partialDeepStrictEqual(old.status, {
      initialized: true,
      ready: true,
      replicas: 3,
      readyReplicas: 3,
      updatedReplicas: 3,
      unavailableReplicas: 0,
    });
    for (const config of await world.all(OpenshiftAssistedConfig))
      assert.equal(config.metadata.annotations?.[CONVERSION_DATA_ANNOTATION], undefined);
    const oldConfigs = await world.all(OpenshiftAssistedConfigV1alpha1);
    assert.equal(oldConfigs.length, 5);
    for (const config of oldConfigs)
      assert.partialDeepStrictEqual(config, {
        spec: { sshAuthorizedKey: 'ssh-ed25519 AAAA test' },
        status: { ready: true, dataSecretName: config.metadata.name },
      });
    await assert.rejects(
      world.client.patch(
        OpenshiftAssistedConfigV1alpha1,
        { namespace, name: oldConfigs[0]?.metadata.name ?? '' },
        { type: 'merge', body: { spec: { sshAuthorizedKey: 'other' } } },
      ),
      /spec is immutable/,
    );
  });

  it('agent/V4, agent/V5, agent/U5: a tool that knows only the old version upgrades and changes, and loses nothing', async () => {
    await using world = await startWithWebhooks();
    const key = { namespace, name: 'test-sno' };
    const setup = { name: key.name, controlPlane: 1, hasWorkers: false, vips: false, isOld: true };
    await world.apply([...hostManifests(1), ...clusterManifests(setup)]);
    await untilReady(world, key);
    const body = { spec: { distributionVersion: '4.20.4' } };
    await world.client.patch(OpenshiftAssistedControlPlaneV1alpha2, key, { type: 'merge', body });
    await world.until('it has another version', async () => {
      const { status } = await world.client.live.get(OpenshiftAssistedControlPlaneV1alpha2, key);
      return status?.distributionVersion === '4.20.4';
    });
    const hub = await world.client.live.get(OpenshiftAssistedControlPlane, key);
    assert.deepEqual(hub.spec.machineTemplate.infrastructureRef, {
      apiGroup: 'infrastructure.cluster.x-k8s.io',
      kind: 'Metal3MachineTemplate',
      name: 'test-sno-controlplane',
    });
    assert.equal(hub.status?.upToDateReplicas, 1);
    assert.deepEqual(world.leaks(), []);
  });
});
