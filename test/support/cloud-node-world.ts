import { Event, Node, type NodeAddress, type Taint } from '../../src/api/generated/core-v1.ts';
import type { CloudSettings } from '../../src/cloud/cloud-settings.ts';
import { PROVIDED_IP_ANNOTATION } from '../../src/cloud/node/addresses.ts';
import { UNINITIALIZED_TAINT } from '../../src/cloud/node/desired.ts';
import { cloudNode } from '../../src/cloud/node/index.ts';
import { PROBLEM_CONDITION } from '../../src/cloud/node/node-status.ts';
import type { Manager } from '../../src/kube/manager/create-manager.ts';
import type { InstanceObservation, PresentInstance } from '../../src/sdk/capabilities/instances.ts';
import { FakeCloud } from '../../src/testing/fake-cloud.ts';
import { TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';
import { type CloudControllerSetup, fakeProvider, startCloudController } from './cloud-controllers.ts';

const TAINT: Taint = { key: UNINITIALIZED_TAINT, value: 'true', effect: 'NoSchedule' };

export interface NewNode {
  readonly taints?: readonly Taint[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** What the kubelet was told with `--node-ip` (A7). */
  readonly nodeIP?: string;
  readonly providerID?: string;
  readonly addresses?: readonly NodeAddress[];
}

/** A machine that is there; its address is 10.0.0.1. */
export const machine = (more: Partial<PresentInstance> = {}): PresentInstance => ({
  state: 'present',
  power: 'on',
  providerID: 'fake://i-1',
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  ...more,
});

/** A cluster and a cloud; the test plays kubelets and the cloud. */
export class CloudNodeWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly cloud = new FakeCloud();

  private constructor(env: TestEnv) {
    this.env = env;
  }

  static async start(options: TestEnvOptions = {}): Promise<CloudNodeWorld> {
    return new CloudNodeWorld(await TestEnv.start(options));
  }

  /** Starts the controller; a second one under another name. */
  run(settings: Partial<CloudSettings> = {}, setup: Partial<CloudControllerSetup> = {}): Promise<Manager> {
    return startCloudController(this.env, cloudNode, { provider: fakeProvider(this.cloud), settings, ...setup });
  }

  /** A Node as a kubelet registers it, and its machine. */
  async add(name: string, node: NewNode = {}, found: InstanceObservation = machine()): Promise<void> {
    this.cloud.instances.set(name, found);
    const { taints = [TAINT], labels = {}, nodeIP, providerID, addresses } = node;
    const annotations = {
      ...node.annotations,
      ...(nodeIP !== undefined && { [PROVIDED_IP_ANNOTATION]: nodeIP }),
    };
    await this.env.client.create(Node, {
      metadata: { name, labels, annotations },
      spec: { taints, ...(providerID !== undefined && { providerID }) },
      status: { addresses: addresses ?? [{ type: 'Hostname', address: `${name}.internal` }] },
    });
    await this.env.settle();
  }

  node(name: string): Promise<Node> {
    return this.env.client.live.get(Node, { name });
  }

  async isTainted(name: string): Promise<boolean> {
    const { spec } = await this.node(name);
    return spec.taints?.some(({ key }) => key === UNINITIALIZED_TAINT) === true;
  }

  async addresses(name: string): Promise<readonly string[]> {
    const { status } = await this.node(name);
    return (status?.addresses ?? []).map(({ type, address }) => `${type} ${address}`);
  }

  /** What the Node shows of problems with its machine: `True NodeAddressMismatch: …`. */
  async problems(name: string): Promise<readonly string[]> {
    const { status } = await this.node(name);
    return (status?.conditions ?? [])
      .filter(({ type }) => type === PROBLEM_CONDITION)
      .map(({ status: value, reason, message }) => `${value} ${reason}: ${message}`);
  }

  /** `Normal Synced ×1 from cloud-node-controller`, sorted. */
  async events(name: string): Promise<readonly string[]> {
    const { items } = await this.env.client.live.list(Event);
    return items
      .filter(({ involvedObject }) => involvedObject.kind === 'Node' && involvedObject.name === name)
      .map(({ type, reason, count = 1, source }) => `${type} ${reason} ×${count} from ${source?.component}`)
      .toSorted();
  }

  /** What was written to nodes since the last call: `PUT nodes/n1`. */
  writes(): readonly string[] {
    const lines = this.env.recorder.writes
      .map(({ method, target }) => `${method} ${target.replace(/\?.*/, '').replace('/api/v1/', '')}`)
      .filter((line) => line.includes(' nodes/'));
    this.env.recorder.clear();
    return lines;
  }

  async metric(manager: Manager, line: string): Promise<number> {
    const text = await manager.metrics.text();
    const found = text.split('\n').find((one) => one.startsWith(`${line} `));
    return Number(found?.slice(line.length + 1) ?? Number.NaN);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }
}
