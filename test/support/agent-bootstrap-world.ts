import { bootstrapControllers } from '../../src/agent/bootstrap/controllers.ts';
import { ASSISTED_DEFAULTS, type AssistedSettings } from '../../src/agent/infra-env/assisted-settings.ts';
import {
  BOOT_METHOD,
  OpenshiftAssistedConfig,
  type OpenshiftAssistedConfigSpec,
} from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { agentDefinitions } from '../../src/api/agent/definitions.schema.ts';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { assistedDefinitions } from '../../src/api/assisted/definitions.schema.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import {
  CLONED_FROM_GROUP_KIND_ANNOTATION,
  CLONED_FROM_NAME_ANNOTATION,
  CLUSTER_NAME_LABEL,
  Cluster,
  CONTROL_PLANE_LABEL,
  Machine,
} from '../../src/api/cluster-api/core-v1beta2.ts';
import { clusterApiDefinitions } from '../../src/api/cluster-api/definitions.schema.ts';
import { Namespace, Secret } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import { hiveDefinitions } from '../../src/api/hive/definitions.schema.ts';
import { ClusterDeployment } from '../../src/api/hive/hive-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { metal3Definitions } from '../../src/api/metal3/definitions.schema.ts';
import {
  HOST_ANNOTATION,
  Metal3Machine,
  Metal3MachineTemplate,
} from '../../src/api/metal3/infrastructure-v1beta2.ts';
import { BareMetalHost } from '../../src/api/metal3/metal3-v1alpha1.ts';
import { apiVersionOf, type Kind, type KubeObject, resourceOf } from '../../src/api/object.ts';
import type { Log } from '../../src/base/log.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import { findCondition } from '../../src/object/conditions.ts';
import { setControllerReference } from '../../src/object/owner-references.ts';
import type { HttpAnswer, HttpCall, HttpRequest } from '../../src/oci/http-call.ts';
import { TestEnv } from '../../src/testing/test-env.ts';

export const NAMESPACE = 'metal';
export const IGNITION = '{"ignition":{"version":"3.1.0"},"systemd":{"units":[{"name":"agent.service"}]}}';
/** Nobody may ever read it. */
export const API_KEY = 'eyJhbGciOiJFUzI1NiJ9.c2VjcmV0LWtleS1vZi1pbmZyYS1lbnY.c2lnbmF0dXJl';

/** No authorities, so that nothing has to be there. */
export const PLAIN_SETTINGS: AssistedSettings = { ...ASSISTED_DEFAULTS, caBundleName: '', caBundleNamespace: '' };

/** What the bootstrap provider has to do with, by plural. */
const USED = new Set(
  [
    OpenshiftAssistedConfig,
    InfraEnv,
    Agent,
    AgentClusterInstall,
    ClusterDeployment,
    Cluster,
    Machine,
    Metal3Machine,
    Metal3MachineTemplate,
    BareMetalHost,
  ].map((kind: Kind) => resourceOf(kind)),
);

/** Their definitions and no others: each costs time at every start. */
export const bootstrapKinds = () =>
  [
    ...agentDefinitions(),
    ...assistedDefinitions(),
    ...clusterApiDefinitions(),
    ...hiveDefinitions(),
    ...metal3Definitions(),
  ]
    .filter(({ metadata }) => USED.has(metadata.name))
    .map((crd) => ({ toCRD: () => crd }));

const typed = <T extends KubeObject>(kind: Kind<T, unknown>): Pick<T, 'apiVersion' | 'kind'> => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
});

export const answer = (status: number, text = ''): HttpAnswer => ({
  status,
  headers: {},
  body: (async function* () {
    yield Buffer.from(text);
  })(),
});

/** An assisted-service that answers what it is told to, and remembers what it was asked. */
export class FakeService {
  readonly requests: HttpRequest[] = [];
  reply: (request: HttpRequest) => Promise<HttpAnswer> = () => Promise.resolve(answer(200, IGNITION));

  readonly call: HttpCall = (request) => {
    this.requests.push(request);
    return this.reply(request);
  };
}

