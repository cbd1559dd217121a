import { setTimeout as sleep } from 'node:timers/promises';
import { Deployment, ReplicaSet } from '../../src/api/generated/apps-v1.ts';
import { Pod } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import type { JsonObject } from '../../src/api/json.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { isActive, isReady } from '../../src/lab/workloads/pods/pod-state.ts';
import { makeReady, WEB, webDeployment } from './deployment-world.ts';
import { untilQuiet } from './quiet-cluster.ts';

/** A cluster, ours or a real one. */
export interface Side {
  readonly client: KubeClient;
  readonly clock: { now(): Date };
  /** Resolves when the controllers have nothing left to do, after so long at least. */
  rest(atLeastMs?: number): Promise<void>;
}

interface Step {
  readonly name: string;
  readonly act: (side: Side) => Promise<unknown>;
  /** Pods of this image never become ready. */
  readonly broken?: string;
  /** How long it takes until the end is to be seen. */
  readonly lastsMs?: number;
}

const change =
  (spec: JsonObject, metadata: JsonObject = {}) =>
  ({ client }: Side) =>
    client.patch(Deployment, WEB, { type: 'strategic', body: { metadata, spec } });

const create =
  (spec: Parameters<typeof webDeployment>[0]) =>
  ({ client }: Side) =>
    client.create(Deployment, webDeployment(spec));

const image = (name: string): JsonObject => ({
  template: { spec: { containers: [{ name: 'web', image: name }] } },
});

/** What users do with a Deployment; after each step everything comes to rest. */
export const DEPLOYMENT_STORIES: Readonly<Record<string, readonly Step[]>> = {
  'a rolling update': [
    { name: 'create', act: create({ replicas: 4 }) },
    { name: 'scale up', act: change({ replicas: 6 }) },
    { name: 'scale down', act: change({ replicas: 4 }) },
    { name: 'new template', act: change(image('web:2')) },
    { name: 'undo', act: change(image('web:1')) },
    { name: 'annotate', act: change({ minReadySeconds: 1 }, { annotations: { team: 'a' } }) },
  ],
  'a template that does not work': [
    {
      name: 'create',
      act: create({ replicas: 5, strategy: { rollingUpdate: { maxSurge: 2, maxUnavailable: 1 } } }),
    },
    { name: 'broken template', act: change(image('web:2')), broken: 'web:2' },
    { name: 'scale in the middle', act: change({ replicas: 11 }), broken: 'web:2' },
    { name: 'another template', act: change(image('web:3')), broken: 'web:2' },
    { name: 'scale down', act: change({ replicas: 2 }) },
    { name: 'to nothing', act: change({ replicas: 0 }) },
    { name: 'and back, without history', act: change({ replicas: 3, revisionHistoryLimit: 0 }) },
  ],
  'pausing and going on': [
    { name: 'create paused', act: create({ replicas: 2, paused: true }) },
    { name: 'resume', act: change({ paused: false }) },
    { name: 'pause', act: change({ paused: true }) },
    { name: 'change while paused', act: change({ ...image('web:2'), replicas: 3 }) },
    { name: 'resume again', act: change({ paused: false }) },
    { name: 'no deadline', act: change({ progressDeadlineSeconds: 2147483647 }) },
    { name: 'a deadline again', act: change({ progressDeadlineSeconds: 600 }) },
  ],
  'a deadline that passes': [
    { name: 'create', act: create({ replicas: 1, progressDeadlineSeconds: 3 }) },
    { name: 'broken template', act: change(image('web:2')), broken: 'web:2', lastsMs: 6000 },
    { name: 'undo', act: change(image('web:1')) },
  ],
  recreating: [
    { name: 'create', act: create({ replicas: 2, strategy: { type: 'Recreate' } }) },
    { name: 'new template', act: change(image('web:2')) },
    // No way back: upstream then goes on speaking of the set before, and we do not.
    { name: 'scale', act: change({ replicas: 1 }) },
  ],
};

/** What users see after a step. */
export interface Seen {
  readonly step: string;
  /** Objects without what differs from cluster to cluster. */
  readonly world: unknown;
  /** The texts of events, each once, in order. */
  readonly told: readonly string[];
}

