import { Deployment, type Deployment as DeploymentObject } from '../../api/generated/apps-v1.ts';
import { Node, Pod, ServiceAccount } from '../../api/generated/core-v1.ts';
import { ClusterRoleBinding } from '../../api/generated/rbac-v1.ts';
import type { KubeObject, ObjectKey } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import { applyYamlText } from '../../kube/apply/apply-yaml.ts';
import type { KubeClient } from '../../kube/client/kube-client.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { machineUserData, type UserDataOptions } from '../machine/user-data.ts';
import { binding } from '../workloads/stand-in-roles.ts';
import type { RunningCluster } from './start-cluster.ts';

/** What somebody waits for, and the objects that it is about: a wait in vain is explained by them (B2). */
export interface Awaited {
  readonly isDone: boolean;
  readonly about: readonly KubeObject[];
  readonly waitedFor: string;
}

/** What a machine is to be as a node. */
export type NodeWish = Omit<UserDataOptions, 'url' | 'caPem' | 'token'>;

/** One node of a lab, and what can happen to it (N6). */
export interface LabNode {
  readonly name: string;
  stopHeartbeat(): Promise<void>;
  resumeHeartbeat(): void;
  /** The API server is out of reach while it is on; containers run on. */
  partition(isOn: boolean): void;
  /** Everything on it is dead at once, and nobody is told. */
  powerOff(): Promise<void>;
  /** Starts it again, with what is on its disk (N18). */
  powerOn(): Promise<void>;
  /** No new pods, and those it has leave as far as budgets allow it. Resolves when they are gone. */
  drain(): Promise<void>;
}

/** A cluster of a lab, for tests and for people. */
export class LabCluster {
  readonly name: string;
  readonly url: string;
  /** The administrator's. Reads ask the server. */
  readonly client: KubeClient;
  /** Of the administrator, for kubectl and other programs. */
  readonly kubeconfigPath: string;
  readonly #cluster: RunningCluster;
  readonly #clock: Clock;
  readonly #transport: Transport;

  constructor(cluster: RunningCluster, clock: Clock) {
    const { name, client, api } = cluster;
    this.name = name;
    this.url = api.url;
    this.client = client;
    this.kubeconfigPath = api.kubeconfigPath;
    this.#cluster = cluster;
    this.#clock = clock;
    this.#transport = api.way.as('admin', ['system:masters']);
  }

  /** Requests of a user, made in this process: for a program that runs here, on the clock of the lab (T10). */
  as(user: string, groups: readonly string[] = []): Transport {
    return this.#cluster.api.way.as(user, groups);
  }

  /** Applies every document of a YAML text as the administrator, in order. */
  apply(yaml: string): Promise<void> {
    return applyYamlText(this.client, this.#clock, yaml);
  }

  /** The log of a container, of the run before this one if asked; the only container unless named. */
  async logs(
    pod: ObjectKey,
    options: { readonly container?: string; readonly previous?: boolean } = {},
  ): Promise<string> {
    const { container, previous = false } = options;
    const query = new URLSearchParams({
      ...(container !== undefined && { container }),
      ...(previous && { previous: 'true' }),
    });
    const target = `/api/v1/namespaces/${pod.namespace ?? 'default'}/pods/${pod.name}/log?${query.toString()}`;
    const response = await this.#transport({ method: 'GET', target });
    const text = Buffer.from(await response.bytes()).toString('utf8');
    if (response.status !== 200) throw new Error(JSON.parse(text).message);
    return text;
  }

  /** Whether a Deployment has what it asks for, in its newest form (as `kubectl rollout status` sees it). */
  async rolledOut(namespace: string, name: string): Promise<Awaited> {
    const waitedFor = `Deployment ${namespace}/${name} is rolled out`;
    const deployment = await this.client.find(Deployment, { namespace, name });
    if (deployment === undefined) return { isDone: false, about: [], waitedFor };
    return { isDone: isRolledOut(deployment), about: [deployment], waitedFor };
  }

  /**
   * User data with which an instance of the cloud becomes a node of the cluster, once somebody approves its requests for
   * certificates.
   */
  async userData(options: NodeWish = {}): Promise<string> {
    const { client, url } = this;
    const { authority } = this.#cluster.api;
    if (authority === undefined)
      throw userError(
        'ForeignCluster',
        `cluster ${this.name} is not run by the lab: take the user data from who does`,
      );
    await client.apply(ServiceAccount, { metadata: BOOTSTRAPPER }, { force: true });
    const subject = { kind: 'ServiceAccount' as const, ...BOOTSTRAPPER };
    const right = binding('slipway:lab:machines', 'system:node-bootstrapper', subject);
    await client.apply(ClusterRoleBinding, right, { force: true });
    const { token } = await client.createToken(BOOTSTRAPPER);
    return machineUserData({ ...options, url, caPem: authority.certificatePem, token });
  }

  /** Throws when there is none of that name. */
  node(name: string): LabNode {
    const cluster = this.#cluster;
    const found = () => {
      const node = cluster.nodes.get(name);
      if (node !== undefined) return node;
      throw new Error(
        `node ${name} is off, or not one of cluster ${cluster.name}: ${[...cluster.nodes.keys()].join(', ')}`,
      );
    };
    if (!cluster.knowsNode(name)) found();
    return {
      name,
      stopHeartbeat: () => found().stopHeartbeat(),
      resumeHeartbeat: () => found().resumeHeartbeat(),
      partition: (isOn) => found().partition(isOn),
      powerOff: () => cluster.powerOff(name),
      powerOn: () => cluster.powerOn(name),
      drain: () => this.#drain(name),
    };
  }

  async #drain(name: string): Promise<void> {
    const { client } = this;
    await client.patch(Node, { name }, { type: 'merge', body: { spec: { unschedulable: true } } });
    for (;;) {
      const { items } = await client.list(Pod, { fields: `spec.nodeName=${name}` });
      const leaving = items.filter(mayLeave);
      if (leaving.length === 0) return;
      for (const { metadata } of leaving.filter((pod) => pod.metadata.deletionTimestamp === undefined))
        await client.evict(metadata);
      await this.#clock.sleep(DRAIN_MS);
    }
  }
}

const BOOTSTRAPPER = { namespace: 'kube-system', name: 'node-bootstrapper' };
const DRAIN_MS = 500;

/** Pods of a DaemonSet and of files come back at once. */
const mayLeave = ({ metadata: { ownerReferences = [], annotations = {} } }: Pod): boolean =>
  annotations['kubernetes.io/config.mirror'] === undefined &&
  !ownerReferences.some(({ kind }) => kind === 'DaemonSet');

/** Pure. */
function isRolledOut({ metadata, spec, status = {} }: DeploymentObject): boolean {
  const { replicas: wanted = 1 } = spec;
  const { observedGeneration = 0, updatedReplicas = 0, replicas = 0, availableReplicas = 0 } = status;
  const counts = [updatedReplicas, replicas, availableReplicas];
  return observedGeneration >= (metadata.generation ?? 0) && counts.every((count) => count === wanted);
}