export interface MachineSetup {
  readonly namespace?: string;
  readonly cluster?: string;
  readonly isControlPlane?: boolean;
  readonly isLiveIso?: boolean;
  readonly spec?: OpenshiftAssistedConfigSpec;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  /** What an infrastructure machine is cloned from; absent: by hand. */
  readonly template?: string;
  readonly infraKind?: string;
}

/** What core, Metal3, assisted-service and people do, one step at a time. */
export class Outside {
  readonly client: KubeClient;

  constructor(client: KubeClient) {
    this.client = client;
  }

  async namespace(name = NAMESPACE): Promise<void> {
    await this.client.create(Namespace, { metadata: { name } });
  }

  /** A Cluster whose infrastructure is there. */
  async cluster(name = 'one', { namespace = NAMESPACE, isProvisioned = true } = {}): Promise<Cluster> {
    const cluster = await this.client.create(Cluster, {
      ...typed(Cluster),
      metadata: { name, namespace },
      spec: { clusterNetwork: { pods: { cidrBlocks: ['10.128.0.0/14'] } } },
    });
    return isProvisioned ? this.provisioned(cluster) : cluster;
  }

  provisioned(cluster: Cluster): Promise<Cluster> {
    return this.client.patch(
      Cluster,
      cluster.metadata,
      { type: 'merge', body: { status: { initialization: { infrastructureProvisioned: true } } } },
      { subresource: 'status' },
    );
  }

  async pause(cluster = 'one', paused = true): Promise<void> {
    await this.client.patch(
      Cluster,
      { namespace: NAMESPACE, name: cluster },
      { type: 'merge', body: { spec: { paused } } },
    );
  }

  async installation(cluster = 'one', { namespace = NAMESPACE, state = 'insufficient' } = {}): Promise<void> {
    await this.deployment(cluster, namespace);
    await this.client.create(AgentClusterInstall, {
      ...typed(AgentClusterInstall),
      metadata: { name: cluster, namespace, labels: { [CLUSTER_NAME_LABEL]: cluster } },
      spec: {
        clusterDeploymentRef: { name: cluster },
        imageSetRef: { name: cluster },
        networking: {},
        provisionRequirements: { controlPlaneAgents: 3 },
      },
    });
    await this.state(state, { cluster, namespace });
  }

  async deployment(cluster = 'one', namespace = NAMESPACE, name = cluster): Promise<void> {
    await this.client.create(ClusterDeployment, {
      ...typed(ClusterDeployment),
      metadata: { name, namespace, labels: { [CLUSTER_NAME_LABEL]: cluster } },
      spec: {
        clusterName: cluster,
        baseDomain: 'example.com',
        platform: { agentBareMetal: { agentSelector: {} } },
        clusterInstallRef: {
          group: 'extensions.hive.openshift.io',
          version: 'v1beta1',
          kind: 'AgentClusterInstall',
          name: cluster,
        },
      },
    });
  }

  async state(
    state: string,
    { cluster = 'one', namespace = NAMESPACE, areRequirementsMet = false } = {},
  ): Promise<void> {
    const conditions = [
      { type: 'RequirementsMet', status: areRequirementsMet ? 'True' : 'False', reason: 'x', message: '' },
    ];
    await this.client.patch(
      AgentClusterInstall,
      { namespace, name: cluster },
      { type: 'merge', body: { status: { debugInfo: { state }, conditions } } },
      { subresource: 'status' },
    );
  }

  /** A Machine, its config and, for Metal3, its infrastructure machine, as core leaves them. */
  async machine(name: string, setup: MachineSetup = {}): Promise<OpenshiftAssistedConfig> {
    const { namespace = NAMESPACE, infraKind = 'Metal3Machine', isLiveIso = false } = setup;
    const machine = await this.client.create(Machine, machineOf(name, setup));
    if (isLiveIso && infraKind === 'Metal3Machine') await this.infraMachine(name, setup, machine);
    const bare: OpenshiftAssistedConfig = {
      ...typed(OpenshiftAssistedConfig),
      metadata: {
        name,
        namespace,
        labels: labelsOf(setup),
        annotations: { ...(isLiveIso && { [BOOT_METHOD]: 'live-iso' }), ...setup.annotations },
      },
      spec: { pullSecretRef: { name: 'pull' }, ...setup.spec },
    };
    return this.client.create(OpenshiftAssistedConfig, setControllerReference(machine, bare, Machine));
  }

