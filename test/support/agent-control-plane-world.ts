import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ControlPlaneOptions } from '../../src/agent/control-plane/controllers.ts';
import { controlPlaneControllers } from '../../src/agent/control-plane/controllers.ts';
import type { ReleaseImages } from '../../src/agent/release/release-images.ts';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { OpenshiftAssistedControlPlane } from '../../src/api/agent/controlplane-v1alpha3.ts';
import { agentDefinitions } from '../../src/api/agent/definitions.schema.ts';
import { assistedDefinitions } from '../../src/api/assisted/definitions.schema.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { CLUSTER_NAME_LABEL, Cluster, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { clusterApiDefinitions } from '../../src/api/cluster-api/definitions.schema.ts';
import { Namespace, Secret } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import { hiveDefinitions } from '../../src/api/hive/definitions.schema.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { metal3Definitions } from '../../src/api/metal3/definitions.schema.ts';
import { Metal3Machine, Metal3MachineTemplate } from '../../src/api/metal3/infrastructure-v1beta2.ts';
import type { Condition, KubeObject } from '../../src/api/object.ts';
import { SlipwayError } from '../../src/base/errors.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { findCondition, setCondition } from '../../src/object/conditions.ts';
import { type ManagerSetup, TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';

export const NAMESPACE = 'metal';
export const CLUSTER = 'ocp';
const CONTROL_PLANE = 'ocp-cp';
const VERSION = '4.20.1';

const object = { namespace: NAMESPACE };
export const cpKey = { ...object, name: CONTROL_PLANE };

export const agentCrds = (): readonly (JsonObject & KubeObject)[] => [
  ...clusterApiDefinitions(),
  ...agentDefinitions(),
  ...assistedDefinitions(),
  ...hiveDefinitions(),
  ...metal3Definitions(),
];

/** Registries as they answer in tests: on a later tick, and with what a test wants to go wrong. */
export class FakeReleases implements ReleaseImages {
  readonly asked: string[] = [];
  failure: SlipwayError | undefined;
  kubernetesVersion = '1.33.5';

  async digestOf(image: string, pullSecret: string): Promise<string> {
    await this.#answer('digest', image, pullSecret);
    return `${image.slice(0, image.lastIndexOf(':'))}@sha256:${Buffer.from(image).toString('hex').padEnd(64, '0').slice(-64)}`;
  }

  async kubernetesVersionOf(image: string, pullSecret: string): Promise<string> {
    await this.#answer('version', image, pullSecret);
    return this.kubernetesVersion;
  }

  async #answer(what: string, image: string, pullSecret: string): Promise<void> {
    this.asked.push(`${what} ${image} ${pullSecret}`);
    await nextTurn();
    if (this.failure !== undefined) throw this.failure;
  }
}

export interface ControlPlaneWorld extends AsyncDisposable {
  readonly env: TestEnv;
  readonly client: KubeClient;
  readonly releases: FakeReleases;
  /** What is told to users, as `reason: note`. */
  events(): Promise<readonly string[]>;
}

export interface WorldOptions {
  readonly server?: TestEnvOptions;
  readonly controllers?: Partial<ControlPlaneOptions>;
}

const unreachable = () => Promise.reject(new Error('no workload cluster in this test'));

/** The managers' parts for the options of a test. */
export const provider =
  (releases: ReleaseImages, options: Partial<ControlPlaneOptions> = {}): ManagerSetup['add'] =>
  (manager) =>
    controlPlaneControllers({
      releases,
      connectWorkload: unreachable,
      clock: manager.clock,
      metrics: manager.metrics,
      ...options,
    });

export async function startWorld({ server = {}, controllers }: WorldOptions = {}): Promise<ControlPlaneWorld> {
  const env = await TestEnv.start({ crds: agentCrds(), ...server });
  const releases = new FakeReleases();
  await env.startManager({ add: provider(releases, controllers) });
  return {
    env,
    client: env.client,
    releases,
    events: async () => {
      await env.advance(2000);
      const { items } = await env.client.live.list(Event);
      return items.map(({ reason, note }) => `${reason}: ${note}`);
    },
    [Symbol.asyncDispose]: () => env[Symbol.asyncDispose](),
  };
}

export type ControlPlaneInput = {
  readonly namespace?: string;
  readonly name?: string;
  readonly cluster?: string;
  readonly spec?: Partial<OpenshiftAssistedControlPlane['spec']>;
  readonly metadata?: Partial<KubeObject['metadata']>;
  readonly clusterSpec?: Cluster['spec'];
  readonly clusterStatus?: Cluster['status'];
};

