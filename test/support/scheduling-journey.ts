import { setTimeout as sleep } from 'node:timers/promises';
import { Node, PersistentVolumeClaim, Pod } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import { PriorityClass } from '../../src/api/generated/scheduling-v1.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { addNode, addPod } from './pretend-cluster.ts';
import type { SchedulingStory } from './scheduling-stories.ts';

/** What users see of the pods of a story. */
export interface SeenPods {
  /** `pod: node, condition` */
  readonly pods: readonly string[];
  /** How many pods are in the same place as others, of those that are counted. */
  readonly counts: readonly number[];
  /** Everything that was told, each text once: `pod told type reason action: note`. */
  readonly told: readonly string[];
  /** What only preemption brings about. */
  readonly preempted: readonly string[];
}

const POLL_MS = 50;
const DECISION_MS = 15_000;
/** Longer than the first wait before a pod is tried again, which is a second. */
const REST_MS = 2500;
/** Events are written after what they tell of. */
const LAST_WORDS_MS = 1000;

/** Plays a story in the namespace `default`; everything is gone at the end. */
export async function playScheduling(story: SchedulingStory, client: KubeClient): Promise<SeenPods> {
  const { nodes = [{}], before, steps } = story;
  for (const node of nodes) await addNode(client, node);
  await before?.(client);
  for (const step of steps) {
    if (typeof step === 'function') {
      await step(client);
      await sleep(REST_MS);
    } else {
      await addPod(client, step);
      await decided(client, step.name ?? 'p');
    }
  }
  await sleep(LAST_WORDS_MS);
  const result = await seen(story, client);
  await client.deleteAllOf(Pod, { namespace: 'default', gracePeriodSeconds: 0 });
  await client.deleteAllOf(Event, { namespace: 'default' });
  await client.deleteAllOf(PersistentVolumeClaim, { namespace: 'default' });
  await client.deleteAllOf(Node, {});
  for (const name of ['low', 'high']) await client.delete(PriorityClass, { name }).catch(() => undefined);
  return result;
}

async function decided(client: KubeClient, name: string): Promise<void> {
  for (const endMs = performance.now() + DECISION_MS; performance.now() < endMs; await sleep(POLL_MS)) {
    const { spec, status } = await client.get(Pod, { namespace: 'default', name });
    if ((spec.nodeName ?? '') !== '' || status?.conditions?.some(({ type }) => type === 'PodScheduled') === true)
      return;
  }
  throw new Error(`nobody decides about pod ${name}`);
}

async function seen(story: SchedulingStory, client: KubeClient): Promise<SeenPods> {
  const { items: pods } = await client.list(Pod, { namespace: 'default' });
  const { items: events } = await client.list(Event, { namespace: 'default' });
  const { items: nodes } = await client.list(Node);
  const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
  const told = events.flatMap(({ regarding, type, reason, action, note }) => {
    const pod = byUid.get(regarding?.uid);
    // Of the story before: what is counted is written late.
    if (pod === undefined) return [];
    const text = reason === 'Scheduled' ? note?.replace(/ to \S+$/, ` to ${placeOf(story, pod)}`) : note;
    return [`${pod.metadata.name} told ${type} ${reason} ${action}: ${plain(text)}`];
  });
  return {
    pods: pods.map((pod) => `${pod.metadata.name}: ${placeOf(story, pod)}, ${conditionOf(pod)}`),
    counts: countsOf(story, pods, nodes),
    told: [...new Set(told)].toSorted(),
    preempted: pods.flatMap(({ metadata: { name, deletionTimestamp }, status }) => [
      ...(deletionTimestamp === undefined ? [] : [`${name} is leaving`]),
      ...(status?.nominatedNodeName === undefined ? [] : [`${name} is nominated for ${status.nominatedNodeName}`]),
    ]),
  };
}

function placeOf({ anywhere = {} }: SchedulingStory, { metadata, spec }: Pod): string {
  const { nodeName = 'no node' } = spec;
  const allowed = anywhere[metadata.name] ?? [];
  return allowed.includes(nodeName) ? `one of ${allowed.join(', ')}` : nodeName;
}

function conditionOf({ status }: Pod): string {
  const found = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return [found?.status, found?.reason, plain(found?.message)].filter((text) => (text ?? '') !== '').join(' ');
}

function countsOf({ counted }: SchedulingStory, pods: readonly Pod[], nodes: readonly Node[]): readonly number[] {
  const labels = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.labels?.[counted?.label ?? '']]));
  const groups = Map.groupBy(
    pods.filter(({ metadata }) => counted?.pods.includes(metadata.name) === true),
    ({ spec }) => labels.get(spec.nodeName ?? ''),
  );
  return [...groups.values()].map(({ length }) => length).toSorted((one, other) => one - other);
}

/** Without what upstream says of preemption, and we of not simulating it. */
const plain = (text: string | undefined): string | undefined =>
  text
    ?.replace(' no new claims to deallocate,', '')
    .replace(/ preemption: .*$/s, '')
    .replace(/\. not found$/, '.')
    .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<uid>');

/** What is not the same, and why. Everything else is. */
export const SCHEDULING_DIFFERENCES = {
  /** Taken out of messages by `plain`, or not compared at all. */
  everywhere: [
    {
      theirs: 'a message ends with what preemption found, and "no new claims to deallocate," before it',
      ours: 'preemption: not simulated by the lab.',
      why: 'the lab does not preempt (lab/K3)',
    },
    {
      theirs: 'a message about volumes ends with "not found": preemption had no nodes to try',
      ours: 'preemption: not simulated by the lab.',
      why: 'the lab does not preempt (lab/K3)',
    },
    {
      theirs: 'a pod whose obstacle went away is tried at once when nobody else is to be scheduled',
      ours: 'it is tried when its backoff of 1 to 10 s is over',
      why: 'lab/K7; what comes of it is the same',
    },
    {
      theirs: 'a failure with another message is counted as the one before unless the pod was changed in between',
      ours: 'every message is an event of its own',
      why: 'whether they tell of it depends on how fast it is tried again; nothing that they tell is missing',
    },
  ],
  /** By story: what pods have there and not here. */
  stories: new Map([
    [
      'more important pods',
      [
        'a is leaving',
        'a told Normal Preempted Preempting: Preempted by pod <uid> on node n1',
        'b is nominated for n1',
      ],
    ],
  ]),
} as const;
