import { randomUUID } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, INFRA_ENV_LABEL, InfraEnv } from '../../src/api/assisted/agent-install-v1beta1.ts';
import { assistedDefinitions } from '../../src/api/assisted/definitions.schema.ts';
import { AgentClusterInstall } from '../../src/api/assisted/hive-extensions-v1beta1.ts';
import { Secret } from '../../src/api/generated/core-v1.ts';
import { hiveDefinitions } from '../../src/api/hive/definitions.schema.ts';
import { ClusterDeployment, ClusterImageSet } from '../../src/api/hive/hive-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { VirtualClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import { PrometheusMetrics } from '../../src/kube/metrics/metrics.ts';
import { webhookConfigurations } from '../../src/kube/webhook/webhook-configurations.ts';
import { Webhooks } from '../../src/kube/webhook/webhooks.ts';
import { AssistedFaults } from '../../src/lab/metal/assisted/assisted-faults.ts';
import { addAssistedWebhooks } from '../../src/lab/metal/assisted/assisted-webhooks.ts';
import { assistedControllers } from '../../src/lab/metal/assisted/controllers.ts';
import { assistedRest } from '../../src/lab/metal/assisted/rest.ts';
import type { BootedHost } from '../../src/lab/metal/host/host-power.ts';
import { Hosts } from '../../src/lab/metal/host/hosts.ts';
import { scriptedIdentity } from '../../src/lab/metal/host/node-identity.ts';
import { InProcessWorkloads } from '../../src/lab/metal/workload/in-process-workloads.ts';
import type { HttpAnswer, HttpCall } from '../../src/oci/http-call.ts';
import { TestEnv } from '../../src/testing/test-env.ts';

export const NAMESPACE = 'metal';
export const CLUSTER = 'ocp';
export const RELEASE = 'registry.example/release@sha256:1234';
const ADDRESS = { baseUrl: 'http://assisted.example:8090', secret: 'lab' };

