import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Deployment } from '../../src/api/generated/apps-v1.ts';
import { ConfigMap, Event, Node, Pod, type Secret } from '../../src/api/generated/core-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import { ClusterOperator, type ClusterOperator as Operator } from '../../src/api/openshift/config-v1.ts';
import { isInitialised } from '../../src/app/cloud/cloud-facts.ts';
import { LAB_CLUSTER_ID } from '../../src/app/cloud/install-in-lab.ts';
import { slipwayImages } from '../../src/app/cloud/slipway-image.ts';
import { chosenProvider } from '../../src/app/cloud-operator/chosen-provider.ts';
import { installationOf } from '../../src/app/cloud-operator/installation.ts';
import { becomeOpenShift } from '../../src/app/cloud-operator/openshift-cluster.ts';
import { releaseImage } from '../../src/app/release.ts';
import { type Installation, installationFiles } from '../../src/cloud-operator/index.ts';
import {
  type ImageCatalogue,
  type Lab,
  type LabCluster,
  type OpenShiftFacts,
  startLab,
} from '../../src/lab/index.ts';
import { printYaml } from '../../src/object/yaml.ts';
import { bootMachines } from './booted-machines.ts';

const ROOT = join(import.meta.dirname, '..', '..');
export const ACME = join(ROOT, 'examples', 'acme-cloud', 'provider.ts');
const MASTER = 'node-role.kubernetes.io/master';
/** What the operator calls the program that it deploys, by provider. */
const OPERANDS = { aws: 'aws-cloud-controller-manager', 'acme-cloud': 'acme-cloud-cloud-controller-manager' };
const IMAGES_CONFIG_MAP = 'cloud-controller-manager-images';
const CREDENTIALS = 'cloud-credentials';
/** Lab time, for whatever a busy machine needs; what takes ten minutes by itself comes on top. */
const WITHIN = '25m';

type CloudUser = ReturnType<Lab['cloud']['credentials']>[number];
type Condition = NonNullable<NonNullable<Operator['status']>['conditions']>[number];

export interface OperatorLabOptions {
  /** A platform that is built in, in mode `replace`, or the example on platform External, in mode `sidecar`. */
  readonly provider: keyof typeof OPERANDS;
  /** How many times faster than outside; as outside unless told otherwise. */
  readonly scaled?: number;
  /** Nodes with the role of the control plane that are no machines of the cloud. */
  readonly hosts?: number;
  /** Besides that of Slipway. */
  readonly images?: ImageCatalogue;
}

export interface InstallOptions {
  /** Of the payload: `images.json` by key. */
  readonly images?: Readonly<Record<string, string>>;
  /** What the cluster version operator puts into the Deployment; that of Slipway unless given. */
  readonly version?: string;
}

/** A lab that passes for OpenShift, in which the cloud operator is installed as a payload or a partner would do it. */
export class OperatorLab implements AsyncDisposable {
  readonly lab: Lab;
  readonly cluster: LabCluster;
  /** Of the program that is deployed. */
  readonly operand: { readonly namespace: string; readonly name: string };
  readonly names: Installation['names'];
  readonly #installation: Installation;
  readonly #signal = new AbortController();

  private constructor(lab: Lab, installation: Installation, operand: string) {
    this.lab = lab;
    this.cluster = lab.cluster();
    this.names = installation.names;
    this.operand = { namespace: installation.names.managedNamespace, name: operand };
    this.#installation = installation;
  }

  static async start(options: OperatorLabOptions): Promise<OperatorLab> {
    const { provider, scaled, hosts = 0, images = {} } = options;
    const file = provider === 'aws' ? undefined : ACME;
    const chosen = await chosenProvider('/', file, file === undefined ? {} : { providerFile: file });
    const installation = installationOf(chosen, { image: releaseImage(), providerFile: file ?? '' });
    const lab = await startLab({
      nodes: hosts,
      cloud: provider !== 'aws',
      images: { ...slipwayImages(), ...images },
      clock: scaled === undefined ? 'real' : { scaled },
      maxGraceMs: 2000,
      crashLoopMaxMs: 60_000,
    });
    const world = new OperatorLab(lab, installation, OPERANDS[provider]);
    const body = { metadata: { labels: { [MASTER]: '' } } };
    for (let at = 1; at <= hosts; at++)
      await world.cluster.client.patch(Node, { name: `w-${at}` }, { type: 'merge', body });
    return world;
  }

