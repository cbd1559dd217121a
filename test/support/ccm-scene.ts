import { Node, type NodeSpec, Service, type ServiceSpec } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { NodeAddress, PresentInstance } from '../../src/sdk/capabilities/instances.ts';
import type { SharedCloud } from './ccm-cloud.ts';
import { type View, viewOf } from './ccm-views.ts';

export const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
export const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const NAMESPACE = 'default';

export interface NewNode {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: NodeSpec;
  readonly addresses?: readonly NodeAddress[];
  /** Status of the condition Ready; no condition unless told. */
  readonly ready?: 'True' | 'False' | 'Unknown';
  /** Without the taint that waits for the cloud. */
  readonly isInitialized?: boolean;
}

/** A cluster with a cloud controller manager. */
export interface Side {
  readonly program: 'go' | 'slipway';
  readonly client: KubeClient;
  readonly cloud: SharedCloud;
}

/** One of the two worlds, in which a story is played: an API server, a cloud, and something that brings them together. */
export class Scene {
  readonly program: Side['program'];
  readonly cloud: SharedCloud;
  readonly #client: KubeClient;
  readonly #prefix: string;
  #askedBefore: ReadonlyMap<string, number> = new Map();

  constructor({ program, client, cloud }: Side, story: string) {
    this.program = program;
    this.cloud = cloud;
    this.#client = client;
    this.#prefix = `${story}-`;
  }

  /** The name in this story. */
  named(name: string): string {
    return `${this.#prefix}${name}`;
  }

  view(): Promise<View> {
    return viewOf(this.#client, this.cloud, this.#prefix);
  }

  /** From now on `asked` counts. */
  beginStep(): void {
    this.#askedBefore = new Map(this.cloud.asked);
  }

  /** How often since the beginning of the step; see SharedCloud for the words. */
  asked(what: string): number {
    return (this.cloud.asked.get(what) ?? 0) - (this.#askedBefore.get(what) ?? 0);
  }

  /** A machine that is there and on. */
  machine(name: string, more: Partial<PresentInstance> = {}): void {
    const nodeName = this.named(name);
    this.cloud.machines.set(nodeName, {
      state: 'present',
      power: 'on',
      providerID: `fake://${nodeName}`,
      instanceType: 'm1',
      zone: 'z1',
      region: 'r1',
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      ...more,
    });
  }

  /** As a kubelet registers: with its status. */
  async node(name: string, node: NewNode = {}): Promise<void> {
    await this.#client.create(Node, newNode(this.named(name), node));
  }

  /** What the kubelet would say, or would not. */
  ready(name: string, status: 'True' | 'False' | 'Unknown'): Promise<unknown> {
    return this.#patchNode(name, { status: { conditions: [readyCondition(status)] } }, 'status');
  }

  label(name: string, labels: Readonly<Record<string, string | null>>): Promise<unknown> {
    return this.#patchNode(name, { metadata: { labels } });
  }

  removeNode(name: string): Promise<void> {
    return this.#client.delete(Node, { name: this.named(name) });
  }

  service(name: string, spec: Partial<ServiceSpec> = {}): Promise<unknown> {
    return this.#client.create(Service, {
      metadata: { name: this.named(name), namespace: NAMESPACE },
      spec: {
        type: 'LoadBalancer',
        selector: { app: 'web' },
        ports: [{ name: 'web', protocol: 'TCP', port: 80, nodePort: 30_080 }],
        ...spec,
      },
    });
  }

  changeService(name: string, spec: JsonObject): Promise<unknown> {
    return this.#client.patch(Service, this.#serviceKey(name), { type: 'merge', body: { spec } });
  }

  removeService(name: string): Promise<void> {
    return this.#client.delete(Service, this.#serviceKey(name));
  }

  /** Deletes every Service that the story made, in a cloud that works; balancers go by the finalizers. */
  async removeServices(): Promise<void> {
    this.cloud.failures.clear();
    const { services } = await this.view();
    for (const name of Object.keys(services)) await this.#client.delete(Service, { name, namespace: NAMESPACE });
  }

  /** Deletes every node that the story made. */
  async removeNodes(): Promise<void> {
    const { nodes } = await this.view();
    for (const name of Object.keys(nodes)) await this.#client.delete(Node, { name });
  }

  #serviceKey(name: string) {
    return { name: this.named(name), namespace: NAMESPACE };
  }

  #patchNode(name: string, body: JsonObject, subresource?: string): Promise<unknown> {
    const key = { name: this.named(name) };
    return this.#client.patch(
      Node,
      key,
      { type: 'strategic', body },
      { ...(subresource !== undefined && { subresource }) },
    );
  }
}

const conditionsOf = (ready: NewNode['ready']) => (ready === undefined ? [] : [readyCondition(ready)]);

const readyCondition = (status: 'True' | 'False' | 'Unknown') => {
  const now = new Date().toISOString();
  const words = { reason: 'Story', message: 'as the story goes' };
  return { type: 'Ready' as const, status, ...words, lastHeartbeatTime: now, lastTransitionTime: now };
};

function newNode(name: string, { isInitialized = false, ready, addresses = [], ...rest }: NewNode) {
  const { annotations = {}, labels = {}, spec = {} } = rest;
  const wait = isInitialized ? [] : [{ key: UNINITIALIZED, value: 'true', effect: 'NoSchedule' as const }];
  return {
    metadata: { name, annotations, labels },
    spec: { ...spec, taints: [...(spec.taints ?? []), ...wait] },
    status: { addresses, conditions: conditionsOf(ready) },
  };
}

export interface Step {
  readonly name: string;
  readonly act: (scene: Scene) => unknown;
  /** Whether it has come about; for something that must not happen: whether there was time for it. */
  readonly isSettled: (view: View, scene: Scene) => boolean;
  /** Deviations without which it is not over: what comes a moment later would be seen by luck only. */
  readonly deviations?: readonly string[];
}

export interface Story {
  /** Prefix of all names; a DNS label. */
  readonly slug: string;
  readonly rules: string;
  readonly title: string;
  readonly steps: readonly Step[];
}
