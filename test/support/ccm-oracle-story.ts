import { setTimeout as sleep } from 'node:timers/promises';
import { Event, Node, Service } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { SHUTDOWN_TAINT } from '../../src/cloud/lifecycle/shutdown-taint.ts';
import { UNINITIALIZED_TAINT } from '../../src/cloud/node/desired.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { PresentInstance } from '../../src/sdk/capabilities/instances.ts';
import type { FakeCloud } from '../../src/testing/fake-cloud.ts';

const PATIENCE_MS = 60_000;
const POLL_MS = 50;

/** Waits for something that has to be asked for. */
export async function eventually(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  for (const startedMs = performance.now(); !(await isTrue()); await sleep(POLL_MS)) {
    if (performance.now() - startedMs > PATIENCE_MS) throw new Error(`still not so: ${what}`);
  }
}

/** What happens in a cluster and in its cloud, with a cloud controller manager between them. */
export class OracleStory {
  readonly #client: KubeClient;
  readonly #cloud: FakeCloud;
  readonly #prefix: string;

  /** Names begin with the prefix, so that several stories can be told in one cluster. */
  constructor(client: KubeClient, cloud: FakeCloud, prefix: string) {
    this.#client = client;
    this.#cloud = cloud;
    this.#prefix = prefix;
  }

  /** Everything that the controllers of an installation do. */
  async tell(): Promise<void> {
    await this.initialize('n1');
    await this.#moveAndMirror('n1');
    await this.#stopAndStart('n1');
    await this.#balance();
    await this.#vanish('n1');
  }

  /** A kubelet registers, and the taint goes. */
  async initialize(node: string): Promise<void> {
    const name = this.#named(node);
    this.#machine(name);
    await this.#client.create(Node, {
      metadata: { name },
      spec: { taints: [{ key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' }] },
      status: { addresses: [{ type: 'Hostname', address: name }], conditions: [ready('True')] },
    });
    await this.#node(name, ({ spec }) => !hasTaint(spec, UNINITIALIZED_TAINT), 'the node is initialised');
  }

  async #moveAndMirror(node: string): Promise<void> {
    const name = this.#named(node);
    const shows = ({ status }: Node, wanted: string) =>
      status?.addresses?.some(({ address }) => address === wanted) === true;
    this.#machine(name, { addresses: [{ type: 'InternalIP', address: '10.0.0.99' }] });
    await this.#node(name, (one) => shows(one, '10.0.0.99'), 'the address follows the machine');
    await this.#patchNode(name, { metadata: { labels: { 'failure-domain.beta.kubernetes.io/zone': 'b' } } });
    const zone = ({ metadata: { labels = {} } }: Node) => labels['topology.kubernetes.io/zone'];
    await this.#node(name, (one) => zone(one) === 'b', 'the label is mirrored');
  }

  async #stopAndStart(node: string): Promise<void> {
    const name = this.#named(node);
    this.#machine(name, { power: 'off' });
    await this.#says(name, 'Unknown');
    await this.#node(name, ({ spec }) => hasTaint(spec, SHUTDOWN_TAINT.key), 'the node is tainted');
    this.#machine(name);
    await this.#says(name, 'True');
    await this.#node(name, ({ spec }) => !hasTaint(spec, SHUTDOWN_TAINT.key), 'the taint is gone');
  }

  /** Twice the same change, so that the second event like the first is written into it. */
  async #balance(): Promise<void> {
    const key = { namespace: 'default', name: this.#named('web') };
    const ports = (port: number) => [{ name: 'http', port }];
    const balancer = () => [...this.#cloud.balancers.values()].find(({ plan }) => plan.service.name === key.name);
    await this.#client.create(Service, { metadata: key, spec: { type: 'LoadBalancer', ports: ports(80) } });
    const ingress = async () => (await this.#client.get(Service, key)).status?.loadBalancer?.ingress ?? [];
    await eventually(async () => (await ingress()).length > 0, 'the service has its address');
    for (const port of [81, 82]) {
      await this.#client.patch(Service, key, { type: 'merge', body: { spec: { ports: ports(port) } } });
      await eventually(async () => balancer()?.plan.ports[0]?.port === port, `the balancer has port ${port}`);
    }
    await this.initialize('n2');
    const hasNew = async () =>
      balancer()?.backends.some(({ nodeName }) => nodeName === this.#named('n2')) === true;
    await eventually(hasNew, 'the balancer has the new node');
    await eventually(() => this.#isRepeated(key.name), 'an event was written again');
    await this.#client.delete(Service, key);
    await eventually(async () => (await this.#client.find(Service, key)) === undefined, 'the service is gone');
    await eventually(async () => balancer() === undefined, 'the balancer is gone');
  }

  async #vanish(node: string): Promise<void> {
    const name = this.#named(node);
    this.#cloud.instances.delete(name);
    await this.#says(name, 'Unknown');
    await eventually(async () => (await this.#client.find(Node, { name })) === undefined, 'the node is deleted');
  }

  async #isRepeated(service: string): Promise<boolean> {
    const { items } = await this.#client.live.list(Event, { namespace: 'default' });
    return items.some(({ involvedObject, count = 1 }) => involvedObject.name === service && count > 1);
  }

  #machine(name: string, more: Partial<PresentInstance> = {}): void {
    this.#cloud.instances.set(name, {
      state: 'present',
      power: 'on',
      providerID: `acme://a/${name}`,
      zone: 'a',
      region: 'r',
      instanceType: 'm1',
      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
      ...more,
    });
  }

  #says(name: string, status: 'True' | 'Unknown'): Promise<unknown> {
    return this.#patchNode(name, { status: { conditions: [ready(status)] } }, 'status');
  }

  #patchNode(name: string, body: JsonObject, subresource?: string): Promise<unknown> {
    const options = subresource === undefined ? {} : { subresource };
    return this.#client.patch(Node, { name }, { type: 'strategic', body }, options);
  }

  #node(name: string, isSo: (node: Node) => boolean, what: string): Promise<void> {
    return eventually(async () => isSo(await this.#client.get(Node, { name })), `${name}: ${what}`);
  }

  #named(name: string): string {
    return `${this.#prefix}-${name}`;
  }
}

const ready = (status: 'True' | 'Unknown') => {
  const now = new Date().toISOString().replace(/\.\d+/, '');
  return { type: 'Ready', status, reason: 'Test', message: '', lastHeartbeatTime: now, lastTransitionTime: now };
};

const hasTaint = ({ taints = [] }: Node['spec'], wanted: string): boolean =>
  taints.some(({ key }) => key === wanted);