export const PULL_SECRET = '{"auths":{"registry.example":{"auth":"dTpw"}}}';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** What users and core make before the provider can begin. */
export async function prepare(
  client: KubeClient,
  input: ControlPlaneInput = {},
): Promise<OpenshiftAssistedControlPlane> {
  const { namespace = NAMESPACE, cluster: name = CLUSTER } = input;
  if ((await client.live.find(Namespace, { name: namespace })) === undefined) {
    await client.create(Namespace, { metadata: { name: namespace } });
    await client.create(Secret, {
      metadata: { namespace, name: 'pull' },
      data: { '.dockerconfigjson': base64(PULL_SECRET) },
    });
    await client.create(Metal3MachineTemplate, machineTemplate(namespace));
  }
  const cluster = await client.create(Cluster, {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { namespace, name },
    spec: {
      controlPlaneEndpoint: { host: 'api.ocp.example.com', port: 6443 },
      clusterNetwork: {
        pods: { cidrBlocks: ['10.128.0.0/14'] },
        services: { cidrBlocks: ['172.30.0.0/16'] },
      },
      controlPlaneRef: {
        apiGroup: OpenshiftAssistedControlPlane.group,
        kind: OpenshiftAssistedControlPlane.kind,
        name: input.name ?? CONTROL_PLANE,
      },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'Metal3Cluster', name },
      ...input.clusterSpec,
    },
  });
  const status = { initialization: { infrastructureProvisioned: true }, ...input.clusterStatus };
  await client.updateStatus(Cluster, { ...cluster, status });
  return client.create(OpenshiftAssistedControlPlane, controlPlane(cluster, input));
}

const machineTemplate = (namespace: string): Metal3MachineTemplate => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1beta2',
  kind: 'Metal3MachineTemplate',
  metadata: { namespace, name: 'masters' },
  spec: {
    template: {
      metadata: { labels: { rack: 'a' } },
      spec: { image: { url: 'http://images.example/rhcos.qcow2', checksum: 'abc', format: 'qcow2' } },
    },
  } as Metal3MachineTemplate['spec'],
});

export function controlPlane(cluster: Cluster, input: ControlPlaneInput = {}): OpenshiftAssistedControlPlane {
  const { namespace = NAMESPACE, name = CONTROL_PLANE, spec = {}, metadata = {} } = input;
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha3',
    kind: 'OpenshiftAssistedControlPlane',
    metadata: {
      namespace,
      name,
      ...metadata,
      labels: { [CLUSTER_NAME_LABEL]: cluster.metadata.name, ...metadata.labels },
      ownerReferences: [
        {
          apiVersion: cluster.apiVersion,
          kind: 'Cluster',
          name: cluster.metadata.name,
          uid: cluster.metadata.uid ?? '',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      distributionVersion: VERSION,
      replicas: 3,
      config: { baseDomain: 'example.com', pullSecretRef: { name: 'pull' } },
      machineTemplate: {
        infrastructureRef: {
          apiGroup: 'infrastructure.cluster.x-k8s.io',
          kind: 'Metal3MachineTemplate',
          name: 'masters',
        },
      },
      openshiftAssistedConfigSpec: { cpuArchitecture: 'x86_64' },
      ...spec,
    },
  };
}

export const getControlPlane = (client: KubeClient, key = cpKey): Promise<OpenshiftAssistedControlPlane> =>
  client.live.get(OpenshiftAssistedControlPlane, key);

/** `False/Reason: message`, or nothing where there is no such condition. */
export function shownCondition(holder: KubeObject, type: string): string | undefined {
  const found = findCondition(holder, type);
  if (found === undefined) return undefined;
  return `${found.status}/${found.reason}${found.message === '' ? '' : `: ${found.message}`}`;
}

export const listMachines = async (client: KubeClient, namespace = NAMESPACE): Promise<readonly Machine[]> => {
  const { items } = await client.live.list(Machine, { namespace });
  return items;
};

/** Core has seen the Machine: it owns its parts, and holds it until they are gone (S5). */
export async function adoptMachine(
  client: KubeClient,
  { metadata: { namespace = '', name, uid = '' } }: Machine,
): Promise<void> {
  const reference = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name, uid, controller: true };
  const body = { metadata: { ownerReferences: [reference] } };
  await client.patch(OpenshiftAssistedConfig, { namespace, name }, { type: 'merge', body });
  await client.patch(Metal3Machine, { namespace, name }, { type: 'merge', body });
}

/** What core says of a Machine whose Node is there; or is not. */
export async function setMachine(client: KubeClient, machine: Machine, isReady: boolean): Promise<void> {
  const key = { namespace: machine.metadata.namespace ?? '', name: machine.metadata.name };
  const live = await client.live.get(Machine, key);
  const now = new Date('2026-01-01T00:00:00Z');
  let conditions: readonly Condition[] = live.status?.conditions ?? [];
  for (const type of ['Ready', 'Available'])
    ({ conditions } = setCondition(
      conditions,
      { type, status: isReady ? 'True' : 'False', reason: isReady ? type : 'NotReady', message: '' },
      now,
    ));
  const status = { ...live.status, conditions, phase: isReady ? 'Running' : 'Provisioned' };
  await client.updateStatus(Machine, { ...live, status });
}

export async function readyAllMachines(client: KubeClient, namespace = NAMESPACE): Promise<void> {
  for (const machine of await listMachines(client, namespace)) await setMachine(client, machine, true);
}

/** What assisted-service says of an installation. */
export async function setInstall(
  client: KubeClient,
  status: AgentClusterInstall['status'],
  spec: AgentClusterInstall['spec'] = {},
  key = cpKey,
): Promise<void> {
  const body = { spec } as unknown as JsonObject;
  if (Object.keys(spec).length > 0) await client.patch(AgentClusterInstall, key, { type: 'merge', body });
  const live = await client.live.get(AgentClusterInstall, key);
  await client.updateStatus(AgentClusterInstall, { ...live, ...(status !== undefined && { status }) });
}

export const failureOf = (reason: string, message: string): SlipwayError =>
  new SlipwayError('retry', reason, message);
