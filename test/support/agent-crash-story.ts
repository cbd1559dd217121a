import assert from 'node:assert/strict';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { Agent, InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Namespace, Node } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { applyObject } from '../../src/kube/apply/apply-object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import type { IdentityReader } from '../../src/lab/metal/host/node-identity.ts';
import { conditionsOf } from '../../src/object/conditions.ts';
import type { CrashScenario, ScenarioLife, ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import { type ClusterSetup, clusterManifests, hostManifests } from './agent-manifests.ts';
import { agentControllers, agentCrds, agentOutside, type Outside } from './agent-world.ts';

const namespace = 'test-capi';
const NAME = 'small';
const KEY = { namespace, name: NAME };
/** So fast that a run takes minutes of virtual time. */
const PACE = 0.05;
const MOST_ROUNDS = 40;

/** What the scripts of a host come to; other tests run them. */
const asToldByMetal3: IdentityReader = async ({ host: { name, metadata, boot } }) => ({
  hostname: name,
  // Who booted an ISO has no config drive: the Agent has its labels.
  labels: boot.from === 'disk' ? { 'metal3.io/uuid': metadata['uuid'] ?? '' } : {},
  problems: [],
  notRun: [],
});

/** One run: everything outside of the hub lives here, across the lives of both providers. */
class Story {
  readonly #setup: ClusterSetup;
  #outside: Outside | undefined;
  /** What was there at each step, without what differs from run to run. */
  readonly seen: unknown[] = [];

  constructor(setup: ClusterSetup) {
    this.#setup = setup;
  }

  get outside(): Outside {
    assert.ok(this.#outside);
    return this.#outside;
  }

  controllers(life: ScenarioLife) {
    const { bootstrap, controlPlane } = agentControllers(life, {
      http: (request) => life.look(() => this.outside.http(request)),
      workloads: { connect: (kubeconfig) => this.#connect(life, kubeconfig) },
    });
    return [...bootstrap, ...controlPlane];
  }

  /** The other cluster is outside of this one: a write there is a point, too. */
  async #connect(life: ScenarioLife, kubeconfig: string): Promise<KubeClient> {
    const client = await life.look(() => this.outside.workloads.connect(kubeconfig));
    const effect = { verb: 'patch', kind: 'clusterversion', name: 'version' };
    const patch: KubeClient['patch'] = (...call) => life.effect(effect, () => client.patch(...call));
    const get: KubeClient['get'] = (...call) => life.look(() => client.live.get(...call));
    return { ...client, patch, live: { ...client.live, get } };
  }

  /** Installed, one more master, and gone again. */
  async act(world: ScenarioWorld): Promise<void> {
    const { client, env } = world;
    await using outside = await agentOutside(env, { pace: PACE, identify: asToldByMetal3 });
    this.#outside = outside;
    const manager = await env.startManager({ name: 'stand-ins', add: outside.controllers });
    await client.create(Namespace, { metadata: { name: namespace } });
    const mapper = createRestMapper(client, env.clock);
    const manifests = [...hostManifests(3), ...clusterManifests({ ...this.#setup, name: NAME })];
    for (const object of manifests) await applyObject({ client, mapper }, object, { force: true });
    await this.#settled(world, 2);
    const body = { spec: { replicas: 2 } };
    await client.patch(OpenshiftAssistedControlPlane, KEY, { type: 'merge', body });
    await this.#settled(world, 3);
    await client.delete(Cluster, KEY);
    await until(world, 'the Cluster is gone', async () => (await client.live.find(Cluster, KEY)) === undefined);
    this.seen.push(outside.hosts.powered.length, outside.workloads.clusters.length);
    await env.stopManager(manager);
  }

  async #settled(world: ScenarioWorld, machines: number): Promise<void> {
    const { client } = world;
    await until(world, `${machines} Machines run`, async () => {
      const { items } = await client.live.list(Machine, { namespace });
      const install = await client.live.find(AgentClusterInstall, KEY);
      const isRunning = items.length === machines && items.every(({ status }) => status?.phase === 'Running');
      return isRunning && install?.status?.debugInfo?.state === 'adding-hosts';
    });
    await world.converge();
    this.seen.push(await summary(client, this.outside));
  }
}

async function until({ converge }: ScenarioWorld, what: string, isTrue: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    await converge();
    if (await isTrue()) return;
  }
  throw new Error(`it never comes to it that ${what}`);
}

/** What a cluster has come to, without names that somebody made up. */
async function summary(client: KubeClient, { workloads }: Outside): Promise<unknown> {
  const { status } = await client.live.get(OpenshiftAssistedControlPlane, KEY);
  const { items: agents } = await client.live.list(Agent, { namespace });
  const { items: infraEnvs } = await client.live.list(InfraEnv, { namespace });
  const { items: configs } = await client.live.list(OpenshiftAssistedConfig, { namespace });
  const nodes = (await workloads.find(KEY)?.client.live.list(Node))?.items ?? [];
  const { conditions = [], ...counters } = status ?? {};
  return {
    counters: Object.entries(counters)
      .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
      .toSorted(),
    conditions: conditions.map(({ type, status: is, reason }) => `${type}=${is}/${reason}`),
    agents: agents.map(({ spec }) => `${spec.role} ${spec.approved}`).toSorted(),
    infraEnvs: infraEnvs.length,
    configs: configs
      .flatMap((config) => conditionsOf(config).map(({ type, status: is }) => `${type}=${is}`))
      .toSorted(),
    nodes: nodes.length,
  };
}

const kinds = agentCrds().map((crd) => ({
  // A definition is an object of the API, whatever made it.
  toCRD: () => crd as unknown as KubeObject,
}));

/** Both providers in one program, against everything else as another one. */
export const agentCrashScenario = (bootMethod: 'ignition' | 'live-iso'): CrashScenario => ({
  name: `a small cluster, ${bootMethod}`,
  kinds,
  start: () => {
    const story = new Story({ controlPlane: 1, workers: 1, bootMethod });
    return {
      controllers: (life) => story.controllers(life),
      act: (world) => story.act(world),
      inventory: () => story.seen,
    };
  },
});

/** Every so many-th point, beginning with the one at `from`. */
export function everyPoint(step: number, from = 0): () => boolean {
  let at = 0;
  return () => at++ % step === from;
}
