import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1-types.ts';
import { mostReplicas } from './bounds.ts';
import { byAge, desiredReplicas } from './rollout.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';

/** Said by others about the Deployment alone, or by its controller about the set alone (W6). */
const NOT_COPIED: ReadonlySet<string> = new Set([
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
]);

/** Some hundred revisions; what an object may weigh is limited. */
const LONGEST_HISTORY = 2000;
const LARGEST_COUNT = 2 ** 31 - 1;

type Annotations = Readonly<Record<string, string>>;

/** Undefined for what is no number; 0 when there is none. */
const revisionIn = (annotations: Annotations = {}): number | undefined => {
  const text = annotations[REVISION] ?? '0';
  return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
};

/** Pure: the revision that comes after those of the old sets (W6). What is no number does not count. */
export const nextRevision = (oldSets: readonly ReplicaSet[]): number =>
  Math.max(0, ...oldSets.map(({ metadata }) => revisionIn(metadata.annotations) ?? 0)) + 1;

/** Pure: what every set says of the Deployment, to tell later whether that was scaled (W8). */
export const replicasAnnotations = (deployment: Deployment): Annotations => ({
  [DESIRED_REPLICAS]: String(desiredReplicas(deployment)),
  [MAX_REPLICAS]: String(mostReplicas(deployment)),
});

/**
 * Pure: the annotations of the new set: those of the Deployment, and a revision that is never below `revision`. A set that
 * was new before keeps its former revision in its history (W6). The annotations that were given when nothing changes.
 */
export function newSetAnnotations(deployment: Deployment, before: Annotations, revision: number): Annotations {
  const former = revisionIn(before[REVISION] === '' ? {} : before);
  // Not ours, then: somebody wrote a revision that is none.
  if (former === undefined) return before;
  const annotations = { ...before, ...copiedAnnotations(deployment) };
  const risen =
    former < revision ? { ...annotations, [REVISION]: String(revision), ...history(before) } : annotations;
  return isSame(before, risen) ? before : risen;
}

const copiedAnnotations = ({ metadata }: Deployment): Annotations =>
  Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !NOT_COPIED.has(key)));

const isSame = (a: Annotations, b: Annotations): boolean =>
  Object.keys(b).every((key) => Object.hasOwn(a, key) && a[key] === b[key]);

/** The former revision behind the older ones; the oldest make room, and when even that is not enough nothing is added. */
function history(before: Annotations): Annotations {
  const former = before[REVISION];
  if (former === undefined) return {};
  const older = before[REVISION_HISTORY] ?? '';
  if (older === '' || older.startsWith(',')) return { [REVISION_HISTORY]: former };
  const revisions = [...older.split(','), former];
  while (revisions.join(',').length > LONGEST_HISTORY && revisions.length > 1) revisions.shift();
  const text = revisions.join(',');
  return text.length > LONGEST_HISTORY ? {} : { [REVISION_HISTORY]: text };
}

/** A count that a set carries as annotation; undefined when it is absent or no count. */
export function countAnnotation({ metadata }: ReplicaSet, key: string): number | undefined {
  const text = metadata.annotations?.[key] ?? '';
  return /^\d+$/.test(text) && Number(text) <= LARGEST_COUNT ? Number(text) : undefined;
}

/**
 * Pure: old sets that are kept for nobody: beyond the limit of the history, the lowest revision first (W7). One that has
 * pods, or of which nobody knows yet, stays, and does not make another one go in its place.
 */
export function expiredSets({ spec }: Deployment, oldSets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  const { revisionHistoryLimit: limit } = spec;
  if (limit === undefined || limit === LARGEST_COUNT) return [];
  const kept = oldSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return kept
    .toSorted(byRevision)
    .slice(0, Math.max(0, kept.length - limit))
    .filter(isIdle);
}

function byRevision(a: ReplicaSet, b: ReplicaSet): number {
  const [one, other] = [revisionIn(a.metadata.annotations), revisionIn(b.metadata.annotations)];
  return one === undefined || other === undefined || one === other ? byAge(a, b) : one - other;
}

const isIdle = ({ spec, status, metadata }: ReplicaSet): boolean =>
  spec.replicas === 0 &&
  (status?.replicas ?? 0) === 0 &&
  (metadata.generation ?? 0) <= (status?.observedGeneration ?? 0);
