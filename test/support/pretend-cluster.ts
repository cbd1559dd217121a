import { Node, Pod, type PodSpec, type PodStatus, type Taint } from '../../src/api/generated/core-v1.ts';
import type { ObjectMeta } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { ClusterView } from '../../src/lab/workloads/scheduler/cluster-view.ts';
import { type PodFacts, podFacts } from '../../src/lab/workloads/scheduler/pod-facts.ts';
import type { StorageObjects } from '../../src/lab/workloads/scheduler/storage-view.ts';

/** Objects for tests: each says only what matters to it. */
export interface PodSketch {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Partial<ObjectMeta>;
  /** Of its one container. */
  readonly requests?: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly spec?: Partial<PodSpec>;
  readonly phase?: NonNullable<PodStatus['phase']>;
}

export function podLike(sketch: PodSketch = {}): Pod {
  const { name = 'p', namespace = 'default', uid = `uid-${name}`, labels = {}, metadata } = sketch;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid, labels, ...metadata },
    spec: specLike(sketch),
    ...(sketch.phase !== undefined && { status: { phase: sketch.phase } }),
  };
}

const specLike = ({ requests = {}, node, spec }: PodSketch): PodSpec => ({
  containers: [{ name: 'c', image: 'i', resources: { requests } }],
  ...(node !== undefined && { nodeName: node }),
  ...spec,
});

export const factsLike = (sketch: PodSketch = {}): PodFacts => podFacts(podLike(sketch));

export interface NodeSketch {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  readonly isUnschedulable?: boolean;
  /** 4 processors, 16 GiB and 110 pods unless told otherwise. */
  readonly allocatable?: Readonly<Record<string, string>>;
}

export function nodeLike(sketch: NodeSketch = {}): Node {
  const { name = 'n1', labels = {}, taints = [], isUnschedulable = false } = sketch;
  const allocatable = sketch.allocatable ?? { cpu: '4', memory: '16Gi', pods: '110' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: { taints, ...(isUnschedulable && { unschedulable: true }) },
    status: { allocatable },
  };
}

export interface ViewSketch {
  readonly nodes?: readonly NodeSketch[];
  readonly pods?: readonly PodSketch[];
  readonly storage?: Partial<StorageObjects>;
  /** Labels of namespaces. */
  readonly namespaces?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export function viewLike({
  nodes = [{}],
  pods = [],
  storage = {},
  namespaces = {},
}: ViewSketch = {}): ClusterView {
  const view = new ClusterView();
  for (const node of nodes) view.setNode(nodeLike(node));
  for (const pod of pods) view.setPod(factsLike(pod));
  view.storage.objects = { ...view.storage.objects, ...storage };
  view.knowNamespaces(new Map(Object.entries(namespaces).map(([name, labels]) => [name, { ...labels }])));
  return view;
}

/** A node that has reported what it has: the server taints new ones as not ready, and nobody here takes that away. */
export async function addNode(client: KubeClient, sketch: NodeSketch = {}): Promise<void> {
  const { metadata, spec, status } = nodeLike(sketch);
  const { name } = metadata;
  await client.create(Node, { metadata, spec: {} });
  const { taints = [], unschedulable = false } = spec;
  const body = { spec: { taints: taints.map((taint) => ({ ...taint })), unschedulable } };
  await client.patch(Node, { name }, { type: 'merge', body });
  const allocatable = { ...status?.allocatable };
  await client.patch(
    Node,
    { name },
    { type: 'merge', body: { status: { allocatable } } },
    { subresource: 'status' },
  );
}

export async function addPod(client: KubeClient, sketch: PodSketch = {}): Promise<Pod> {
  const { metadata, spec } = podLike(sketch);
  const { uid: _, ...rest } = metadata;
  // Without a token, whose volume has a name that nobody can foresee.
  return client.create(Pod, { metadata: rest, spec: { automountServiceAccountToken: false, ...spec } });
}
