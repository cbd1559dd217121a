import { Lease } from '../../src/api/generated/coordination-v1.ts';
import { Node, type NodeCondition, Pod, type Taint, type Toleration } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { microTime, time } from '../../src/api/time.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import type { Controller } from '../../src/kube/controller/controller.ts';
import type { Transport } from '../../src/kube/transport/transport.ts';
import { TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';
import { addServicePod } from './service-world.ts';

const NAMESPACE = 'kube-node-lease';
const BEAT_MS = 10_000;
const SECOND_MS = 1000;

export interface LifecycleOptions extends TestEnvOptions {
  readonly controllers: readonly Controller[];
  /** Around the way to the server. */
  readonly wrap?: (transport: Transport) => Transport;
}

type Said = Readonly<Record<string, 'True' | 'False' | 'Unknown'>>;
const WELL: Said = { MemoryPressure: 'False', DiskPressure: 'False', PIDPressure: 'False', Ready: 'True' };

/** What a kubelet reports of its node. */
export async function report(
  { client, clock }: Pick<TestEnv, 'client' | 'clock'>,
  name: string,
  said: Said = {},
): Promise<void> {
  const now = time(clock.now());
  const { status } = await client.live.get(Node, { name });
  const conditions = Object.entries({ ...WELL, ...said }).map(([type, value]): JsonObject => {
    const old = status?.conditions?.find((condition) => condition.type === type);
    const since = old?.status === value ? (old.lastTransitionTime ?? now) : now;
    return { type, status: value, reason: 'Test', lastHeartbeatTime: now, lastTransitionTime: since };
  });
  const patch = { type: 'strategic', body: { status: { conditions } } } as const;
  await client.patch(Node, { name }, patch, { subresource: 'status' });
}

/** The Lease of a node, renewed now. */
export async function beat({ client, clock }: Pick<TestEnv, 'client' | 'clock'>, name: string): Promise<void> {
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTime(clock.now()) };
  const key = { namespace: NAMESPACE, name };
  const isThere = (await client.live.find(Lease, key)) !== undefined;
  if (isThere) await client.patch(Lease, key, { type: 'merge', body: { spec } });
  else await client.create(Lease, { metadata: key, spec });
}

/** A cluster whose nodes the test plays: they beat while time passes, unless they are silent. */
export class LifecycleWorld implements AsyncDisposable {
  readonly env: TestEnv;
  readonly #nodes = new Set<string>();
  readonly silent = new Set<string>();

  private constructor(env: TestEnv) {
    this.env = env;
  }

  static async start({ controllers, wrap, ...options }: LifecycleOptions): Promise<LifecycleWorld> {
    const env = await TestEnv.start(options);
    await env.startManager({ add: controllers, ...(wrap !== undefined && { wrap }) });
    return new LifecycleWorld(env);
  }

  get client(): KubeClient {
    return this.env.client;
  }

  /** Nodes that run and report. */
  async addNodes(...names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.client.create(Node, { metadata: { name }, spec: {} });
      await report(this.env, name);
      await beat(this.env, name);
      this.#nodes.add(name);
    }
    await this.env.settle();
  }

  async addPod(name: string, node: string, tolerations?: readonly Toleration[]): Promise<void> {
    await addServicePod(this.env, name, { node, ...(tolerations !== undefined && { spec: { tolerations } }) });
    await this.env.settle();
  }

  /** Time passes; a beat of every node every ten seconds. */
  async pass(seconds: number): Promise<void> {
    for (let leftMs = seconds * SECOND_MS; leftMs > 0; leftMs -= BEAT_MS) {
      await this.env.advance(Math.min(leftMs, BEAT_MS));
      for (const name of this.#nodes) if (!this.silent.has(name)) await beat(this.env, name);
      await this.env.settle();
    }
  }

  node(name: string): Promise<Node> {
    return this.client.get(Node, { name });
  }

  async condition(name: string, type = 'Ready'): Promise<NodeCondition | undefined> {
    const { status } = await this.node(name);
    return status?.conditions?.find((condition) => condition.type === type);
  }

  /** `key:effect`, sorted. */
  async taints(name: string): Promise<readonly string[]> {
    const { spec } = await this.node(name);
    return (spec.taints ?? []).map(({ key, effect }: Taint) => `${key}:${effect}`).toSorted();
  }

  pod(name: string): Promise<Pod | undefined> {
    return this.client.find(Pod, { namespace: 'default', name });
  }

  /** Whether it is gone, or on its way out. */
  async isLeaving(name: string): Promise<boolean> {
    const pod = await this.pod(name);
    return pod === undefined || pod.metadata.deletionTimestamp !== undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }
}