/** Plays a story; what is to be seen after each step. The Deployment is gone at the end, and with it what it owned. */
export async function playStory(steps: readonly Step[], side: Side): Promise<readonly Seen[]> {
  const found: Seen[] = [];
  for (const { name, act, broken, lastsMs = 0 } of steps) {
    await act(side);
    await settle(side, broken);
    await side.rest(lastsMs);
    found.push({ step: name, ...(await seen(side)) });
  }
  await side.client.delete(Deployment, WEB, { propagationPolicy: 'Foreground' });
  await side.rest();
  await side.client.deleteAllOf(Event, { namespace: WEB.namespace });
  return found;
}

/** Pods become ready one after the other, and everybody may answer to each. */
async function settle(side: Side, broken?: string): Promise<void> {
  for (;;) {
    await side.rest();
    const { items } = await side.client.list(Pod, { namespace: WEB.namespace });
    const pod = items.find((one) => isActive(one) && !isReady(one) && one.spec.containers[0]?.image !== broken);
    if (pod === undefined) return;
    await makeReady(pod, side);
  }
}

async function seen({ client }: Side): Promise<Omit<Seen, 'step'>> {
  const { namespace } = WEB;
  const { metadata, status } = await client.get(Deployment, WEB);
  const { items: sets } = await client.list(ReplicaSet, { namespace });
  const { items: pods } = await client.list(Pod, { namespace });
  const { items: events } = await client.list(Event, { namespace });
  const nameless = namesOf(sets);
  const world = {
    web: { annotations: metadata.annotations, status: timeless(status) },
    sets: sets
      .map(({ metadata: { annotations, name, labels }, spec, status: said }) => ({
        name,
        labels: Object.keys(labels ?? {}).toSorted(),
        annotations,
        size: spec.replicas,
        wait: spec.minReadySeconds ?? 0,
        status: timeless(said),
      }))
      .toSorted((a, b) => nameless(a.name).localeCompare(nameless(b.name))),
    pods: pods.length,
  };
  const told = events
    .filter(({ regarding }) => regarding?.kind === 'Deployment' || regarding?.kind === 'ReplicaSet')
    .map(({ type, reason, note }) => nameless(`${type} ${reason} ${note}`));
  return { world: JSON.parse(nameless(JSON.stringify(world))), told: [...new Set(told)].toSorted() };
}

/** Takes the hashes out of names: a set is called by its image, a pod by its set. */
function namesOf(sets: readonly ReplicaSet[]): (text: string) => string {
  const known = sets.map(
    ({ metadata: { name }, spec }) => [name, spec.template?.spec?.containers[0]?.image] as const,
  );
  return (text) => {
    let result = text;
    for (const [name, role] of known) {
      result = result
        .replaceAll(new RegExp(`${name}-[a-z0-9]{5}`, 'g'), `pod of ${role}`)
        .replaceAll(name, `set of ${role}`);
    }
    return result.replaceAll(/\bweb-[a-z0-9]{6,10}(-[a-z0-9]{5})?\b/g, 'gone');
  };
}

interface Status {
  readonly conditions?: readonly {
    readonly type: string;
    readonly lastUpdateTime?: string;
    readonly lastTransitionTime?: string;
  }[];
}

const timeless = ({ conditions = [], ...counts }: Status = {}) => ({
  ...counts,
  conditions: conditions.map((condition) => ({ ...condition, lastUpdateTime: '', lastTransitionTime: '' })),
});

const QUIET_MS = 1500;
const LONGEST_MS = 60_000;

/** For clusters that run in real time: nothing has changed for a while. */
export async function quiet(client: KubeClient, atLeastMs = 0): Promise<void> {
  await sleep(atLeastMs);
  const namespace = WEB.namespace;
  await untilQuiet({
    quietMs: QUIET_MS,
    longestMs: LONGEST_MS,
    objects: async () => [
      ...(await client.list(Deployment, { namespace })).items,
      ...(await client.list(ReplicaSet, { namespace })).items,
      ...(await client.list(Pod, { namespace })).items,
      ...(await client.list(Event, { namespace })).items,
    ],
  });
}
