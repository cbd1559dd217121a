import { DaemonSet, type DaemonSetSpec } from '../../src/api/generated/apps-v1.ts';
import { Job, type JobSpec } from '../../src/api/generated/batch-v1.ts';
import { Pod, type PodSpec, type Taint } from '../../src/api/generated/core-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { keyOf } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { agent, setImage } from './lab-daemons.ts';
import { work } from './lab-jobs.ts';
import type { Chance } from './lab-workload-views.ts';
import { addNode, type Fate, setTaints } from './pretend-nodes.ts';

/** Where a story is played: the nodes and the namespace of this name are its own, on every cluster. */
export interface Scene {
  readonly client: KubeClient;
  readonly slug: string;
}

export interface Step {
  readonly name: string;
  readonly act?: (scene: Scene) => Promise<unknown>;
  /** What becomes of pods in this step; ready unless told otherwise. */
  readonly fate?: () => (pod: Pod) => Fate;
  /** How long it takes until the end is to be seen. */
  readonly lastsMs?: number;
  /** What of the end is not compared, or not closely. */
  readonly chance?: Chance;
}

export type Story = readonly Step[];

export const nodeNameOf = (slug: string, number: number): string => `${slug}-n${number}`;
const agentOf = (namespace: string) => ({ namespace, name: 'agent' });
const workOf = (namespace: string) => ({ namespace, name: 'work' });

/** Daemon sets of other stories keep away from it. */
export const addStoryNode = ({ client, slug }: Scene, number: number): Promise<void> =>
  addNode(client, nodeNameOf(slug, number), { labels: { story: slug } });

const createSet =
  (spec: Partial<DaemonSetSpec> = {}) =>
  ({ client, slug }: Scene) =>
    client.create(DaemonSet, { ...agent({ nodeSelector: { story: slug } }, spec), metadata: agentOf(slug) });
const image =
  (name: string) =>
  ({ client, slug }: Scene) =>
    client.patch(DaemonSet, agentOf(slug), setImage(name));
const touch = ({ client, slug }: Scene) =>
  client.patch(DaemonSet, agentOf(slug), {
    type: 'merge',
    body: { metadata: { annotations: { touched: 'yes' } } },
  });
const taint =
  (node: number, ...effects: readonly Taint['effect'][]) =>
  ({ client, slug }: Scene) =>
    setTaints(
      client,
      nodeNameOf(slug, node),
      effects.map((effect) => ({ key: 'example.com/x', effect })),
    );
const deletePods =
  (isMeant: (pod: Pod, slug: string) => boolean) =>
  async ({ client, slug }: Scene) => {
    const { items } = await client.live.list(Pod, { namespace: slug });
    for (const pod of items.filter((found) => isMeant(found, slug))) await client.delete(Pod, keyOf(pod));
  };
const isOnFirst = ({ spec }: Pod, slug: string): boolean => spec.nodeName === nodeNameOf(slug, 1);

const surging: Partial<DaemonSetSpec> = {
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
};
const of =
  (wanted: string, fate: Fate) =>
  () =>
  ({ spec }: Pod): Fate =>
    spec.containers[0]?.image === wanted ? fate : 'ready';
const all = (fate: Fate) => () => () => fate;

export const READY = all('ready');

/** What happens to a daemon set on three nodes; after each step everything comes to rest. */
export const DAEMON_STORIES: Readonly<Record<string, Story>> = {
  'nodes that change': [
    { name: 'create', act: createSet() },
    { name: 'a node more', act: (scene) => addStoryNode(scene, 4) },
    { name: 'a taint that keeps pods away', act: taint(2, 'NoSchedule'), chance: 'when a pod is counted' },
    { name: 'something else happens', act: touch },
    { name: 'a taint that drives pods out', act: taint(2, 'NoExecute') },
    { name: 'no taint', act: taint(2) },
    { name: 'a pod less', act: deletePods(isOnFirst) },
  ],
  'a rolling update': [
    { name: 'create', act: createSet({ revisionHistoryLimit: 1 }) },
    { name: 'a template that does not work', act: image('agent:2'), fate: of('agent:2', 'unready') },
    { name: 'back', act: image('agent:1') },
    { name: 'a third template', act: image('agent:3') },
    { name: 'a fourth template', act: image('agent:4') },
  ],
  'an update with surge': [
    { name: 'create', act: createSet(surging) },
    {
      name: 'a template that does not work',
      act: image('agent:2'),
      fate: of('agent:2', 'unready'),
      lastsMs: 1100,
      chance: 'which node is first',
    },
    { name: 'it works' },
  ],
  'an update on deletion': [
    { name: 'create', act: createSet({ updateStrategy: { type: 'OnDelete' } }) },
    { name: 'new template', act: image('agent:2') },
    { name: 'a pod less', act: deletePods(isOnFirst) },
  ],
  'pods that take their time': [{ name: 'create', act: createSet({ minReadySeconds: 2 }), lastsMs: 3000 }],
  // Two stories, since nobody tells more than 25 events about one object.
  'pods that end': [
    { name: 'create', act: createSet() },
    { name: 'new template', act: image('agent:2'), fate: once('succeeded') },
  ],
  'pods that fail': [
    { name: 'create', act: createSet() },
    { name: 'new template', act: image('agent:2'), fate: once('failed') },
  ],
};

