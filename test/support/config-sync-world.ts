import { ConfigMap, Namespace } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import {
  ClusterOperator,
  ClusterVersion,
  FeatureGate,
  Infrastructure,
  Network,
  type PlatformStatus,
  Proxy,
  SINGLETON,
} from '../../src/api/openshift/config-v1.ts';
import { openshiftDefinitions } from '../../src/api/openshift/definitions.schema.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import {
  type ConfigSyncRegistry,
  configSyncCache,
  configSyncControllers,
  sharedUse,
} from '../../src/cloud-operator/config-sync/controllers.ts';
import type { CloudConfigPolicy } from '../../src/cloud-operator/definition.ts';
import { type OperatorNames, operatorNames } from '../../src/cloud-operator/names.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import { CertificateAuthority } from '../../src/pki/certificate-authority.ts';
import { TestEnv } from '../../src/testing/test-env.ts';

export const RELEASE = '4.20.0';
export const SYSTEM_BUNDLE = '/etc/system-bundle.pem';

/** Policies by the type of the platform, as a registry answers. */
export function registryOf(policies: Readonly<Record<string, CloudConfigPolicy>>): ConfigSyncRegistry {
  const providers = new Map(
    Object.entries(policies).map(([type, cloudConfig]) => [
      type,
      { definition: { id: type.toLowerCase(), cloudConfig } },
    ]),
  );
  return {
    providers: () => [...providers.values()],
    resolve: ({ status }) => providers.get(status?.platformStatus?.type ?? ''),
  };
}

/** Kinds of OpenShift for an environment. */
export const openshiftKinds = () => openshiftDefinitions().map((crd) => ({ toCRD: () => crd }));

/** A self-signed certificate. */
export async function authorityPem(commonName: string): Promise<string> {
  const now = new Date('2026-01-01T00:00:00Z');
  const authority = await CertificateAuthority.create({ commonName, now, validityMs: 86_400_000 });
  return authority.certificatePem;
}

export interface ConfigSyncSetup {
  readonly policies?: Readonly<Record<string, CloudConfigPolicy>>;
  readonly registry?: ConfigSyncRegistry;
  readonly provider?: string;
  readonly names?: OperatorNames;
  readonly gatesVersion?: string;
}