  async infraMachine(
    name: string,
    { namespace = NAMESPACE, template }: MachineSetup,
    owner: Machine,
  ): Promise<void> {
    const bare: Metal3Machine = {
      ...typed(Metal3Machine),
      metadata: {
        name: infraName(name),
        namespace,
        ...(template !== undefined && {
          annotations: {
            [CLONED_FROM_NAME_ANNOTATION]: template,
            [CLONED_FROM_GROUP_KIND_ANNOTATION]: 'Metal3MachineTemplate.infrastructure.cluster.x-k8s.io',
          },
        }),
      },
      spec: { image: IMAGE },
    };
    await this.client.create(Metal3Machine, setControllerReference(owner, bare, Machine));
  }

  async template(name: string, namespace = NAMESPACE): Promise<void> {
    await this.client.create(Metal3MachineTemplate, {
      ...typed(Metal3MachineTemplate),
      metadata: { name, namespace },
      spec: { nodeReuse: false, template: { spec: { image: IMAGE, automatedCleaningMode: 'metadata' } } },
    });
  }

  /** Metal3 gives a machine a host. */
  async host(machine: string, { mac, name = `host-${machine}`, id = '' }: HostSetup): Promise<BareMetalHost> {
    const key = { namespace: NAMESPACE, name };
    await this.client.create(BareMetalHost, {
      ...typed(BareMetalHost),
      metadata: key,
      spec: { online: true, ...(mac !== undefined && { bootMACAddress: mac }) },
    });
    const status = { ...HOST_STATUS, provisioning: { state: 'provisioned', ID: id } };
    const host =
      id === ''
        ? await this.client.get(BareMetalHost, key)
        : await this.client.patch(
            BareMetalHost,
            key,
            { type: 'merge', body: { status } },
            { subresource: 'status' },
          );
    await this.client.patch(
      Metal3Machine,
      { namespace: NAMESPACE, name: infraName(machine) },
      { type: 'merge', body: { metadata: { annotations: { [HOST_ANNOTATION]: `${NAMESPACE}/${name}` } } } },
    );
    return host;
  }

  /** Assisted-service has looked at an InfraEnv. */
  async infraEnvReady(name: string, { namespace = NAMESPACE, key = `&api_key=${API_KEY}` } = {}): Promise<void> {
    const eventsURL = `http://assisted.example:8090/api/assisted-install/v2/events?infra_env_id=id-${name}${key}`;
    const isoDownloadURL = isoUrl(name);
    await this.infraEnvStatus(name, { debugInfo: { eventsURL }, isoDownloadURL }, namespace);
  }

  async infraEnvStatus(name: string, status: JsonObject, namespace = NAMESPACE): Promise<void> {
    await this.client.patch(
      InfraEnv,
      { namespace, name },
      { type: 'merge', body: { status } },
      { subresource: 'status' },
    );
  }

  /** A host has registered. */
  async agent(
    name: string,
    infraEnv: string,
    { mac, isApproved = false, namespace = NAMESPACE }: AgentSetup = {},
  ): Promise<Agent> {
    const agent = await this.client.create(Agent, {
      ...typed(Agent),
      metadata: { name, namespace, labels: { [INFRA_ENV_LABEL]: infraEnv } },
      spec: { approved: isApproved, role: '', clusterDeploymentName: { name: 'one', namespace } },
    });
    return mac === undefined ? agent : this.inventory(agent, mac);
  }

  inventory({ metadata }: Agent, mac: string): Promise<Agent> {
    return this.client.patch(
      Agent,
      metadata,
      {
        type: 'merge',
        body: {
          status: {
            inventory: {
              interfaces: [{ name: 'eno1', macAddress: mac, flags: [], ipV4Addresses: [], ipV6Addresses: [] }],
            },
          },
        },
      },
      { subresource: 'status' },
    );
  }
}

const labelsOf = ({ cluster = 'one', isControlPlane = false, labels }: MachineSetup) => ({
  [CLUSTER_NAME_LABEL]: cluster,
  ...(isControlPlane && { [CONTROL_PLANE_LABEL]: '' }),
  ...labels,
});