  /** What the cluster says of itself; can be said again. */
  describe(facts: Omit<OpenShiftFacts, 'infrastructureName'>): Promise<void> {
    return becomeOpenShift(this.cluster, { infrastructureName: LAB_CLUSTER_ID, ...facts });
  }

  /** A cluster of a partner, with this cloud configuration or the right one. */
  async describeExternal(cloudConfig = this.cloudConfig): Promise<void> {
    await this.describe({
      platformSpec: { type: 'External', external: { platformName: 'acme-cloud' } },
      platformStatus: { type: 'External', external: { cloudControllerManager: { state: 'External' } } },
      cloudConfig,
      version: '4.22.0',
    });
  }

  /** What the example has to know about the cloud of the lab. */
  get cloudConfig(): string {
    return JSON.stringify({ endpoint: this.lab.cloud.url, region: 'lab', clusterId: LAB_CLUSTER_ID });
  }

  /** What `slipway render cloud-operator` prints, with what the payload puts in the place of its stubs. */
  async install({ images = {}, version }: InstallOptions = {}): Promise<void> {
    const { releaseVersion, images: usual } = this.#installation;
    const installation = {
      ...this.#installation,
      images: { ...usual, ...images },
      releaseVersion: version ?? releaseVersion,
    };
    // A lab has no monitoring.
    const files = installationFiles(installation).filter(({ needsMonitoring }) => needsMonitoring !== true);
    await this.apply(...files.flatMap(({ objects }) => objects));
  }

  /** Account and roles of what is deployed. */
  get operandAccess(): readonly KubeObject[] {
    return this.#installation.operandAccess;
  }

  /** What the cluster version operator changes between releases, or somebody by mistake. */
  async writeImages(text: string): Promise<void> {
    const metadata = { name: IMAGES_CONFIG_MAP, namespace: this.names.operatorNamespace };
    await this.cluster.client.apply(ConfigMap, { metadata, data: { 'images.json': text } }, { force: true });
  }