/** An OpenShift cluster as far as config-sync sees it, and the program in it. */
export class ConfigSyncWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly names: OperatorNames;
  /** Of the machine that the program runs on. */
  readonly files = new Map<string, string>();
  readonly #setup: ConfigSyncSetup;

  private constructor(env: TestEnv, setup: ConfigSyncSetup) {
    this.env = env;
    this.#setup = setup;
    this.names = setup.names ?? operatorNames('replace', '');
  }

  /** Namespaces, a Network and observed feature gates are there; an Infrastructure and a Proxy are not. */
  static async start(setup: ConfigSyncSetup = {}): Promise<ConfigSyncWorld> {
    const env = await TestEnv.start({ kinds: openshiftKinds(), log: SILENT_LOG });
    const world = new ConfigSyncWorld(env, setup);
    world.files.set(SYSTEM_BUNDLE, await authorityPem('system'));
    await prepareCluster(env.client, world.names);
    return world;
  }

  get client(): KubeClient {
    return this.env.client;
  }

  /** Starts the program and waits until it has nothing left to do. */
  run(): Promise<Manager> {
    const { registry = registryOf(this.#setup.policies ?? {}), gatesVersion = RELEASE } = this.#setup;
    return this.env.startManager({
      name: 'config-sync',
      cache: configSyncCache(this.names, sharedUse(registry, this.#setup.provider)),
      add: configSyncControllers({
        registry,
        names: this.names,
        gatesVersion,
        settings: { provider: this.#setup.provider, systemTrustBundle: SYSTEM_BUNDLE },
        clock: this.env.clock,
        readText: (path) => this.#read(path),
      }),
    });
  }

  async #read(path: string): Promise<string> {
    const text = this.files.get(path);
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    return text;
  }

  async infra(platformStatus: PlatformStatus | undefined, spec: Infrastructure['spec'] = {}): Promise<void> {
    await putInfra(this.client, platformStatus, spec);
    await this.env.settle();
  }

  async proxy(trustedCA = ''): Promise<void> {
    const spec = { trustedCA: { name: trustedCA } };
    const key = { apiVersion: 'config.openshift.io/v1', kind: 'Proxy', metadata: { ...SINGLETON } };
    await this.client.apply(Proxy, { ...key, spec });
    await this.env.settle();
  }

  /** Makes or changes one, and lets the program act on it. */
  async configMap(namespace: string, name: string, content: Partial<ConfigMap>): Promise<void> {
    const found = await this.client.find(ConfigMap, { namespace, name });
    const wanted = { metadata: { ...found?.metadata, namespace, name }, ...content };
    if (found === undefined) await this.client.create(ConfigMap, wanted);
    else await this.client.update(ConfigMap, wanted);
    await this.env.settle();
  }

  /** A ConfigMap of the managed namespace. */
  managed(name: string): Promise<ConfigMap | undefined> {
    return this.client.find(ConfigMap, { namespace: this.names.managedNamespace, name });
  }

  async data(name: string): Promise<Readonly<Record<string, string>> | undefined> {
    return (await this.managed(name))?.data;
  }

  /** `Type=Status/Reason message`, by the type without the name of the controller. */
  async conditions(controller: 'CloudConfig' | 'TrustedCABundleController'): Promise<readonly string[]> {
    const found = await this.client.find(ClusterOperator, { name: this.names.clusterOperator });
    return (found?.status?.conditions ?? [])
      .filter(({ type }) => type.startsWith(`${controller}Controller`))
      .map(
        ({ type, status, reason = '', message = '' }) =>
          `${type.slice(controller.length + 'Controller'.length)}=${status}/${reason} ${message}`,
      )
      .toSorted();
  }

  /** `Reason note`. */
  async warnings(): Promise<readonly string[]> {
    const { items } = await this.client.list(Event);
    return items.map(({ reason, note = '' }) => `${reason} ${note}`);
  }

  /** Requests of the program that may have changed something, without events. */
  get writes(): readonly string[] {
    return this.env.recorder.writes
      .filter(({ target }) => !target.includes('/events'))
      .map(({ method, target }) => `${method} ${target.split('?')[0]}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.env[Symbol.asyncDispose]();
  }
}

/** What every cluster has when config-sync starts. */
export async function prepareCluster(client: KubeClient, names: OperatorNames): Promise<void> {
  const namespaces = [names.managedNamespace, 'openshift-config', 'openshift-config-managed', 'elsewhere'];
  for (const name of namespaces) await client.create(Namespace, { metadata: { name } });
  const kinds = { apiVersion: 'config.openshift.io/v1', metadata: { ...SINGLETON } };
  await client.create(Network, { ...kinds, kind: 'Network', spec: { serviceNetwork: ['172.30.0.0/16'] } });
  await client.create(FeatureGate, { ...kinds, kind: 'FeatureGate', spec: {} } as FeatureGate);
  await putGates(client, []);
  await client.create(ClusterVersion, {
    ...kinds,
    kind: 'ClusterVersion',
    metadata: { name: 'version' },
    spec: {},
  } as ClusterVersion);
}

export async function putInfra(
  client: KubeClient,
  platformStatus: PlatformStatus | undefined,
  spec: Infrastructure['spec'] = {},
): Promise<void> {
  const object = { apiVersion: 'config.openshift.io/v1', kind: 'Infrastructure', metadata: { ...SINGLETON } };
  const found = await client.find(Infrastructure, SINGLETON);
  const stored =
    found === undefined
      ? await client.create(Infrastructure, { ...object, spec })
      : await client.update(Infrastructure, { ...found, spec });
  const status = platformStatus === undefined ? {} : { platformStatus };
  await client.updateStatus(Infrastructure, { ...stored, status });
}

export async function putGates(client: KubeClient, enabled: readonly string[], version = RELEASE): Promise<void> {
  const featureGates = [{ version, enabled: enabled.map((name) => ({ name })) }];
  const body = { status: { featureGates } };
  await client.patch(FeatureGate, SINGLETON, { type: 'merge', body }, { subresource: 'status' });
}