const machineOf = (name: string, setup: MachineSetup): Machine => {
  const { namespace = NAMESPACE, cluster = 'one', infraKind = 'Metal3Machine' } = setup;
  return {
    ...typed(Machine),
    metadata: { name, namespace, labels: labelsOf(setup) },
    spec: {
      clusterName: cluster,
      bootstrap: { configRef: { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'OpenshiftAssistedConfig', name } },
      infrastructureRef: { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: infraKind, name: infraName(name) },
    },
  };
};

interface HostSetup {
  readonly mac?: string;
  readonly name?: string;
  readonly id?: string;
}

interface AgentSetup {
  readonly mac?: string;
  readonly isApproved?: boolean;
  readonly namespace?: string;
}

export const infraName = (machine: string): string => `m3-${machine}`;
export const isoUrl = (infraEnv: string): string => `https://images.example/byid/${infraEnv}/full.iso`;
/** What the kind asks for. */
const HOST_STATUS = { errorMessage: '', operationalStatus: 'OK', poweredOn: true, hardwareProfile: '' } as const;
const IMAGE = {
  url: 'http://images.example/rhcos.qcow2',
  checksum: 'abc',
  checksumType: 'sha256',
  diskFormat: 'qcow2',
} as const;

export interface WorldSetup {
  readonly settings?: AssistedSettings;
  readonly watchFilter?: string;
  readonly log?: Log;
  readonly seed?: number;
}

/** The bootstrap provider against an API server on virtual time, with everything else played by the test. */
export class BootstrapWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly outside: Outside;
  readonly service = new FakeService();
  readonly #setup: WorldSetup;

  private constructor(env: TestEnv, setup: WorldSetup) {
    this.env = env;
    this.outside = new Outside(env.client);
    this.#setup = setup;
  }

  /** With a namespace, and nothing running yet. */
  static async start(setup: WorldSetup = {}): Promise<BootstrapWorld> {
    const { log, seed } = setup;
    const env = await TestEnv.start({
      kinds: bootstrapKinds(),
      ...(log !== undefined && { log }),
      ...(seed !== undefined && { seed }),
    });
    const world = new BootstrapWorld(env, setup);
    await world.outside.namespace();
    return world;
  }

  /** And the provider runs, beside a Cluster that is ready to be installed. */
  static async running(setup: WorldSetup = {}): Promise<BootstrapWorld> {
    const world = await BootstrapWorld.start(setup);
    await world.outside.cluster();
    await world.outside.installation();
    await world.run();
    return world;
  }

  run(): Promise<Manager> {
    const { settings = PLAIN_SETTINGS, watchFilter } = this.#setup;
    const controllers = bootstrapControllers({
      http: this.service.call,
      settings,
      ...(watchFilter !== undefined && { watchFilter }),
    });
    return this.env.startManager({ add: controllers });
  }

  config(name: string, namespace = NAMESPACE): Promise<OpenshiftAssistedConfig> {
    return this.env.client.get(OpenshiftAssistedConfig, { namespace, name });
  }

  /** `True`, or the reason why not; undefined when nothing is said. */
  async dataSecret(name: string, namespace = NAMESPACE): Promise<string | undefined> {
    const found = findCondition(await this.config(name, namespace), 'DataSecretAvailable');
    return found?.status === 'True' ? 'True' : found?.reason;
  }

  async condition(name: string, type: string) {
    return findCondition(await this.config(name), type);
  }

  find<T extends KubeObject>(kind: Kind<T, unknown>, name: string, namespace = NAMESPACE): Promise<T | undefined> {
    return this.env.client.find(kind, { namespace, name });
  }

  /** The data of the bootstrap Secret as text. */
  async secretData(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    const secret = await this.find(Secret, name);
    if (secret === undefined) return undefined;
    const entries = Object.entries(secret.data ?? {});
    return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
  }

  /** `reason` of every event so far, about whom. */
  async events(): Promise<readonly string[]> {
    const { items } = await this.env.client.list(Event);
    return items.map(({ reason, regarding, note }) => `${reason} ${regarding?.kind}/${regarding?.name}: ${note}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.env[Symbol.asyncDispose]();
  }
}