export async function bodyText({ body }: Pick<HttpAnswer, 'body'>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const scriptFile = (path: string, text: string) => ({
  path,
  overwrite: true,
  mode: 493,
  user: { name: 'root' },
  contents: { source: `data:text/plain;charset=utf-8;base64,${base64(text)}` },
});
const unit = (name: string, command: string, more = '') => ({
  name,
  enabled: true,
  contents: `[Service]\nType=oneshot\n${more}ExecStart=${command}\n`,
});

/** What a provider writes into an Agent so that its node can be found again. */
const INSTALL_IGNITION = JSON.stringify({
  ignition: { version: '3.1.0' },
  storage: {
    files: [
      scriptFile('/usr/local/bin/configdrive_metadata', '#!/bin/bash\nexit 1\n'),
      scriptFile(
        '/usr/local/bin/kubelet_custom_labels',
        [
          '#!/bin/bash',
          'METADATA_UUID=""',
          'if [ -f /etc/metadata_env ]; then',
          '    METADATA_UUID=$(/usr/bin/grep "^METADATA_UUID=" /etc/metadata_env | /usr/bin/cut -d\'=\' -f2-)',
          'fi',
          'echo "CUSTOM_KUBELET_LABELS=metal3.io/uuid=${METADATA_UUID}" | tee -a /etc/kubernetes/kubelet-env >/dev/null',
          '',
        ].join('\n'),
      ),
      scriptFile('/usr/local/bin/pre.sh', '#!/bin/bash\ntouch /etc/never\n'),
    ],
  },
  systemd: {
    units: [
      unit('configdrive-metadata.service', '/usr/local/bin/configdrive_metadata'),
      unit(
        'kubelet-customlabels.service',
        '/usr/local/bin/kubelet_custom_labels',
        'EnvironmentFile=/etc/metadata_env\n',
      ),
      unit('capoa-pre-bootstrap.service', '/usr/local/bin/pre.sh'),
    ],
  },
});

export interface WorldOptions {
  readonly pace?: number;
  /** Also what assisted-service refuses. */
  readonly hasWebhooks?: boolean;
  readonly hasImageService?: boolean;
  /** Instead of ours. */
  readonly definitions?: readonly JsonObject[];
}

/** The stand-ins for assisted-service and its hosts on virtual time, with a provider that only approves. */
export class AssistedWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly faults = new AssistedFaults();
  readonly clusters: InProcessWorkloads;
  readonly rest: HttpCall;
  readonly hosts: Hosts;
  manager: Manager | undefined;
  readonly #options: WorldOptions;
  readonly #directory = mkdtempSync(join(tmpdir(), 'slipway-hosts-'));

  private constructor(env: TestEnv, options: WorldOptions) {
    this.env = env;
    this.#options = options;
    const { clock, client, activity } = env;
    this.clusters = new InProcessWorkloads({ clock, activity });
    this.rest = assistedRest({ client, address: ADDRESS, faults: this.faults });
    this.hosts = new Hosts({
      http: this.rest,
      clock,
      clusters: this.clusters,
      identify: scriptedIdentity({ directory: this.#directory, hold: (reason) => activity.hold(reason) }),
      ...this.#paced,
    });
  }

  static async start(options: WorldOptions = {}): Promise<AssistedWorld> {
    const webhooks = addAssistedWebhooks(
      new Webhooks({ clock: new VirtualClock(), log: SILENT_LOG, metrics: new PrometheusMetrics() }),
    );
    const crds = options.definitions ?? [...assistedDefinitions(), ...hiveDefinitions()];
    const env = await TestEnv.start({ crds, server: { resolveService: () => webhooks.local } });
    await env.client.create(
      { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', scope: 'Cluster' },
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
    );
    if (options.hasWebhooks === true) await registerWebhooks(env, webhooks);
    const world = new AssistedWorld(env, options);
    await world.startManager();
    return world;
  }

  get #paced() {
    const { pace } = this.#options;
    return pace === undefined ? {} : { pace };
  }

  async startManager(): Promise<void> {
    const { hasImageService } = this.#options;
    const controllers = assistedControllers({
      address: ADDRESS,
      clusters: this.clusters,
      hosts: this.hosts,
      versionOfImage: async (image) => (image === RELEASE ? { version: '4.20.1' } : undefined),
      faults: this.faults,
      ...this.#paced,
      ...(hasImageService !== undefined && { hasImageService }),
    });
    this.manager = await this.env.startManager({ add: controllers });
  }

  async stopManager(): Promise<void> {
    if (this.manager !== undefined) await this.env.stopManager(this.manager);
  }

  async addCluster(
    requirements: { readonly controlPlaneAgents: number; readonly workerAgents?: number },
    more: Record<string, unknown> = {},
  ): Promise<void> {
    const { client } = this.env;
    await client.create(Secret, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: NAMESPACE, name: 'pull' },
      stringData: { '.dockerconfigjson': '{}' },
    });
    await client.create(ClusterImageSet, {
      apiVersion: 'hive.openshift.io/v1',
      kind: 'ClusterImageSet',
      metadata: { name: CLUSTER },
      spec: { releaseImage: RELEASE },
    });
    await client.create(ClusterDeployment, {
      apiVersion: 'hive.openshift.io/v1',
      kind: 'ClusterDeployment',
      metadata: { namespace: NAMESPACE, name: CLUSTER },
      spec: {
        clusterName: CLUSTER,
        baseDomain: 'example.com',
        platform: { agentBareMetal: { agentSelector: {} } },
        pullSecretRef: { name: 'pull' },
        clusterInstallRef: {
          group: 'extensions.hive.openshift.io',
          version: 'v1beta1',
          kind: 'AgentClusterInstall',
          name: CLUSTER,
        },
      },
    });
    await client.create(AgentClusterInstall, {
      apiVersion: 'extensions.hive.openshift.io/v1beta1',
      kind: 'AgentClusterInstall',
      metadata: { namespace: NAMESPACE, name: CLUSTER },
      spec: {
        clusterDeploymentRef: { name: CLUSTER },
        imageSetRef: { name: CLUSTER },
        provisionRequirements: requirements,
        networking: {},
        ...more,
      },
    });
    await this.env.settle();
  }

  async addInfraEnv(name: string, spec: Record<string, unknown> = {}): Promise<InfraEnv> {
    return await this.env.client.create(InfraEnv, {
      apiVersion: 'agent-install.openshift.io/v1beta1',
      kind: 'InfraEnv',
      metadata: { namespace: NAMESPACE, name },
      spec: { clusterRef: { name: CLUSTER, namespace: NAMESPACE }, pullSecretRef: { name: 'pull' }, ...spec },
    });
  }

  infraEnv(name: string): Promise<InfraEnv> {
    return this.env.client.live.get(InfraEnv, { namespace: NAMESPACE, name });
  }

  async ignition(name: string): Promise<string> {
    const { status } = await this.infraEnv(name);
    const url = status?.bootArtifacts?.discoveryIgnitionURL ?? '';
    return await bodyText(await this.rest({ method: 'GET', url }));
  }

  hostFor(name: string, boot: BootedHost['boot']): BootedHost {
    const id = randomUUID();
    return {
      id,
      namespace: NAMESPACE,
      name,
      macAddresses: [`02:00:00:${id.slice(0, 2)}:${id.slice(2, 4)}:${id.slice(4, 6)}`],
      architecture: 'amd64',
      boot,
      metadata: { uuid: `bmh-${name}`, name },
    };
  }

  /** An InfraEnv of its own for each, its image, and power. */
  async addHosts(...names: readonly string[]): Promise<readonly BootedHost[]> {
    for (const name of names) await this.addInfraEnv(name);
    await this.env.advance(6000);
    const hosts: BootedHost[] = [];
    for (const name of names) {
      const host = this.hostFor(name, { from: 'disk', userData: await this.ignition(name) });
      await this.hosts.powerOn(host);
      hosts.push(host);
    }
    return hosts;
  }

  async agents(infraEnv?: string): Promise<readonly Agent[]> {
    const labels = infraEnv === undefined ? {} : { labels: { [INFRA_ENV_LABEL]: infraEnv } };
    return (await this.env.client.live.list(Agent, { namespace: NAMESPACE, ...labels })).items;
  }

  async agent(infraEnv: string): Promise<Agent> {
    const [agent] = await this.agents(infraEnv);
    if (agent === undefined) throw new Error(`no Agent has booted the image of ${infraEnv}`);
    return agent;
  }

  /** What a provider does: masters are those whose names begin with m. */
  async approve(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      const { metadata } = await this.agent(name);
      const role = name.startsWith('m') ? 'master' : 'worker';
      const spec = { approved: true, role, ignitionConfigOverrides: INSTALL_IGNITION };
      const key = { namespace: NAMESPACE, name: metadata.name };
      await this.env.client.patch(Agent, key, { type: 'merge', body: { spec } });
    }
    await this.env.settle();
  }

  install(): Promise<AgentClusterInstall> {
    return this.env.client.live.get(AgentClusterInstall, { namespace: NAMESPACE, name: CLUSTER });
  }

  async state(): Promise<string> {
    return (await this.install()).status?.debugInfo?.state ?? '';
  }

  /** Lets time pass until it is so, minute by minute. */
  async until(isSo: () => Promise<boolean>, what: string, minutes = 90): Promise<void> {
    for (let minute = 0; minute < minutes; minute++) {
      if (await isSo()) return;
      await this.env.advance(60_000);
    }
    throw new Error(`${what} has not come after ${minutes} minutes`);
  }

  untilState(state: string): Promise<void> {
    return this.until(async () => (await this.state()) === state, `state ${state}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env.throughTime(this.hosts[Symbol.asyncDispose]());
    await this.stopManager();
    await this.env.throughTime(this.clusters[Symbol.asyncDispose]());
    await this.env[Symbol.asyncDispose]();
    await rm(this.#directory, { recursive: true, force: true });
  }
}

async function registerWebhooks(env: TestEnv, webhooks: Webhooks): Promise<void> {
  const address = { service: { namespace: 'assisted', name: 'webhooks' } };
  for (const object of webhookConfigurations(webhooks, { name: 'assisted', address, trust: 'self-managed' })) {
    const plural = `${object.kind.toLowerCase()}s`;
    const kind = {
      group: 'admissionregistration.k8s.io',
      version: 'v1',
      kind: object.kind,
      plural,
      scope: 'Cluster',
    };
    await env.client.create({ ...kind, scope: 'Cluster' }, object);
  }
}
