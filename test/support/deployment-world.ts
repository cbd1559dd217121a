import {
  Deployment,
  type DeploymentCondition,
  type DeploymentSpec,
  ReplicaSet,
} from '../../src/api/generated/apps-v1.ts';
import { Pod } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { keyOf } from '../../src/api/object.ts';
import { time } from '../../src/api/time.ts';
import type { Clock } from '../../src/base/clock.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { type Controller, controllerFor } from '../../src/kube/controller/controller.ts';
import { DONE } from '../../src/kube/controller/reconcile.ts';
import { needs } from '../../src/kube/rbac/need.ts';
import { deploymentController } from '../../src/lab/workloads/deployment/controller.ts';
import { isActive, isReady } from '../../src/lab/workloads/pods/pod-state.ts';
import { replicaSetController } from '../../src/lab/workloads/replicaset/controller.ts';
import { TestEnv, type TestEnvOptions } from '../../src/testing/test-env.ts';

export const WEB = { namespace: 'default', name: 'web' };
const LABELS = { app: 'web' };

/** Of pods that no account is mounted into: that volume has a name which differs from run to run. */
export const webTemplate = (image = 'web:1', spec: object = {}) => ({
  metadata: { labels: LABELS },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'web', image }], ...spec },
});

export const webDeployment = (spec: Partial<DeploymentSpec> = {}) => ({
  metadata: WEB,
  spec: { selector: { matchLabels: LABELS }, template: webTemplate(), ...spec },
});

export const webReplicaSet = (name: string, replicas: number, labels: Record<string, string> = LABELS) => ({
  metadata: { namespace: WEB.namespace, name, labels },
  spec: { replicas, selector: { matchLabels: labels }, template: { ...webTemplate(), metadata: { labels } } },
});

interface Ready {
  readonly client: KubeClient;
  readonly clock: Pick<Clock, 'now'>;
}

/** What a kubelet says of a pod whose containers run and answer. */
export async function makeReady(pod: Pod, { client, clock }: Ready): Promise<void> {
  await writePod(pod, client, {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time(clock.now()) }],
  });
}

/** A node where every pod becomes ready at once. */
export const readyPods = (clock: Pick<Clock, 'now'>): Controller =>
  controllerFor(Pod, { name: 'kubelet' })
    .needs(needs(Pod, ['patch'], { subresource: 'status' }))
    .reconcile({
      async reconcile(pod, { client }) {
        if (isActive(pod) && !isReady(pod)) await makeReady(pod, { client, clock });
        return DONE;
      },
    });

const writePod = (pod: Pod, client: KubeClient, status: JsonObject): Promise<Pod> =>
  client.patch(Pod, keyOf(pod), { type: 'merge', body: { status } }, { subresource: 'status' });

export interface DeploymentWorldOptions extends TestEnvOptions {
  readonly controllers?: readonly Controller[];
}

/** A cluster with the stand-ins for Deployments and ReplicaSets; the test plays the nodes. */
export class DeploymentWorld implements AsyncDisposable {
  readonly env: TestEnv;
  /** Pods that never become ready. */
  isBroken: (pod: Pod) => boolean = () => false;

  private constructor(env: TestEnv) {
    this.env = env;
  }

  static async start(options: DeploymentWorldOptions = {}): Promise<DeploymentWorld> {
    const { controllers = [deploymentController(), replicaSetController()], ...rest } = options;
    const env = await TestEnv.start(rest);
    await env.startManager({ add: controllers });
    return new DeploymentWorld(env);
  }

  get client(): KubeClient {
    return this.env.client;
  }

  async create(spec?: Partial<DeploymentSpec>): Promise<void> {
    await this.client.create(Deployment, webDeployment(spec));
    await this.env.settle();
  }

  async change(spec: JsonObject): Promise<void> {
    await this.client.patch(Deployment, WEB, { type: 'strategic', body: { spec } });
    await this.env.settle();
  }

  /** Another template. */
  setImage(image: string): Promise<void> {
    return this.change({ template: { spec: { containers: [{ name: 'web', image }] } } });
  }

  deployment(): Promise<Deployment> {
    return this.client.get(Deployment, WEB);
  }

  async condition(type: string): Promise<DeploymentCondition | undefined> {
    const { status } = await this.deployment();
    return status?.conditions?.find((condition) => condition.type === type);
  }

  /** In the order of their images: they are made within the same second. */
  async sets(): Promise<readonly ReplicaSet[]> {
    const { items } = await this.client.list(ReplicaSet, { namespace: WEB.namespace });
    return items.toSorted((a, b) => imageOf(a).localeCompare(imageOf(b)));
  }

  /** `[image, size]` of each set. */
  async sizes(): Promise<readonly (readonly [image: string, size: number | undefined])[]> {
    return (await this.sets()).map((set) => [imageOf(set), set.spec.replicas]);
  }

  async pods(): Promise<readonly Pod[]> {
    const { items } = await this.client.list(Pod, { namespace: WEB.namespace });
    return items;
  }

  async activePods(): Promise<readonly Pod[]> {
    return (await this.pods()).filter(isActive);
  }

  /** `Normal ScalingReplicaSet …`, in the order in which they happened. */
  async events(kind: string): Promise<readonly string[]> {
    const { items } = await this.client.list(Event);
    return items
      .filter(({ regarding }) => regarding?.kind === kind)
      .toSorted((a, b) => nanoseconds(a) - nanoseconds(b))
      .map(({ type, reason, note }) => `${type} ${reason} ${note}`);
  }

  /** Makes one pod ready that can be, and lets the controllers answer; false when there is none. */
  async readyOne(): Promise<boolean> {
    const pod = (await this.activePods()).find((one) => !isReady(one) && !this.isBroken(one));
    if (pod === undefined) return false;
    await makeReady(pod, this.env);
    await this.env.settle();
    return true;
  }

  /** Makes pods ready, one after the other, until nothing happens any more. */
  async run(check: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    do await check();
    while (await this.readyOne());
  }

  /** A pod whose process ended, or that is not ready any more. */
  async setPod(pod: Pod, status: JsonObject): Promise<void> {
    await writePod(pod, this.client, status);
    await this.env.settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.env[Symbol.asyncDispose]();
  }
}

/** Their names end with the time, in order. */
const nanoseconds = ({ metadata }: Event): number => Number.parseInt(metadata.name.split('.').at(-1) ?? '', 16);

const imageOf = ({ spec }: ReplicaSet): string => spec.template?.spec?.containers[0]?.image ?? '';