/** The first time that a node runs a pod of a new template it ends like this, and runs the next time. */
function once(fate: Fate): () => (pod: Pod) => Fate {
  return () => {
    const first = new Map<string, string>();
    return ({ metadata: { name }, spec, status }) => {
      const place = `${spec.nodeName} ${spec.containers[0]?.image}`;
      if (status?.phase === 'Running') return 'ready';
      if (!first.has(place)) first.set(place, name);
      return first.get(place) === name ? fate : 'ready';
    };
  };
}

const createJob =
  (spec: Partial<JobSpec>, pod: Partial<PodSpec> = {}) =>
  ({ client, slug }: Scene) =>
    client.create(Job, { ...work(spec, pod), metadata: workOf(slug) });
const change =
  (spec: JsonObject) =>
  ({ client, slug }: Scene) =>
    client.patch(Job, workOf(slug), { type: 'merge', body: { spec } });

/** As many containers were started again. */
const restarts =
  (restartCount: number) =>
  async ({ client, slug }: Scene) => {
    const { items } = await client.live.list(Pod, { namespace: slug });
    for (const pod of items) {
      const containerStatuses = [{ name: 'work', image: '', imageID: '', ready: true, restartCount }];
      const body = { status: { containerStatuses } };
      await client.patch(Pod, keyOf(pod), { type: 'merge', body }, { subresource: 'status' });
    }
  };

/** What happens to a job; after each step everything comes to rest. */
export const JOB_STORIES: Readonly<Record<string, Story>> = {
  'pods that succeed': [
    { name: 'create', act: createJob({ parallelism: 2, completions: 3 }) },
    { name: 'more at once', act: change({ parallelism: 3 }) },
    { name: 'fewer at once', act: change({ parallelism: 1 }) },
    { name: 'success', fate: all('succeeded') },
  ],
  'pods that fail': [
    { name: 'create', act: createJob({ backoffLimit: 1 }), fate: all('failed'), lastsMs: 12_000 },
  ],
  'a deadline': [
    { name: 'create', act: createJob({ parallelism: 2, completions: 2, activeDeadlineSeconds: 30 }) },
    { name: 'too late', lastsMs: 31_000 },
  ],
  suspension: [
    { name: 'create suspended', act: createJob({ suspend: true }) },
    { name: 'resume', act: change({ suspend: false }) },
    { name: 'suspend', act: change({ suspend: true }) },
    { name: 'resume again', act: change({ suspend: false }) },
    { name: 'success', fate: all('succeeded') },
  ],
  'a queue of work': [
    { name: 'create', act: createJob({ parallelism: 2 }) },
    { name: 'success', fate: all('succeeded') },
  ],
  indexes: [
    { name: 'create', act: createJob({ parallelism: 2, completions: 3, completionMode: 'Indexed' }) },
    {
      name: 'the second is first',
      fate: () => (pod) => (pod.spec.hostname === 'work-1' ? 'succeeded' : 'ready'),
    },
    { name: 'success', fate: all('succeeded') },
  ],
  'containers that are started again': [
    { name: 'create', act: createJob({ backoffLimit: 2 }, { restartPolicy: 'OnFailure' }) },
    { name: 'once', act: restarts(1) },
    { name: 'twice', act: restarts(2) },
  ],
  'a pod that is deleted': [
    { name: 'create', act: createJob({}) },
    { name: 'a pod less', act: deletePods(() => true), lastsMs: 12_000 },
  ],
};
