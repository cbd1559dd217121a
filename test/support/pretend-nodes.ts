import { Node, Pod, type Taint } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { keyOf } from '../../src/api/object.ts';
import { time } from '../../src/api/time.ts';
import type { Clock } from '../../src/base/clock.ts';
import { isConflict, isNotFound } from '../../src/kube/client/api-error.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { targetNode } from '../../src/lab/workloads/daemonset/daemon-placement.ts';
import type { ScenarioWorld } from '../../src/testing/crash-scenario.ts';
import type { TestEnv } from '../../src/testing/test-env.ts';

/** What becomes of a pod that has a node. `pending`: nothing yet. */
export type Fate = 'pending' | 'ready' | 'unready' | 'succeeded' | 'failed';

export interface PretendNodesOptions {
  /** Asked at every step; ready unless told otherwise. */
  readonly fate?: (pod: Pod) => Fate;
  /** Of a pod that does not say itself where it belongs. */
  readonly home?: (pod: Pod) => string;
  /** Pods that are deleted stay until this says otherwise. */
  readonly isStopped?: (pod: Pod) => boolean;
}

export interface World {
  readonly client: KubeClient;
  readonly clock: Pick<Clock, 'now'>;
}

/** Stands in for the scheduler and the kubelets: places pods, runs them, and lets go of those that are deleted. */
export class PretendNodes {
  readonly #options: Required<PretendNodesOptions>;

  constructor({ fate = () => 'ready', home = () => 'n1', isStopped = () => true }: PretendNodesOptions = {}) {
    this.#options = { fate, home, isStopped };
  }

  /** One turn for every pod there is; whether anything changed. */
  async step({ client, clock }: World): Promise<boolean> {
    const { items: nodes } = await client.live.list(Node);
    const { items: pods } = await client.live.list(Pod);
    const names = new Set(nodes.map(({ metadata }) => metadata.name));
    const now = time(clock.now());
    const changes: boolean[] = [];
    for (const pod of pods) changes.push(await this.#turn(pod, { client, names, now }).catch(overtaken));
    return changes.includes(true);
  }

  /** Turns, and what controllers make of them, until nothing changes any more. Time does not pass. */
  async settle(env: TestEnv): Promise<void> {
    do await env.settle();
    while (await this.step(env));
  }

  async #turn(pod: Pod, { client, names, now }: Turn): Promise<boolean> {
    const { fate, home } = this.#options;
    const { nodeName: node = '' } = pod.spec;
    if (pod.metadata.deletionTimestamp !== undefined) return node !== '' && this.#stop(pod, client);
    if (node === '') return place(pod, names, { client, home: home(pod) });
    return names.has(node) && live(pod, fate(pod), { client, now });
  }

  async #stop(pod: Pod, client: KubeClient): Promise<boolean> {
    if (!this.#options.isStopped(pod) || pod.metadata.deletionGracePeriodSeconds === 0) return false;
    await client.delete(Pod, keyOf(pod), { gracePeriodSeconds: 0 });
    return true;
  }
}

/** Somebody else was faster, as happens in real time: something has changed. */
function overtaken(error: unknown): true {
  if (isNotFound(error) || isConflict(error)) return true;
  throw error;
}

/** Time passes, nodes do what they do, and controllers what they do, until nothing changes any more. */
export async function settled({ env, converge }: ScenarioWorld, nodes: PretendNodes): Promise<void> {
  do {
    await nodes.settle(env);
    await converge();
  } while (await nodes.step(env));
}

interface Turn {
  readonly client: KubeClient;
  readonly names: ReadonlySet<string>;
  readonly now: string;
}

async function place(
  pod: Pod,
  names: ReadonlySet<string>,
  { client, home }: { readonly client: KubeClient; readonly home: string },
): Promise<boolean> {
  const target = targetNode(pod) ?? home;
  if (!names.has(target)) return false;
  await client.subresource('binding').create(Pod, keyOf(pod), {
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name: pod.metadata.name },
    target: { kind: 'Node', name: target },
  });
  return true;
}

const PHASES = {
  pending: 'Pending',
  ready: 'Running',
  unready: 'Running',
  succeeded: 'Succeeded',
  failed: 'Failed',
};

async function live(
  pod: Pod,
  fate: Fate,
  { client, now }: { readonly client: KubeClient; readonly now: string },
): Promise<boolean> {
  const status = fate === 'ready' ? 'True' : 'False';
  const { phase, conditions = [] } = pod.status ?? {};
  const old = conditions.find(({ type }) => type === 'Ready');
  if (fate === 'pending' || (phase === PHASES[fate] && old?.status === status)) return false;
  const state = stateOf(fate, now);
  const containerStatuses = pod.spec.containers.map(({ name, image = '' }) => ({
    name,
    image,
    imageID: '',
    ready: fate === 'ready',
    restartCount: 0,
    state,
  }));
  const ready = { type: 'Ready', status, lastTransitionTime: now };
  const body = { status: { phase: PHASES[fate], conditions: [ready], containerStatuses } };
  await client.patch(Pod, keyOf(pod), { type: 'merge', body }, { subresource: 'status' });
  return true;
}

function stateOf(fate: Fate, now: string): JsonObject {
  if (fate !== 'succeeded' && fate !== 'failed') return { running: { startedAt: now } };
  return { terminated: { exitCode: fate === 'failed' ? 1 : 0, finishedAt: now, startedAt: now } };
}

export interface NodeDetails {
  readonly labels?: Record<string, string>;
  readonly taints?: readonly Taint[];
}

/** A node whose kubelet has reported: the server taints new ones as not ready, and nobody here takes that away. */
export async function addNode(client: KubeClient, name: string, details: NodeDetails = {}): Promise<void> {
  const { labels = {}, taints = [] } = details;
  await client.create(Node, { metadata: { name, labels }, spec: {} });
  await setTaints(client, name, taints);
}

export async function addNodes(client: KubeClient, ...names: readonly string[]): Promise<void> {
  for (const name of names) await addNode(client, name);
}

export async function setTaints(client: KubeClient, name: string, taints: readonly Taint[]): Promise<void> {
  const body = { spec: { taints: taints.map((taint) => ({ ...taint })) } };
  await client.patch(Node, { name }, { type: 'merge', body });
}
