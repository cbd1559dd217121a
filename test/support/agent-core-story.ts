import assert from 'node:assert/strict';
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
import type { ExitCode } from '../../src/kube/manager/exit-code.ts';
import { isTrue } from '../../src/object/conditions.ts';
import { adminClient } from './admin-client.ts';
import {
  conditionLines,
  eventually,
  type OracleOutside,
  startOutside,
  startProviders,
} from './agent-oracle-hub.ts';
import { applyAll, placedAgent, webhookFlags, webhookPlace } from './agent-oracle-installation.ts';
import { startCore } from './cluster-api-core.ts';
import { startEmbedded } from './embedded.ts';
import { startKubernetes } from './kubernetes.ts';
import { needsAll, needsOracle } from './needs-oracle.ts';
import { scratchDirectory } from './scratch.ts';

const core = needsOracle('cluster-api-core');

/** An API server with garbage collection: the kubeconfig of its administrator. */
type StartHub = (parts: AsyncDisposableStack) => Promise<string>;

export const CORE_HUBS: readonly {
  readonly name: string;
  readonly needs: typeof core;
  readonly start: StartHub;
}[] = [
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

interface StoryParts {
  readonly client: KubeClient;
  readonly outside: OracleOutside;
  readonly log: () => string;
  /** Of the Cluster. */
  readonly key: { readonly namespace: string; readonly name: string };
}

/** What a cluster of five machines goes through with the real core manager, and how far it has come when it does not. */
export class CoreStory {
  readonly client: KubeClient;
  readonly #outside: OracleOutside;
  readonly #log: () => string;
  readonly #key: StoryParts['key'];

  constructor({ client, outside, log, key }: StoryParts) {
    this.client = client;
    this.#outside = outside;
    this.#log = log;
    this.#key = key;
  }

  async until(what: string, isSo: () => Promise<boolean>, seconds = 150): Promise<void> {
    await eventually(what, isSo, { seconds, explain: () => this.#explain() });
  }

  /** Applies the manifests, and waits until everything runs. */
  async install(manifests: readonly KubeObject[]): Promise<void> {
    await applyAll(this.client, manifests);
    await this.until('the control plane is available and ready', async () => {
      const found = await this.controlPlane();
      return isTrue(found, 'Available') && isTrue(found, 'Ready');
    });
    await this.#running();
  }

  async checkInstalled(): Promise<void> {
    const { namespace, name } = this.#key;
    const { status } = await this.client.live.get(Cluster, this.#key);
    assert.partialDeepStrictEqual(status, { initialization: { controlPlaneInitialized: true } });
    const { data = {} } = await this.client.live.get(Secret, { namespace, name: `${name}-kubeconfig` });
    const [workload] = this.#outside.workloads.clusters;
    assert.ok(workload);
    assert.equal(Buffer.from(data['value'] ?? '', 'base64').toString(), workload.kubeconfig);
    const nodes = (await workload.client.list(Node)).items;
    assert.deepEqual(
      (await this.machines()).map((machine) => machine.status?.nodeRef?.name ?? '').toSorted(byText),
      nodes.map(({ metadata }) => metadata.name).toSorted(byText),
    );
    assert.equal(this.#outside.hosts.powered.length, 5, 'as many hosts as Machines: nobody only bootstraps');
  }

  async loseWorker(): Promise<void> {
    const worker = (await this.machines()).find(
      ({ metadata }) => metadata.labels?.['cluster.x-k8s.io/control-plane'] === undefined,
    );
    assert.ok(worker);
    const { name } = worker.metadata;
    await this.client.delete(Machine, { namespace: this.#key.namespace, name });
    await this.until('the worker is replaced', async () => {
      const left = await this.machines();
      return left.length === 5 && left.every(({ metadata }) => metadata.name !== name);
    });
    await this.#running();
  }

  /** With what users made; nothing else may be left. */
  async remove(): Promise<void> {
    const { namespace } = this.#key;
    await this.client.delete(Cluster, this.#key);
    await this.until('nothing is left of it', async () => (await this.#all()).length === 0);
    await this.until('hosts are free', async () =>
      (await this.client.live.list(BareMetalHost, { namespace })).items.every(
        ({ spec }) => spec?.consumerRef === undefined,
      ),
    );
    const { items } = await this.client.live.list(Secret, { namespace });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['pull-secret'],
    );
  }

  /** The only one there is: a topology chooses its name. */
  async controlPlane(): Promise<OpenshiftAssistedControlPlane> {
    const { items } = await this.client.live.list(OpenshiftAssistedControlPlane);
    const [found] = items;
    assert.ok(found);
    return found;
  }

  async machines(): Promise<readonly Machine[]> {
    return (await this.client.live.list(Machine, { namespace: this.#key.namespace })).items;
  }

  async #running(): Promise<void> {
    await this.until('five Machines run', async () => {
      const machines = await this.machines();
      return machines.length === 5 && machines.every(({ status }) => status?.phase === 'Running');
    });
  }

  async #all(): Promise<readonly KubeObject[]> {
    const lists = MADE.map(async (kind) => (await this.client.live.list(kind as Kind)).items);
    return (await Promise.all(lists)).flat();
  }

  async #explain(): Promise<string> {
    const hosts = (await this.client.live.list(BareMetalHost)).items;
    return `${conditionLines([...(await this.#all()), ...hosts])}\n${this.#log().slice(-6000)}`;
  }
}

const byText = (one: string, other: string): number => one.localeCompare(other);

/** The providers at work on a hub with the real core, and a cluster that can be installed there. */
export interface RunningStory {
  readonly story: CoreStory;
  readonly outside: OracleOutside;
  /** Ends both providers. */
  readonly stop: () => Promise<ExitCode>;
}

/** Definitions, core, what is outside, and both providers, ready. */
export async function startCoreStory(
  admin: string,
  key: StoryParts['key'],
  parts: AsyncDisposableStack,
): Promise<RunningStory> {
  const client = await adminClient(parts, admin);
  parts.use(await startCore(admin));
  const { path } = parts.use(await scratchDirectory());
  const place = await webhookPlace(path);
  const others = [...assistedDefinitions(), ...hiveDefinitions(), ...metal3Definitions()];
  await applyAll(client, others as unknown as readonly KubeObject[]);
  await applyAll(client, placedAgent(place));
  await client.create(Namespace, { metadata: { name: key.namespace } });
  const outside = parts.use(await startOutside(client, admin));
  const argv = [`--kubeconfig=${admin}`, ...webhookFlags(place)];
  const program = parts.use(startProviders({ providers: ['bootstrap', 'control-plane'], argv, outside }));
  const story = new CoreStory({ client, outside, log: () => program.log, key });
  await story.until('the webhooks are served', () => Promise.resolve(program.log.includes('"Ready"')));
  return { story, outside, stop: () => program.stop() };
}
