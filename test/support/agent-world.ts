import { bootstrapControllers } from '../../src/agent/bootstrap/controllers.ts';
import { type ControlPlaneOptions, controlPlaneControllers } from '../../src/agent/control-plane/controllers.ts';
import { ASSISTED_DEFAULTS } from '../../src/agent/infra-env/assisted-settings.ts';
import { releaseImages } from '../../src/agent/release/release-images.ts';
import { OpenshiftAssistedConfig } from '../../src/api/agent/bootstrap-v1alpha2.ts';
import { agentDefinitions } from '../../src/api/agent/definitions.schema.ts';
import { InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { assistedDefinitions } from '../../src/api/assisted/definitions.schema.ts';
import { CLUSTER_NAME_LABEL, Machine } from '../../src/api/cluster-api/core-v1beta2.ts';
import { clusterApiDefinitions } from '../../src/api/cluster-api/definitions.schema.ts';
import { Namespace, Secret } from '../../src/api/generated/core-v1.ts';
import { hiveDefinitions } from '../../src/api/hive/definitions.schema.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { labInfrastructureDefinitions } from '../../src/api/lab-infrastructure/definitions.schema.ts';
import { metal3Definitions } from '../../src/api/metal3/definitions.schema.ts';
import type { Kind, KubeObject } from '../../src/api/object.ts';
import type { Clock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { applyObject } from '../../src/kube/apply/apply-object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { createRestMapper } from '../../src/kube/client/rest-mapper.ts';
import type { Controller } from '../../src/kube/controller/controller.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import { AssistedFaults } from '../../src/lab/metal/assisted/assisted-faults.ts';
import { assistedControllers } from '../../src/lab/metal/assisted/controllers.ts';
import { assistedRest } from '../../src/lab/metal/assisted/rest.ts';
import { coreControllers } from '../../src/lab/metal/core/controllers.ts';
import { Hosts } from '../../src/lab/metal/host/hosts.ts';
import { type IdentityReader, scriptedIdentity } from '../../src/lab/metal/host/node-identity.ts';
import { metal3Controllers } from '../../src/lab/metal/metal3/controllers.ts';
import { LabRegistry, type LabRegistryOptions } from '../../src/lab/metal/registry/lab-registry.ts';
import { InProcessWorkloads } from '../../src/lab/metal/workload/in-process-workloads.ts';
import { findCondition } from '../../src/object/conditions.ts';
import type { HttpCall } from '../../src/oci/http-call.ts';
import { TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';
import { AgentHistory } from './agent-history.ts';
import { scratchDirectory } from './scratch.ts';

/** Kinds of everything that takes part. */
export const agentCrds = (own: readonly JsonObject[] = agentDefinitions()): readonly JsonObject[] => [
  ...clusterApiDefinitions(),
  ...own,
  ...assistedDefinitions(),
  ...hiveDefinitions(),
  ...metal3Definitions(),
  ...labInfrastructureDefinitions(),
];

const ASSISTED_URL = 'https://assisted.example.com';
const SETTINGS = { ...ASSISTED_DEFAULTS, caBundleName: '', caBundleNamespace: '' };

/** What is outside of the hub: machines, assisted-service, a registry, and the clusters that come to be. */
export interface Outside extends AsyncDisposable {
  readonly hosts: Hosts;
  readonly workloads: InProcessWorkloads;
  readonly registry: LabRegistry;
  readonly faults: AssistedFaults;
  /** To assisted-service and the registry, for the providers and for hosts. */
  readonly http: HttpCall;
  /** Of Cluster API, Metal3 and assisted-service. */
  readonly controllers: readonly Controller[];
}

export interface OutsideOptions {
  readonly registry?: Omit<LabRegistryOptions, 'clock'>;
  /** Multiplies the delays of assisted-service and hosts; 1 unless told otherwise. */
  readonly pace?: number;
  /** Around every request to assisted-service and the registry. */
  readonly around?: (http: HttpCall) => HttpCall;
  /** Who hosts are when they start; their scripts really run unless told otherwise. */
  readonly identify?: IdentityReader;
  /** Further stand-ins, which may switch hosts. */
  readonly controllers?: (hosts: Hosts) => readonly Controller[];
}

/** Everything on the time of the environment; requests to it count as something that moves. */
export async function agentOutside(env: TestEnv, options: OutsideOptions = {}): Promise<Outside> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.use(await scratchDirectory());
  const { clock, activity } = env;
  const { pace = 1, around = (http: HttpCall) => http } = options;
  const hold = (reason: string): Disposable => activity.hold(reason);
  const { identify = scriptedIdentity({ directory: scratch.path, hold }) } = options;
  const registry = new LabRegistry({ ...options.registry, clock });
  const faults = new AssistedFaults();
  const address = { baseUrl: ASSISTED_URL, secret: 'test' };
  const rest = assistedRest({ client: env.client, address, faults });
  const http = around(async (request) => {
    const isHeld = faults.rest !== 'timeout';
    // Who never answers does not move.
    using _moving = isHeld ? activity.hold(`request to ${new URL(request.url).host}`) : undefined;
    return await (request.url.startsWith(ASSISTED_URL) ? rest : registry.call)(request);
  });
  const versionOfImage = async (image: string) => registry.versionOfImage(image);
  const workloads = parts.use(
    new InProcessWorkloads({
      clock,
      activity,
      versionOfImage: async (image) => (await versionOfImage(image))?.version,
    }),
  );
  const hosts = parts.use(
    new Hosts({
      http,
      clock,
      pace,
      clusters: workloads,
      identify,
    }),
  );
  const connectWorkload = (kubeconfig: string): Promise<KubeClient> => workloads.connect(kubeconfig);
  const controllers = [
    ...coreControllers({ connectWorkload }),
    ...metal3Controllers({ hosts, connectWorkload }),
    ...assistedControllers({ address, clusters: workloads, hosts, versionOfImage, faults, pace }),
    ...(options.controllers?.(hosts) ?? []),
  ];
  const all = parts.move();
  return {
    hosts,
    workloads,
    registry,
    faults,
    http,
    controllers,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The controllers of both providers. */
export const agentControllers = (
  { clock }: { readonly clock: Clock },
  { http, workloads }: Pick<Outside, 'http'> & { readonly workloads: Pick<InProcessWorkloads, 'connect'> },
  options: Partial<ControlPlaneOptions> = {},
) => ({
  bootstrap: bootstrapControllers({ http, settings: SETTINGS }),
  controlPlane: controlPlaneControllers({
    releases: releaseImages({ http, clock }),
    connectWorkload: (kubeconfig) => workloads.connect(kubeconfig),
    clock,
    ...options,
  }),
});

export interface AgentWorldOptions extends OutsideOptions {
  readonly namespaces?: readonly string[];
  readonly crds?: readonly JsonObject[];
  readonly server?: TestEnvOptions['server'];
  readonly seed?: number;
  readonly controlPlane?: Partial<ControlPlaneOptions>;
}

const NAMES = { bootstrap: 'agent-bootstrap', controlPlane: 'agent-control-plane' } as const;
export type ProviderName = keyof typeof NAMES;
const PROVIDERS: readonly ProviderName[] = ['bootstrap', 'controlPlane'];

/** A hub on virtual time with stand-ins and both providers, each under its own rights. */
export class AgentWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly outside: Outside;
  readonly history: AgentHistory;
  /** What everybody logged, one JSON text each. */
  readonly lines: string[];
  readonly #managers = new Map<ProviderName, Manager>();
  readonly #options: AgentWorldOptions;

  private constructor(env: TestEnv, outside: Outside, lines: string[], options: AgentWorldOptions) {
    this.env = env;
    this.outside = outside;
    this.lines = lines;
    this.#options = options;
    this.history = new AgentHistory(env.server.store);
  }

  static async start(options: AgentWorldOptions = {}): Promise<AgentWorld> {
    const { namespaces = ['test-capi'], crds = agentCrds(), server, seed } = options;
    const lines: string[] = [];
    const log = createLog({ level: 'debug', write: (line) => void lines.push(line), now: () => new Date(0) });
    const env = await TestEnv.start({
      crds,
      log,
      ...(server !== undefined && { server }),
      ...(seed !== undefined && { seed }),
    });
    for (const name of namespaces) await env.client.create(Namespace, { metadata: { name } });
    const outside = await agentOutside(env, options);
    const world = new AgentWorld(env, outside, lines, options);
    await env.startManager({ name: 'stand-ins', add: outside.controllers });
    await world.startProviders();
    return world;
  }

  get client(): KubeClient {
    return this.env.client;
  }

  async startProviders(names: readonly ProviderName[] = PROVIDERS): Promise<void> {
    const controllers = agentControllers(this.env, this.outside, this.#options.controlPlane);
    for (const name of names)
      this.#managers.set(name, await this.env.startManager({ name: NAMES[name], add: controllers[name] }));
  }

  async stopProviders(names: readonly ProviderName[] = PROVIDERS): Promise<void> {
    for (const name of names) {
      const manager = this.#managers.get(name);
      if (manager !== undefined) await this.env.stopManager(manager);
    }
  }

  /** As a pod that is replaced: whatever was in memory is gone. */
  async restartProviders(names: readonly ProviderName[] = PROVIDERS): Promise<void> {
    await this.stopProviders(names);
    await this.startProviders(names);
  }

  /** As `kubectl apply` does, in order. */
  async apply(objects: readonly KubeObject[]): Promise<void> {
    const mapper = createRestMapper(this.client, this.env.clock);
    for (const object of objects) await applyObject({ client: this.client, mapper }, object, { force: true });
  }

  /** All objects of a kind, in every namespace. */
  async all<T extends KubeObject>(kind: Kind<T>): Promise<readonly T[]> {
    return (await this.client.live.list(kind)).items;
  }

  /** Lets time pass until it is true; rejects with `what`, and how far Machines are, when that takes longer. */
  async until(what: string, isTrue: () => boolean | Promise<boolean>, minutes = 120): Promise<void> {
    for (let passed = 0; passed < minutes * 6; passed++) {
      if (await isTrue()) return;
      await this.env.advance(10_000);
    }
    throw new Error(`not within ${minutes} minutes: ${what}; ${await this.#whatIs()}`);
  }

  /** So many Machines there are, and all of them run. */
  untilRunning(count: number, namespace = 'test-capi'): Promise<void> {
    return this.until(`${count} Machines run`, async () => {
      const { items } = await this.client.live.list(Machine, { namespace });
      return items.length === count && items.every(({ status }) => status?.phase === 'Running');
    });
  }

  async #whatIs(): Promise<string> {
    const machines = await this.all(Machine);
    const phases = machines.map(({ metadata, status }) => `${metadata.name} is ${status?.phase ?? 'new'}`);
    const configs = await this.all(OpenshiftAssistedConfig);
    const said = configs.map((config) => findCondition(config, 'DataSecretAvailable')?.message ?? '');
    return [...phases, ...new Set(said)].join('; ');
  }

  /** Everything that has this name or one that begins with it. */
  named(name: string, namespace = 'test-capi'): readonly string[] {
    return this.#keys(({ key }) => key.includes(`/${namespace}/${name}`));
  }

  #keys(isMeant: (entry: { readonly key: string; readonly bytes: Uint8Array }) => boolean): readonly string[] {
    return [...this.env.server.store.list('/registry/')]
      .filter((entry) => !entry.key.startsWith('/registry/core/events/') && isMeant(entry))
      .map(({ key }) => key.split('/').slice(3).join('/'));
  }

  /** Kinds and names of everything that carries the label of a cluster, or names it. */
  leftovers(cluster: string): readonly string[] {
    const label = `"${CLUSTER_NAME_LABEL}":"${cluster}"`;
    return this.#keys(
      ({ key, bytes }) => Buffer.from(bytes).includes(label) || key.endsWith(`/clusterimagesets/${cluster}`),
    );
  }

  /** What nobody may be told, in what was told: texts of secrets in conditions, events and the log. */
  leaks(): readonly string[] {
    const secrets = [...new Set(this.history.of(Secret).flatMap(({ object }) => secretTexts(object)))];
    const keys = this.history.of(InfraEnv).flatMap(({ object }) => JSON.stringify(object).match(API_KEY) ?? []);
    const told = [...this.history.told, ...this.lines];
    const texts = [...secrets, ...new Set(keys)];
    return texts.flatMap((text) => told.filter((each) => each.includes(text)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.history[Symbol.dispose]();
    await this.outside[Symbol.asyncDispose]();
    await this.env[Symbol.asyncDispose]();
  }
}

const API_KEY = /(?<=api_key=)[\w.-]+/g;
/** Shorter ones are words. */
const SHORTEST = 12;

/** The words in a Secret that open something: of pull secrets, of kubeconfigs, of ignition. */
function secretTexts(object: KubeObject): readonly string[] {
  const { data = {} } = object as Secret;
  return Object.values(data).flatMap((value) => {
    const text = Buffer.from(value, 'base64').toString('utf8');
    const auths = [...text.matchAll(/"(?:auth|password)"\s*:\s*"([^"]+)"/g)].map(([, word = '']) => word);
    const clear = auths.map((word) => Buffer.from(word, 'base64').toString('utf8'));
    const keys = [...text.matchAll(/(?:client-key-data|token|password):\s*(\S+)/g)].map(([, word = '']) => word);
    return [...auths, ...clear, ...keys, ...(text.match(API_KEY) ?? [])].filter(
      ({ length }) => length >= SHORTEST,
    );
  });
}
