import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Deployment } from '../../src/api/generated/apps-v1.ts';
import { Event, Node, Pod, Service } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { LAB_CLUSTER_ID } from '../../src/app/cloud/install-in-lab.ts';
import { isReadyNode } from '../../src/app/cloud/lab-machines.ts';
import { slipwayImages } from '../../src/app/cloud/slipway-image.ts';
import { type Lab, type LabCluster, type LabOptions, startLab } from '../../src/lab/index.ts';
import { parseYaml, printYaml } from '../../src/object/yaml.ts';
import { bootMachines } from './booted-machines.ts';
import { outcomeOf, scratchDirectory, writeScript } from './scratch.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'src', 'cli', 'main.ts');
const ACME = join(ROOT, 'examples', 'acme-cloud', 'provider.ts');
const LAB_PROVIDER = pathToFileURL(join(ROOT, 'src', 'providers', 'lab', 'index.ts')).href;
const MASTER = 'node-role.kubernetes.io/master';
const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const CLUSTER_TAG = `kubernetes.io/cluster/${LAB_CLUSTER_ID}`;
/** Lab time, for whatever a busy machine needs. */
const WITHIN = '10m';

/** The one that is built in, or the example. */
export type ProviderName = 'lab' | 'acme-cloud';

export interface CcmLabOptions extends Pick<LabOptions, 'cloud' | 'crashLoopMaxMs'> {
  readonly provider?: ProviderName;
  /** How many times faster than outside; as outside unless told otherwise. */
  readonly scaled?: number;
  /** Nodes that are no machines of the cloud, for programs that must outlive machines; none unless told otherwise. */
  readonly hosts?: number;
}

export interface DeployOptions {
  readonly topology?: 'ha' | 'sno';
  /** Instead of those that were rendered, or besides them: `{ 'node-monitor-period': '2s' }`. */
  readonly flags?: Readonly<Record<string, string>>;
}

/** A lab with a cloud in which a cloud controller manager is installed as a partner would do it. */
export class CcmLab implements AsyncDisposable {
  readonly lab: Lab;
  readonly cluster: LabCluster;
  readonly namespace: string;
  readonly #provider: ProviderName;
  readonly #isScaled: boolean;
  readonly #signal = new AbortController();

  private constructor(lab: Lab, provider: ProviderName) {
    this.lab = lab;
    this.cluster = lab.cluster();
    this.namespace = `${provider}-cloud-controller-manager`;
    this.#provider = provider;
    this.#isScaled = lab.clock.mode === 'scaled';
  }

  static async start(options: CcmLabOptions = {}): Promise<CcmLab> {
    const { provider = 'lab', scaled, hosts = 0, cloud = true, ...rest } = options;
    const images = { ...slipwayImages(), [WEB_IMAGE]: { argv: ['node'] } };
    const clock = scaled === undefined ? 'real' : ({ scaled } as const);
    const lab = await startLab({ nodes: hosts, cloud, images, clock, maxGraceMs: 2000, ...rest });
    const body = { metadata: { labels: { [MASTER]: '' } } };
    for (let at = 1; at <= hosts; at++)
      await lab.cluster().client.patch(Node, { name: `w-${at}` }, { type: 'merge', body });
    return new CcmLab(lab, provider);
  }

