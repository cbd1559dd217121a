import { ControllerRevision, DaemonSet } from '../../src/api/generated/apps-v1.ts';
import { Job, type JobStatus } from '../../src/api/generated/batch-v1.ts';
import { Pod } from '../../src/api/generated/core-v1.ts';
import { Event } from '../../src/api/generated/events-v1.ts';
import type { KubeObject } from '../../src/api/object.ts';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';

// What upstream leaves to chance, all of it. Everything else has to be the same.

export type Chance =
  /** Nobody says which node is updated first: only how many pods there are on one node or another counts. */
  | 'which node is first'
  /**
   * The pod of a node that does not want it any more is counted at once, or when something else happens to the set: the
   * end of such a step is not compared, and in the next one something else happens.
   */
  | 'when a pod is counted';

/** From the tenth of a kind on, client-go tells only of the last one, after these words. */
const COMBINED = '(combined from similar events): ';

/** The objects of all stories on a cluster, as users see them. */
export interface Objects {
  readonly pods: readonly Pod[];
  readonly events: readonly Event[];
  readonly revisions: readonly ControllerRevision[];
  readonly sets: readonly DaemonSet[];
  readonly jobs: readonly Job[];
}

export async function objectsOn({ live }: KubeClient): Promise<Objects> {
  const { items: pods } = await live.list(Pod);
  const { items: events } = await live.list(Event);
  const { items: revisions } = await live.list(ControllerRevision);
  const { items: sets } = await live.list(DaemonSet);
  const { items: jobs } = await live.list(Job);
  return { pods, events, revisions, sets, jobs };
}

export function objectsIn(namespace: string, { pods, events, revisions, sets, jobs }: Objects): Objects {
  const isHere = ({ metadata }: KubeObject) => metadata.namespace === namespace;
  return {
    pods: pods.filter(isHere),
    events: events.filter(isHere),
    revisions: revisions.filter(isHere),
    sets: sets.filter(isHere),
    jobs: jobs.filter(isHere),
  };
}

/** Changes with everything. */
export const versionOf = ({ pods, events, revisions, sets, jobs }: Objects): string =>
  [...pods, ...events, ...revisions, ...sets, ...jobs]
    .map(({ kind, metadata }) => `${kind}/${metadata.name}=${metadata.resourceVersion}`)
    .join();

/** What users see after a step. */
export interface Seen {
  readonly step: string;
  /** Objects without what differs from cluster to cluster. */
  readonly world: unknown;
  /** The texts of events, each once, in order. */
  readonly told: readonly string[];
}

/** What is to be seen of one story. */
export function seen(
  objects: Objects,
  { name, chance }: { readonly name: string; readonly chance?: Chance },
): Seen {
  const { pods, events, revisions, sets, jobs } = objects;
  if (chance === 'when a pod is counted') return { step: name, world: 'left to chance', told: [] };
  const places = pods.map(({ spec }) => spec.nodeName ?? '');
  const world = {
    sets: sets.map(({ status }) => status),
    jobs: jobs.map(({ status = {} }) => timeless(status)),
    revisions: revisions.map(revisionText).toSorted(),
    places: chance === 'which node is first' ? countsOf(places) : places.toSorted(),
    pods: pods.map(podText).toSorted(),
  };
  const told = events
    .filter(({ regarding }) => regarding?.kind === 'DaemonSet' || regarding?.kind === 'Job')
    .map(({ type, reason, note = '' }) => nameless(`${type} ${reason} ${note.replace(COMBINED, '')}`));
  return { step: name, world: JSON.parse(JSON.stringify(world)), told: [...new Set(told)].toSorted() };
}

/** How many are alike, by how many. */
function countsOf(texts: readonly string[]): readonly number[] {
  const groups = [...Map.groupBy(texts, (text) => text).values()];
  return groups.map(({ length }) => length).toSorted((one, other) => one - other);
}

/** Names that a server makes up: `agent-x7f2k`, `work-0-x7f2k`. */
const nameless = (text: string): string => text.replaceAll(/\b(agent|work)((?:-\d)?)-[a-z0-9]{5}\b/g, '$1$2-*');

const revisionText = ({ revision, metadata, data }: ControllerRevision): string => {
  const found = /"image":"([^"]*)"/.exec(JSON.stringify(data));
  return `${revision} ${found?.[1]} ${Object.keys(metadata.labels ?? {})
    .toSorted()
    .join()}`;
};

function podText({ metadata, spec, status }: Pod): string {
  const labels = Object.keys(metadata.labels ?? {}).toSorted();
  const isLeaving = metadata.deletionTimestamp !== undefined;
  const parts = [spec.containers[0]?.image, status?.phase, spec.hostname, isLeaving];
  return [...parts, ...labels, ...(metadata.finalizers ?? []), JSON.stringify(spec.tolerations)].join(' ');
}

const timeless = ({ conditions = [], startTime, completionTime, ...rest }: JobStatus) => ({
  ...rest,
  conditions: conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`),
  hasStarted: startTime !== undefined,
  hasCompleted: completionTime !== undefined,
});
