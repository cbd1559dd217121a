import assert from 'node:assert/strict';
import {
  CLUSTER_NAME_LABEL,
  CLUSTER_SECRET_TYPE,
  Cluster,
  CONTROL_PLANE_LABEL,
  Machine,
} from '../../src/api/cluster-api/core-v1beta2.ts';
import { clusterApiDefinitions } from '../../src/api/cluster-api/definitions.schema.ts';
import { Node, Secret } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { labInfrastructureDefinitions } from '../../src/api/lab-infrastructure/definitions.schema.ts';
import { metal3Definitions } from '../../src/api/metal3/definitions.schema.ts';
import { type Kind, type KubeObject, keyOf } from '../../src/api/object.ts';
import { type Unstructured, unstructured } from '../../src/api/unstructured.ts';
import type { ApiServer } from '../../src/apiserver/options.ts';
import { startApiServer } from '../../src/apiserver/start.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { createClient } from '../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { type Controller, controllerFor } from '../../src/kube/controller/controller.ts';
import { after, DONE, type Result } from '../../src/kube/controller/reconcile.ts';
import { needs } from '../../src/kube/rbac/need.ts';
import type { ProviderResources } from '../../src/lab/metal/core/provider-resources.ts';
import type { BootedHost, HostPower } from '../../src/lab/metal/host/host-power.ts';
import { ownedBy } from '../../src/object/owner-references.ts';
import { TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';

const kindOf = (group: string, kind: string): Kind<Unstructured> =>
  unstructured({ group, version: 'v1alpha9', kind, plural: `${kind.toLowerCase()}s`, scope: 'Namespaced' });

/** Kinds of providers that nobody but these tests has heard of. */
export const FakeConfig = kindOf('bootstrap.example.com', 'FakeConfig');
export const FakeConfigTemplate = kindOf('bootstrap.example.com', 'FakeConfigTemplate');
export const FakeControlPlane = kindOf('controlplane.example.com', 'FakeControlPlane');
/** Follows the older contract. */
export const OldCluster = kindOf('old.example.com', 'OldCluster');

export const FAKE_PROVIDERS: readonly ProviderResources[] = [
  { group: FakeConfig.group, machines: [FakeConfig.plural], templates: [FakeConfigTemplate.plural] },
  { group: FakeControlPlane.group, clusters: [FakeControlPlane.plural] },
  {
    group: 'infrastructure.cluster.x-k8s.io',
    clusters: ['metal3clusters'],
    machines: ['metal3machines'],
    templates: ['metal3machinetemplates'],
  },
];

export const NAMESPACE = 'default';
const KUBECONFIG = 'the kubeconfig of the workload cluster';

const looseDefinition = (kind: Kind, contract: 'v1beta1' | 'v1beta2'): JsonObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: `${kind.plural}.${kind.group}`,
    labels: { [`cluster.x-k8s.io/${contract}`]: kind.version },
  },
  spec: {
    group: kind.group,
    scope: 'Namespaced',
    names: {
      kind: kind.kind,
      plural: kind.plural,
      singular: kind.kind.toLowerCase(),
      listKind: `${kind.kind}List`,
    },
    versions: [
      {
        name: kind.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

export const metalDefinitions = (): readonly JsonObject[] => [
  ...clusterApiDefinitions(),
  ...metal3Definitions(),
  ...labInfrastructureDefinitions(),
  ...[FakeConfig, FakeConfigTemplate, FakeControlPlane].map((kind) => looseDefinition(kind, 'v1beta2')),
  looseDefinition(OldCluster, 'v1beta1'),
];

/** A management cluster, and one workload cluster that answers when it is asked to. */
export class MetalWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly workload: KubeClient;
  readonly #server: ApiServer;
  /** Why the workload cluster does not answer. */
  trouble: Error | undefined;

  private constructor(env: TestEnv, server: ApiServer) {
    this.env = env;
    this.#server = server;
    const transport = env.activity.around(server.client());
    this.workload = createClient({ transport, fieldManager: 'test', clock: env.clock, log: SILENT_LOG });
  }

  static async start(options: TestEnvOptions = {}): Promise<MetalWorld> {
    const env = await TestEnv.start({ crds: metalDefinitions(), ...options });
    return new MetalWorld(env, await startApiServer({ storage: 'memory', listen: false, clock: env.clock }));
  }

  readonly connectWorkload = async (kubeconfig: string): Promise<KubeClient> => {
    assert.equal(kubeconfig, KUBECONFIG);
    if (this.trouble !== undefined) throw this.trouble;
    return this.workload;
  };

  get client(): KubeClient {
    return this.env.client;
  }

  /** As somebody else does it: a provider, or a person. */
  async setStatus(kind: Kind<Unstructured>, name: string, status: JsonObject): Promise<void> {
    const key = { namespace: NAMESPACE, name };
    await this.client.patch(kind, key, { type: 'merge', body: { status } }, { subresource: 'status' });
  }

  async addNode(name: string, labels: Readonly<Record<string, string>> = {}, providerID?: string): Promise<void> {
    await this.workload.create(Node, {
      metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      ...(providerID !== undefined && { spec: { providerID } }),
    });
    await this.setNodeReady(name, 'True');
  }

  async setNodeReady(name: string, status: 'True' | 'False'): Promise<void> {
    const conditions = [{ type: 'Ready', status, reason: 'Test', message: `said to be ${status}` }];
    const body = { status: { conditions } };
    await this.workload.patch(Node, { name }, { type: 'strategic', body }, { subresource: 'status' });
  }

  async addKubeconfig(cluster: string): Promise<void> {
    await this.client.create(Secret, kubeconfigSecret(cluster));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
    await this.#server.stop();
  }
}

const kubeconfigSecret = (cluster: string) => ({
  metadata: { name: `${cluster}-kubeconfig`, namespace: NAMESPACE, labels: { [CLUSTER_NAME_LABEL]: cluster } },
  type: CLUSTER_SECRET_TYPE,
  data: { value: Buffer.from(KUBECONFIG).toString('base64') },
});

/** Hosts that become Nodes of the workload cluster some seconds after they are on, labelled as their drive says. */
export class NodeHosts implements HostPower {
  readonly on = new Map<string, BootedHost>();
  readonly calls: string[] = [];
  readonly #world: MetalWorld;

  constructor(world: MetalWorld) {
    this.#world = world;
  }

  async powerOn(host: BootedHost): Promise<void> {
    if (this.on.has(host.id)) return;
    this.on.set(host.id, host);
    this.calls.push(`on ${host.name}`);
    const { uuid = '' } = host.metadata;
    const join = () => void this.#world.addNode(host.name, uuid === '' ? {} : { 'metal3.io/uuid': uuid });
    this.#world.env.clock.timer(5000, join);
  }

  async wipe(id: string): Promise<void> {
    const host = this.on.get(id);
    if (host === undefined) return;
    this.on.delete(id);
    this.calls.push(`wipe ${host.name}`);
  }
}

/** A bootstrap provider: a Secret with user data for every configuration that a Machine owns. */
export const fakeBootstrap = (): Controller =>
  controllerFor(FakeConfig, { name: 'fake-config' })
    .needs(needs(FakeConfig, ['patch'], { subresource: 'status' }), needs(Secret, ['create']))
    .reconcile({
      async reconcile(config, { client }) {
        const { name, namespace = '', ownerReferences = [], deletionTimestamp } = config.metadata;
        const isOwned = ownerReferences.some(({ kind }) => kind === 'Machine');
        if (!isOwned || deletionTimestamp !== undefined || config['status'] !== undefined) return DONE;
        await client.create(Secret, {
          metadata: { name, namespace, ...ownedBy(config, FakeConfig) },
          type: CLUSTER_SECRET_TYPE,
          data: { value: Buffer.from(`{"config":"${name}"}`).toString('base64') },
        });
        const status = { dataSecretName: name, initialization: { dataSecretCreated: true } };
        const patch = { type: 'merge', body: { status } } as const;
        await client.patch(FakeConfig, { namespace, name }, patch, { subresource: 'status' });
        return DONE;
      },
    });

const FINALIZER = 'example.com/fake-control-plane';

/** A control-plane provider with one Machine, whose kubeconfig is there when the Machine has bootstrap data. */
export const fakeControlPlane = (): Controller =>
  controllerFor(FakeControlPlane, { name: 'fake-control-plane' })
    .owns(Machine)
    .watches(Cluster, ({ metadata: { namespace }, spec }) => [{ namespace, name: spec?.controlPlaneRef?.name }])
    .needs(
      needs(FakeControlPlane, ['patch']),
      needs(FakeControlPlane, ['patch'], { subresource: 'status' }),
      needs(Machine, ['create', 'delete']),
      needs(FakeConfig, ['create']),
      needs({ group: 'infrastructure.cluster.x-k8s.io', plural: 'metal3machines' }, ['create']),
      needs(Secret, ['create']),
    )
    .reconcile({
      reconcile: (stored, { client }) =>
        stored.metadata.deletionTimestamp === undefined
          ? runControlPlane(stored, client)
          : endControlPlane(stored, client),
    });

const firstMachine = ({ metadata: { namespace = '', name } }: Unstructured) => ({ namespace, name: `${name}-0` });

async function endControlPlane(stored: Unstructured, client: KubeClient): Promise<Result> {
  await client.delete(Machine, firstMachine(stored));
  if ((await client.find(Machine, firstMachine(stored))) !== undefined) return after(5000);
  await client.removeFinalizer(FakeControlPlane, stored, FINALIZER);
  return DONE;
}

async function runControlPlane(stored: Unstructured, client: KubeClient): Promise<Result> {
  const { [CLUSTER_NAME_LABEL]: clusterName } = stored.metadata.labels ?? {};
  if (clusterName === undefined || !(await hasInfrastructure(clusterName, client))) return DONE;
  const controlPlane = await client.addFinalizer(FakeControlPlane, stored, FINALIZER);
  const { namespace, name } = firstMachine(stored);
  const machine = await client.find(Machine, { namespace, name });
  if (machine === undefined)
    for (const [kind, object] of controlPlaneObjects(controlPlane, { name, clusterName }))
      await client.create(kind, object);
  else if (machine.spec.bootstrap.dataSecretName !== undefined && stored['status'] === undefined)
    await tellInitialized(stored, clusterName, client);
  return DONE;
}

async function hasInfrastructure(name: string, client: KubeClient): Promise<boolean> {
  const cluster = await client.find(Cluster, { namespace: NAMESPACE, name });
  return cluster?.status?.initialization?.infrastructureProvisioned === true;
}

async function tellInitialized(stored: Unstructured, clusterName: string, client: KubeClient): Promise<void> {
  const { metadata, ...secret } = kubeconfigSecret(clusterName);
  await client.create(Secret, { ...secret, metadata: { ...metadata, ...ownedBy(stored, FakeControlPlane) } });
  const available = {
    type: 'Available',
    status: 'True',
    reason: 'Available',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const status = { initialization: { controlPlaneInitialized: true }, conditions: [available] };
  const patch = { type: 'merge' as const, body: { status } };
  await client.patch(FakeControlPlane, keyOf(stored), patch, { subresource: 'status' });
}

type Created = readonly (readonly [Kind, KubeObject])[];

function controlPlaneObjects(
  owner: Unstructured,
  { name, clusterName }: Readonly<Record<string, string>>,
): Created {
  const labels = { [CLUSTER_NAME_LABEL]: clusterName ?? '', [CONTROL_PLANE_LABEL]: '' };
  const [{ controller: _controller, ...reference } = {}] = ownedBy(owner, FakeControlPlane).ownerReferences;
  const metadata = { name: name ?? '', namespace: NAMESPACE, labels, ownerReferences: [reference] };
  const metal3 = unstructured({
    group: 'infrastructure.cluster.x-k8s.io',
    version: 'v1beta2',
    kind: 'Metal3Machine',
    plural: 'metal3machines',
    scope: 'Namespaced',
  });
  const header = (kind: Kind) => ({ apiVersion: `${kind.group}/${kind.version}`, kind: kind.kind });
  const image = { url: 'http://images.example.com/rhcos.qcow2', checksum: 'abc', diskFormat: 'qcow2' };
  const to = (kind: Kind) => ({ apiGroup: kind.group, kind: kind.kind, name: name ?? '' });
  return [
    [metal3, { ...header(metal3), metadata, spec: { image } } as KubeObject],
    [FakeConfig, { ...header(FakeConfig), metadata, spec: {} } as KubeObject],
    [
      Machine,
      {
        ...header(Machine),
        metadata: { ...metadata, ...ownedBy(owner, FakeControlPlane) },
        spec: { clusterName, bootstrap: { configRef: to(FakeConfig) }, infrastructureRef: to(metal3) },
      } as KubeObject,
    ],
  ];
}
