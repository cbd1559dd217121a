import type { Node, Service, ServiceSpec } from '../../src/api/generated/core-v1.ts';
import { Event, Node as NodeKind, Service as ServiceKind } from '../../src/api/generated/core-v1.ts';
import type { ObjectMeta } from '../../src/api/object.ts';
import type { CloudSettings } from '../../src/cloud/cloud-settings.ts';
import { serviceLb } from '../../src/cloud/service/index.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import type { Capabilities } from '../../src/sdk/capabilities/capabilities.ts';
import { FakeCloud } from '../../src/testing/fake-cloud.ts';
import { TestEnv } from '../../src/testing/test-env.ts';
import { fakeProvider, startCloudController } from './cloud-controllers.ts';

export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

export interface ServiceInput {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<ServiceSpec>;
  readonly status?: Service['status'];
}

/** A Service as the cache has it, for pure tests. */
export const balancedService = ({ metadata, spec, status }: ServiceInput = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: 'default', name: 'web', uid: '01234567-89ab-cdef-0123-456789abcdef', ...metadata },
  spec: {
    type: 'LoadBalancer',
    ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30080 }],
    sessionAffinity: 'None',
    externalTrafficPolicy: 'Cluster',
    ipFamilies: ['IPv4'],
    ...spec,
  },
  ...(status !== undefined && { status }),
});

export interface NodeInput {
  readonly metadata?: Partial<ObjectMeta>;
  readonly spec?: Partial<Node['spec']>;
  readonly addresses?: NonNullable<Node['status']>['addresses'] & object;
}

const ADDRESSES = [{ type: 'InternalIP', address: '10.0.0.1' }];

/** A node that a balancer may use unless told otherwise. */
export const workerNode = (name: string, { metadata, spec, addresses = ADDRESSES }: NodeInput = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, ...metadata },
  spec: { providerID: `fake://${name}`, ...spec },
  status: { addresses },
});

export interface BalancedClusterOptions {
  readonly settings?: Partial<CloudSettings>;
  readonly capabilities?: (cloud: FakeCloud) => Capabilities;
  /** Names of nodes that are there from the start; two unless told otherwise. */
  readonly nodes?: readonly string[];
  readonly server?: { readonly allowsForbidden?: boolean };
}

/** A cluster with the service controller, and the cloud that it talks to. */
export class BalancedCluster implements AsyncDisposable {
  readonly env: TestEnv;
  readonly cloud = new FakeCloud();
  readonly #options: BalancedClusterOptions;
  #manager: Manager | undefined;

  private constructor(env: TestEnv, options: BalancedClusterOptions) {
    this.env = env;
    this.#options = options;
  }

  static async start(options: BalancedClusterOptions = {}): Promise<BalancedCluster> {
    const cluster = await BalancedCluster.prepare(options);
    await cluster.run();
    return cluster;
  }

  /** With its nodes, before the controller runs. */
  static async prepare(options: BalancedClusterOptions = {}): Promise<BalancedCluster> {
    const cluster = new BalancedCluster(await TestEnv.start(options.server ?? {}), options);
    for (const name of options.nodes ?? ['n1', 'n2']) await cluster.addNode(name);
    return cluster;
  }

  async run(): Promise<void> {
    const { capabilities = () => this.cloud.capabilities, settings = {} } = this.#options;
    const provider = fakeProvider(this.cloud, capabilities(this.cloud));
    this.#manager = await startCloudController(this.env, serviceLb, { provider, settings, distinctNotes: true });
  }

  get manager(): Manager {
    if (this.#manager === undefined) throw new Error('the controller does not run');
    return this.#manager;
  }

  async stop(): Promise<void> {
    await this.env.stopManager(this.manager);
    this.#manager = undefined;
  }

  /** Another process: nothing of what this one remembered is left. */
  async restart(): Promise<void> {
    await this.stop();
    await this.run();
  }

  async addNode(name: string, input: NodeInput = {}): Promise<void> {
    const node = workerNode(name, input);
    await this.env.client.create(NodeKind, node);
    await this.env.client.patch(
      NodeKind,
      { name },
      {
        type: 'merge',
        body: { status: { addresses: (node.status?.addresses ?? []).map((one) => ({ ...one })) } },
      },
      { subresource: 'status' },
    );
  }

  async patchNode(name: string, body: Record<string, unknown>): Promise<void> {
    await this.env.client.patch(NodeKind, { name }, { type: 'merge', body: body as never });
    await this.env.settle();
  }

  async deleteNode(name: string): Promise<void> {
    await this.env.client.delete(NodeKind, { name });
    await this.env.settle();
  }

  /** Creates a Service and waits until nothing moves. */
  async create(name: string, { metadata, spec }: ServiceInput = {}): Promise<Service> {
    const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
    const created = await this.env.client.create(ServiceKind, {
      metadata: { namespace: 'default', name, ...metadata },
      spec: { type: 'LoadBalancer', ports, ...spec },
    });
    await this.env.settle();
    return created;
  }

  async patch(name: string, body: Record<string, unknown>, subresource?: string): Promise<void> {
    const options = subresource === undefined ? {} : { subresource };
    await this.env.client.patch(ServiceKind, key(name), { type: 'merge', body: body as never }, options);
    await this.env.settle();
  }

  async delete(name: string): Promise<void> {
    await this.env.client.delete(ServiceKind, key(name));
    await this.env.settle();
  }

  get(name: string): Promise<Service | undefined> {
    return this.env.client.find(ServiceKind, key(name));
  }

  async finalizers(name: string): Promise<readonly string[]> {
    return (await this.get(name))?.metadata.finalizers ?? [];
  }

  async ingress(name: string): Promise<readonly unknown[]> {
    return (await this.get(name))?.status?.loadBalancer?.ingress ?? [];
  }

  /** `Normal EnsuringLoadBalancer: Ensuring load balancer`, in the order in which they were recorded. */
  async events(name: string): Promise<readonly string[]> {
    const { items } = await this.env.client.list(Event);
    return items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .toSorted((a, b) => (moment(a.metadata.name) < moment(b.metadata.name) ? -1 : 1))
      .map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
  }

  /** Only the reasons. */
  async reasons(name: string): Promise<readonly string[]> {
    return (await this.events(name)).map((line) => line.split(' ')[1]?.replace(':', '') ?? '');
  }

  /** The methods of the cloud that were called, in order: `ensure`, `find` … */
  get calls(): readonly string[] {
    return this.cloud.calls.map(({ method }) => method.replace('loadBalancers.', ''));
  }

  forgetCalls(): void {
    this.cloud.calls.length = 0;
  }

  /** The only balancer of the cloud. */
  get balancer() {
    const [balancer, ...more] = this.cloud.balancers.values();
    if (balancer === undefined || more.length > 0)
      throw new Error(`there are ${this.cloud.balancers.size} balancers`);
    return balancer;
  }

  get backendNames(): readonly string[] {
    return this.balancer.backends.map(({ nodeName }) => nodeName);
  }

  /** What the controller wrote to Services. */
  get servicePatches(): readonly { readonly target: string; readonly body: unknown }[] {
    return this.env.recorder.writes
      .filter(({ target }) => target.includes('/services/'))
      .map(({ target, body }) => ({ target: target.replace(/\?.*$/, ''), body: JSON.parse(body) as unknown }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }
}

const key = (name: string) => ({ namespace: 'default', name });

/** The end of the name of an event: it grows with time. */
const moment = (name: string): bigint => BigInt(`0x${name.slice(name.lastIndexOf('.') + 1)}`);