  /** With what the example asks for; unless somebody is named, it is a user of the cloud who is no administrator. */
  credentials(someone?: Pick<CloudUser, 'clientId' | 'clientSecret'>): Secret {
    const [user] = this.lab.cloud.credentials().filter(({ scope }) => !scope.includes('admin'));
    const { clientId, clientSecret } = someone ?? user ?? assert.fail('nobody may use the cloud');
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: CREDENTIALS, namespace: this.names.managedNamespace },
      stringData: { ACME_CLOUD_CLIENT_ID: clientId, ACME_CLOUD_CLIENT_SECRET: clientSecret },
    };
  }

  async apply(...objects: readonly KubeObject[]): Promise<void> {
    await this.cluster.apply(objects.map((object) => `---\n${printYaml(object)}`).join(''));
  }

  /** Machines of the control plane become nodes that wait for a cloud controller manager, in zones a and b by turns. */
  async boot(...names: readonly string[]): Promise<void> {
    const wishes = names.map((name, at) => wishOf(name, at % 2 === 0 ? 'a' : 'b'));
    await bootMachines({ lab: this.lab, cluster: this.cluster, signal: this.#signal.signal }, wishes);
  }

  /** A machine that has these files from the beginning, by path; a node like the others, but without a role. */
  async bootWith(name: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
    const { storage, ...ignition } = JSON.parse(await this.cluster.userData({ name, cloudProvider: 'external' }));
    const added = [...files].map(([path, content]) => ({
      path,
      mode: 0o600,
      contents: { source: `data:;base64,${Buffer.from(content).toString('base64')}` },
    }));
    const text = JSON.stringify({ ...ignition, storage: { files: [...storage.files, ...added] } });
    const userData = Buffer.from(text).toString('base64');
    const { labels: _labels, ...machine } = wishOf(name, 'a');
    await this.#ask('POST', '/v1/instances', { ...machine, type: 'lab.small', userData });
    await this.boot(name);
  }

  /** Takes it away from the cloud, and its node from the cluster. */
  async removeMachine(name: string): Promise<void> {
    const { client } = this.cluster;
    const found = () => this.lab.cloud.state.list({ plural: 'instances' }).find((one) => one.name === name);
    await this.#ask('DELETE', `/v1/instances/${found()?.id ?? assert.fail(`the cloud has no ${name}`)}`);
    // A node that is on would come back.
    await this.until(`machine ${name} is off`, () => ['terminated', undefined].includes(found()?.state));
    await client.delete(Node, { name });
  }

  /** Undefined when there is none. */
  node(name: string): Promise<Node | undefined> {
    return this.cluster.client.find(Node, { name });
  }

  /** They wait for nobody any more, and their addresses, which come last, are those of the cloud. */
  async untilInitialised(...names: readonly string[]): Promise<readonly Node[]> {
    let found: readonly Node[] = [];
    await this.until(`nodes ${names.join(', ')} are initialised`, async () => {
      const nodes = await Promise.all(names.map((name) => this.node(name)));
      found = nodes.filter((node) => node !== undefined).filter(isDone);
      return found.length === names.length;
    });
    return found;
  }

  /** Rejects with what the operator says of itself, and the last words of pods that are not well. */
  async until(waitedFor: string, check: () => Promise<boolean> | boolean): Promise<void> {
    const asked = async () => {
      const isDone = await check();
      const about = [await this.operator(), await this.deployment()].filter((object) => object !== undefined);
      return { isDone, about, waitedFor };
    };
    await this.lab.until(asked, { within: WITHIN });
  }

  operator(): Promise<Operator | undefined> {
    return this.cluster.client.find(ClusterOperator, { name: this.names.clusterOperator });
  }

  async condition(type: string): Promise<Partial<Condition>> {
    return (await this.operator())?.status?.conditions?.find((condition) => condition.type === type) ?? {};
  }

  /** Resolves to its message, which fits the pattern. */
  async untilCondition(type: string, status: string, pattern = /(?:)/): Promise<string> {
    let found = '';
    await this.until(`${type} is ${status} and says ${String(pattern)}`, async () => {
      const { status: is, message = '' } = await this.condition(type);
      found = message;
      return is === status && pattern.test(message);
    });
    return found;
  }

  /** All is well, and the version that is rolled out is this one. */
  async untilAvailable(version: string): Promise<Operator> {
    let found: Operator | undefined;
    await this.until(`the operator is available at ${version}`, async () => {
      found = await this.operator();
      const { conditions = [], versions = [] } = found?.status ?? {};
      const statusOf = (wanted: string) => conditions.find(({ type }) => type === wanted)?.status;
      return (
        WELL.every(([type, status]) => statusOf(type) === status) &&
        versions.some((one) => one.name === 'operator' && one.version === version)
      );
    });
    return found ?? assert.fail('there is no ClusterOperator');
  }

  deployment(): Promise<Deployment | undefined> {
    return this.cluster.client.find(Deployment, this.operand);
  }

  /** Of the program that is deployed; those that are to stay. */
  async pods(): Promise<readonly Pod[]> {
    const { items } = await this.cluster.client.list(Pod, { namespace: this.operand.namespace });
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** What all pods of the program have written. */
  async logs(): Promise<string> {
    const texts = (await this.pods()).map(({ metadata }) => this.cluster.logs(metadata).catch(() => ''));
    return (await Promise.all(texts)).join('\n');
  }

  /** `Normal ResourceUpdateSuccess message`, of everything that the operator tells of. */
  async events(): Promise<readonly string[]> {
    const { items } = await this.cluster.client.list(Event);
    return items
      .filter(({ involvedObject }) => involvedObject.name === this.names.clusterOperator)
      .map(({ type = '', reason = '', message = '' }) => `${type} ${reason} ${message}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.abort();
    await this.lab[Symbol.asyncDispose]();
  }

  /** As somebody in the cloud who may do everything. */
  async #ask(method: string, path: string, body?: object): Promise<void> {
    const { cloud } = this.lab;
    const [user] = cloud.credentials();
    const { token } = cloud.issueToken(user?.clientId ?? '');
    const response = await fetch(`${cloud.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.text()}`);
  }
}

const isDone = (node: Node): boolean =>
  isInitialised(node) && (node.status?.addresses ?? []).some(({ type }) => type === 'InternalIP');

const wishOf = (name: string, zone: string) => ({
  name,
  zone,
  labels: { [MASTER]: '' },
  tags: { [`kubernetes.io/cluster/${LAB_CLUSTER_ID}`]: 'owned' },
});

const WELL = [
  ['Available', 'True'],
  ['Progressing', 'False'],
  ['Degraded', 'False'],
  ['Upgradeable', 'True'],
] as const;
