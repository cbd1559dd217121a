import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { Agent, InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { assistedDefinitions } from '../../src/api/assisted/definitions.schema.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Cluster, Machine, MachineDeployment } from '../../src/api/cluster-api/core-v1beta2.ts';
import { Namespace, Node, Secret } from '../../src/api/generated/core-v1.ts';
import { hiveDefinitions } from '../../src/api/hive/definitions.schema.ts';
import { ClusterDeployment, ClusterImageSet } from '../../src/api/hive/hive-v1.ts';
import { metal3Definitions } from '../../src/api/metal3/definitions.schema.ts';
import { Metal3Machine } from '../../src/api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../src/api/metal3/metal3-v1alpha1.ts';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { adminClient } from '../support/admin-client.ts';
import { clusterManifests, hostManifests } from '../support/agent-manifests.ts';
import {
  conditionLines,
  eventually,
  type OracleOutside,
  startOutside,
  startProviders,
} from '../support/agent-oracle-hub.ts';
import { applyAll, placedAgent, webhookFlags, webhookPlace } from '../support/agent-oracle-installation.ts';
import { startCore } from '../support/cluster-api-core.ts';
import { startEmbedded } from '../support/embedded.ts';
import { startKubernetes } from '../support/kubernetes.ts';
import { needsAll, needsOracle } from '../support/needs-oracle.ts';
import { scratchDirectory } from '../support/scratch.ts';

const core = needsOracle('cluster-api-core');
const NAMESPACE = 'test-capi';
const NAME = 'test-multinode';
const KEY = { namespace: NAMESPACE, name: NAME };

/** An API server with garbage collection: the kubeconfig of its administrator. */
type StartHub = (parts: AsyncDisposableStack) => Promise<string>;

const HUBS: readonly { readonly name: string; readonly needs: typeof core; readonly start: StartHub }[] = [
  {
    name: 'the real kube-apiserver',
    needs: needsAll(
      core,
      needsOracle('etcd', { min: '3.5.13' }),
      needsOracle('kube-apiserver'),
      needsOracle('kube-controller-manager'),
    ),
    start: async (parts) => parts.use(await startKubernetes({ controllerManager: true })).admin,
  },
  {
    name: 'the embedded API server',
    needs: core,
    start: async (parts) => await parts.use(await startEmbedded()).user('admin', ['system:masters']),
  },
];

const MADE = [
  OpenshiftAssistedControlPlane,
  OpenshiftAssistedConfig,
  InfraEnv,
  Agent,
  AgentClusterInstall,
  ClusterDeployment,
  ClusterImageSet,
  Metal3Machine,
  Machine,
  MachineDeployment,
  Cluster,
] as const;

/** What the cluster goes through, and how far it has come when it does not. */
class Story {
  readonly #client: KubeClient;
  readonly #outside: OracleOutside;
  readonly #log: () => string;

  constructor(client: KubeClient, outside: OracleOutside, log: () => string) {
    this.#client = client;
    this.#outside = outside;
    this.#log = log;
  }

  async until(what: string, isSo: () => Promise<boolean>, seconds = 150): Promise<void> {
    await eventually(what, isSo, { seconds, explain: () => this.#explain() });
  }

  /** Applies the manifests, and waits until everything runs. */
  async install(): Promise<void> {
    await applyAll(this.#client, [...hostManifests(6), ...clusterManifests()]);
    await this.until('the control plane is available and ready', async () => {
      const found = await this.#client.live.get(OpenshiftAssistedControlPlane, KEY);
      return isTrue(found, 'Available') && isTrue(found, 'Ready');
    });
    await this.#running();
  }

  async checkInstalled(): Promise<void> {
    const { status } = await this.#client.live.get(Cluster, KEY);
    assert.partialDeepStrictEqual(status, { initialization: { controlPlaneInitialized: true } });
    const secret = { namespace: NAMESPACE, name: `${NAME}-kubeconfig` };
    const { data = {} } = await this.#client.live.get(Secret, secret);
    const [workload] = this.#outside.workloads.clusters;
    assert.ok(workload);
    assert.equal(Buffer.from(data['value'] ?? '', 'base64').toString(), workload.kubeconfig);
    const nodes = (await workload.client.list(Node)).items;
    assert.deepEqual(
      (await this.#machines()).map((machine) => machine.status?.nodeRef?.name ?? '').toSorted(byText),
      nodes.map(({ metadata }) => metadata.name).toSorted(byText),
    );
    assert.equal(this.#outside.hosts.powered.length, 5, 'as many hosts as Machines: nobody only bootstraps');
  }

  async loseWorker(): Promise<void> {
    const worker = (await this.#machines()).find(
      ({ metadata }) => metadata.labels?.['cluster.x-k8s.io/control-plane'] === undefined,
    );
    assert.ok(worker);
    const { name } = worker.metadata;
    await this.#client.delete(Machine, { namespace: NAMESPACE, name });
    await this.until('the worker is replaced', async () => {
      const left = await this.#machines();
      return left.length === 5 && left.every(({ metadata }) => metadata.name !== name);
    });
    await this.#running();
  }

  async remove(): Promise<void> {
    await this.#client.delete(Cluster, KEY);
    await this.until('nothing is left of it', async () => (await this.#all()).length === 0);
    await this.until('hosts are free', async () =>
      (await this.#client.live.list(BareMetalHost, { namespace: NAMESPACE })).items.every(
        ({ spec }) => spec?.consumerRef === undefined,
      ),
    );
    const { items } = await this.#client.live.list(Secret, { namespace: NAMESPACE });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['pull-secret'],
    );
  }

  async #machines(): Promise<readonly Machine[]> {
    return (await this.#client.live.list(Machine, { namespace: NAMESPACE })).items;
  }

  async #running(): Promise<void> {
    await this.until('five Machines run', async () => {
      const machines = await this.#machines();
      return machines.length === 5 && machines.every(({ status }) => status?.phase === 'Running');
    });
  }

  async #all(): Promise<readonly KubeObject[]> {
    const lists = MADE.map(async (kind) => (await this.#client.live.list(kind as Kind)).items);
    return (await Promise.all(lists)).flat();
  }

  async #explain(): Promise<string> {
    const hosts = (await this.#client.live.list(BareMetalHost)).items;
    return `${conditionLines([...(await this.#all()), ...hosts])}\n${this.#log().slice(-6000)}`;
  }
}

const byText = (one: string, other: string): number => one.localeCompare(other);

/** Everything but the providers: definitions, core, and what is outside. */
async function startAround(admin: string, parts: AsyncDisposableStack) {
  const client = await adminClient(parts, admin);
  parts.use(await startCore(admin));
  const { path } = parts.use(await scratchDirectory());
  const place = await webhookPlace(path);
  const others = [...assistedDefinitions(), ...hiveDefinitions(), ...metal3Definitions()];
  await applyAll(client, others as unknown as readonly KubeObject[]);
  await applyAll(client, placedAgent(place));
  await client.create(Namespace, { metadata: { name: NAMESPACE } });
  return { client, place, outside: parts.use(await startOutside(client, admin)) };
}

for (const { name, needs, start } of HUBS) {
  describe(`the Agent providers with the core manager of Cluster API 1.14.2, on ${name}`, needs, () => {
    it('agent/S26: a cluster is installed, loses a worker, and is deleted with nothing left', async (t) => {
      await using parts = new AsyncDisposableStack();
      const admin = await start(parts);
      const { client, place, outside } = await startAround(admin, parts);
      const argv = [`--kubeconfig=${admin}`, ...webhookFlags(place)];
      const program = parts.use(startProviders({ providers: ['bootstrap', 'control-plane'], argv, outside }));
      const story = new Story(client, outside, () => program.log);
      await story.until('the webhooks are served', () => Promise.resolve(program.log.includes('"Ready"')));
      const beganMs = performance.now();
      await story.install();
      t.diagnostic(`installed after ${Math.round((performance.now() - beganMs) / 1000)} s`);
      await story.checkInstalled();
      await story.loseWorker();
      await story.remove();
      assert.equal(await program.stop(), 0);
    });
  });
}
