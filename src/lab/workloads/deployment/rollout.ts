import type { Deployment, ReplicaSet, ReplicaSetStatus } from '../../../api/generated/apps-v1-types.ts';
import type { PodTemplateSpec } from '../../../api/generated/core-v1-types.ts';
import type { JsonObject } from '../../../api/json.ts';
import { semanticEqual } from '../../../object/semantic-equality.ts';

/** The label that tells the pods of one template from those of another. */
export const HASH_LABEL = 'pod-template-hash';

/** A Deployment and its ReplicaSets. */
export interface Rollout {
  readonly deployment: Deployment;
  /** The one with the template of the Deployment; undefined until it is made (W2). */
  readonly newSet: ReplicaSet | undefined;
  /** All others, the oldest first. */
  readonly oldSets: readonly ReplicaSet[];
}

/** What a ReplicaSet is to be scaled to. */
export interface ScaleStep {
  readonly set: ReplicaSet;
  readonly replicas: number;
  /** Also when only what it says about the Deployment is out of date. */
  readonly isForced?: boolean;
}

/** Pure: which of its ReplicaSets is the new one. The oldest, should several have the template (W2). */
export function rolloutOf(deployment: Deployment, sets: readonly ReplicaSet[]): Rollout {
  const oldestFirst = sets.toSorted(byAge);
  const newSet = oldestFirst.find(({ spec }) => isSameTemplate(spec.template ?? {}, deployment.spec.template));
  return { deployment, newSet, oldSets: oldestFirst.filter((set) => set !== newSet) };
}

/** Pure: whether two templates make the same pods, whatever the hash label says. */
export const isSameTemplate = (a: PodTemplateSpec, b: PodTemplateSpec): boolean =>
  semanticEqual(withoutHash(a), withoutHash(b));

function withoutHash({ metadata = {}, ...rest }: PodTemplateSpec): JsonObject {
  const { [HASH_LABEL]: _, ...labels } = metadata.labels ?? {};
  // Plain JSON that came from the server.
  return { ...rest, metadata: { ...metadata, labels } } as unknown as JsonObject;
}

/** The older first; of the same second, by name. */
export function byAge({ metadata: a }: ReplicaSet, { metadata: b }: ReplicaSet): number {
  const [one, other] = [Date.parse(a.creationTimestamp ?? '') || 0, Date.parse(b.creationTimestamp ?? '') || 0];
  if (one !== other) return one - other;
  return a.name < b.name ? -1 : Number(a.name > b.name);
}

export const setsOf = ({ newSet, oldSets }: Rollout): readonly ReplicaSet[] =>
  newSet === undefined ? oldSets : [...oldSets, newSet];

/** How many pods it asks for. */
export const sizeOf = ({ spec }: Pick<ReplicaSet, 'spec'>): number => spec.replicas ?? 1;

export const activeSets = (sets: readonly ReplicaSet[]): readonly ReplicaSet[] =>
  sets.filter((set) => sizeOf(set) > 0);

/** How many pods they ask for. */
export const totalSize = (sets: readonly ReplicaSet[]): number => sum(sets.map(sizeOf));

type Count = 'replicas' | 'readyReplicas' | 'availableReplicas';

/** How many pods they have, by what they say themselves. */
export const totalOf = (sets: readonly ReplicaSet[], count: Count): number =>
  sum(sets.map((set) => countIn(set.status, count)));

export const countIn = (status: ReplicaSetStatus | undefined, count: Count): number => status?.[count] ?? 0;

export const desiredReplicas = ({ spec }: Deployment): number => spec.replicas ?? 1;

export const isRolling = ({ spec }: Deployment): boolean => spec.strategy?.type !== 'Recreate';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