  /** Machines of these names become nodes, in zones a and b by turns. `isHost`: the program may run on them. */
  async boot(names: readonly string[], { isHost = false } = {}): Promise<void> {
    const wishes = names.map((name, at) => ({
      name,
      zone: at % 2 === 0 ? 'a' : 'b',
      labels: isHost ? { [MASTER]: '' } : {},
      tags: { [CLUSTER_TAG]: 'owned' },
    }));
    await bootMachines({ lab: this.lab, cluster: this.cluster, signal: this.#signal.signal }, wishes);
  }

  /** Applies what `slipway render deploy` prints, and the Secrets that a partner adds. */
  async deploy({ topology = 'sno', flags = {} }: DeployOptions = {}): Promise<void> {
    const rendered = await renderedObjects(this.#provider, topology);
    const objects = rendered.map((object) => (isDeployment(object) ? this.#inThisLab(object, flags) : object));
    const [first, ...others] = objects;
    await this.#apply([first, ...this.#secrets(), ...others].filter((object) => object !== undefined));
  }

  /** One more object, or several. */
  async apply(...objects: readonly object[]): Promise<void> {
    await this.#apply(objects);
  }

  async until(waitedFor: string, check: () => Promise<boolean> | boolean, within = WITHIN): Promise<void> {
    await this.lab.until(async () => ({ isDone: await check(), about: [], waitedFor }), { within });
  }

  /** Undefined when there is none. */
  node(name: string): Promise<Node | undefined> {
    return this.cluster.client.find(Node, { name });
  }

  async untilInitialised(...names: readonly string[]): Promise<readonly Node[]> {
    const nodes = async () =>
      (await Promise.all(names.map((name) => this.node(name)))).filter((node) => node !== undefined);
    await this.until(`nodes ${names.join(', ')} are initialised`, async () => {
      const found = await nodes();
      return found.length === names.length && found.every((node) => !hasTaint(node, UNINITIALIZED));
    });
    return nodes();
  }

  async untilReadiness(name: string, isReady: boolean): Promise<void> {
    await this.until(`node ${name} is ${isReady ? 'ready' : 'not ready'}`, async () => {
      const node = await this.node(name);
      return node !== undefined && isReadyNode(node) === isReady;
    });
  }

  async pods(): Promise<readonly Pod[]> {
    return (await this.cluster.client.list(Pod, { namespace: this.namespace })).items;
  }

  /** What all pods of the program have written, of this run and the one before. */
  async logs(): Promise<string> {
    const texts = (await this.pods()).flatMap(({ metadata }) =>
      [false, true].map((previous) => this.cluster.logs(metadata, { previous }).catch(() => '')),
    );
    return (await Promise.all(texts)).join('\n');
  }

  /** `Warning SyncLoadBalancerFailed message`, of one object. */
  async events(kind: string, name: string): Promise<readonly string[]> {
    const { items } = await this.cluster.client.list(Event, { fields: `involvedObject.name=${name}` });
    return items
      .filter(({ involvedObject }) => involvedObject.kind === kind)
      .map(({ type = '', reason = '', message = '' }) => `${type} ${reason} ${message}`);
  }

  async untilEvent(kind: string, name: string, pattern: RegExp): Promise<void> {
    const waitedFor = `event ${String(pattern)} of ${kind} ${name}`;
    await this.until(waitedFor, async () => (await this.events(kind, name)).some((text) => pattern.test(text)));
  }

  /** Where a Service is reached through its load balancer, once it has an address. */
  async untilBalanced(name: string): Promise<string> {
    let url: string | undefined;
    await this.until(`Service ${name} has an address`, async () => {
      const { status } = await this.cluster.client.get(Service, { namespace: 'default', name });
      const ip = status?.loadBalancer?.ingress?.[0]?.ip;
      url = ip === undefined ? undefined : this.lab.urlOf(ip, 80);
      return url !== undefined;
    });
    return url ?? assert.fail('it has no address');
  }

  /** As somebody in the cloud who may do everything. */
  async ask(method: string, path: string, body?: object): Promise<unknown> {
    const { cloud } = this.lab;
    const [user] = cloud.credentials();
    const { token } = cloud.issueToken(user?.clientId ?? '');
    const response = await fetch(`${cloud.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  }

  /** What the cloud really has of a kind; what is being deleted is still there. */
  inCloud(plural: 'instances' | 'load-balancers') {
    return this.lab.cloud.state.list({ plural });
  }

  instanceId(name: string): string {
    const found = this.inCloud('instances').find((one) => one.name === name);
    return found?.id ?? assert.fail(`the cloud has no instance ${name}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.abort();
    await this.lab[Symbol.asyncDispose]();
  }

  async #apply(objects: readonly object[]): Promise<void> {
    await this.cluster.apply(objects.map((object) => `---\n${printYaml(object)}`).join(''));
  }

  /** Only what an image would have brought, and what time that runs faster makes necessary. */
  #inThisLab(deployment: Deployment, flags: Readonly<Record<string, string>>): Deployment {
    const { spec } = deployment;
    const containers = (spec.template.spec?.containers ?? []).map((container) => ({
      ...container,
      args: changedArgs(container.args ?? [], { ...providerFlag(this.#provider), ...flags }),
      // Compiling takes as long as outside, while probes come sooner.
      ...(this.#isScaled && { livenessProbe: { ...container.livenessProbe, failureThreshold: 60 } }),
    }));
    const template = { ...spec.template, spec: { ...spec.template.spec, containers } };
    return { ...deployment, spec: { ...spec, template } };
  }

  /** The names and keys are those that the rendered Deployment refers to. */
  #secrets(): readonly object[] {
    const { cloud } = this.lab;
    const [user] = cloud.credentials().filter(({ scope }) => !scope.includes('admin'));
    const { clientId = '', clientSecret = '' } = user ?? {};
    const isLab = this.#provider === 'lab';
    const prefix = isLab ? 'LAB' : 'ACME_CLOUD';
    const config = { endpoint: cloud.url, clusterId: LAB_CLUSTER_ID, ...(!isLab && { region: 'lab' }) };
    const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: this.namespace },
      stringData,
    });
    return [
      secret('cloud-config', { 'cloud.conf': JSON.stringify(config) }),
      secret('cloud-credentials', {
        [`${prefix}_CLIENT_ID`]: clientId,
        [`${prefix}_CLIENT_SECRET`]: clientSecret,
      }),
    ];
  }
}

export const hasTaint = ({ spec }: Node, key: string): boolean =>
  (spec?.taints ?? []).some((taint) => taint.key === key);

const isDeployment = (object: KubeObject): object is Deployment => object.kind === 'Deployment';

/** An image of a partner has the definition in it, here it is on this machine; the built-in one needs no file at all. */
const providerFlag = (provider: ProviderName): Readonly<Record<string, string | undefined>> => ({
  provider: provider === 'lab' ? undefined : ACME,
});

function changedArgs(
  args: readonly string[],
  changes: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const isChanged = (arg: string) => Object.keys(changes).some((name) => arg.startsWith(`--${name}=`));
  const added = Object.entries(changes).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}=${value}`],
  );
  return [...args.filter((arg) => !isChanged(arg)), ...added];
}

/** What the program prints for a cluster, but for the MachineConfigs, which only OpenShift has. */
async function renderedObjects(provider: ProviderName, topology: 'ha' | 'sno'): Promise<readonly KubeObject[]> {
  await using scratch = await scratchDirectory();
  const text = `export { labProvider as default } from ${JSON.stringify(LAB_PROVIDER)};\n`;
  const file = provider === 'lab' ? await writeScript(scratch.path, 'provider.mjs', text) : ACME;
  const words = ['--provider', file, '--cloud-config', 'secret', '--cluster-name', LAB_CLUSTER_ID];
  const { code, stdout, stderr } = await outcomeOf(
    process.execPath,
    ['--conditions=slipway-source', MAIN, 'render', 'deploy', '--topology', topology, ...words],
    { PATH: process.env['PATH'], HOME: scratch.path, LANG: 'C.UTF-8' },
  );
  assert.equal(code, 0, stderr);
  const documents = stdout.split(/^---$/m).slice(1);
  return documents
    .map((document) => parseYaml(document) as KubeObject)
    .filter(({ kind }) => kind !== 'MachineConfig');
}

const WEB_IMAGE = 'slipway.dev/web';
const WEB_PORT = 8080;
const WEB = `require('node:http').createServer((request, response) => response.end('pod ' + process.env.HOSTNAME))
.listen(${WEB_PORT}); process.on('SIGTERM', () => process.exit(0));`;

/** A pod that answers with its name. */
export const webPod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default', labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: WEB_IMAGE, args: ['-e', WEB] }] },
});

/** A Service of type LoadBalancer for these pods. */
export const balancedService = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default' },
  spec: { type: 'LoadBalancer', selector: { app: 'web' }, ports: [{ port: 80, targetPort: WEB_PORT }] },
});
