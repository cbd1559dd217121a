import type { Condition } from '../api/object.ts';
import { retryError } from '../base/errors.ts';
import { findCondition, sameCondition } from './conditions.ts';

export interface ConditionMerge {
  /** As they were when the work began. */
  readonly before: readonly Condition[];
  /** As we want them. */
  readonly after: readonly Condition[];
  /** As they are on the server now. */
  readonly live: readonly Condition[];
  /** Types that are ours alone: ours win. */
  readonly owned?: readonly string[];
}

/**
 * Our changes on top of what others did meanwhile (runtime §10.1). What we did not touch is theirs. Two who say
 * different things about a condition that neither owns is a conflict, thrown as an error to retry: the next reconcile
 * sees what they said. Order: as live, new ones at the end.
 */
export function mergeConditions({ before, after, live, owned = [] }: ConditionMerge): readonly Condition[] {
  const isOwned = (type: string): boolean => owned.includes(type);
  const mergeOne = (type: string): Condition | undefined =>
    mergedCondition({
      ours: findCondition(after, type),
      base: findCondition(before, type),
      theirs: findCondition(live, type),
      isOwned: isOwned(type),
    });
  const types = new Set([...live, ...after].map(({ type }) => type));
  return [...types].flatMap((type) => mergeOne(type) ?? []);
}

interface ThreeWays {
  readonly base: Condition | undefined;
  readonly ours: Condition | undefined;
  readonly theirs: Condition | undefined;
  readonly isOwned: boolean;
}

function mergedCondition({ base, ours, theirs, isOwned }: ThreeWays): Condition | undefined {
  if (same(base, ours)) return theirs;
  const isTheirsChanged = !same(base, theirs);
  if (ours === undefined) return isTheirsChanged && !isOwned ? theirs : undefined;
  if (!isOwned && isTheirsChanged && theirs?.status !== ours.status) throw conflict(ours, theirs);
  // Both say the same status: it holds since the first of us said so.
  return theirs?.status === ours.status ? { ...ours, lastTransitionTime: theirs.lastTransitionTime } : ours;
}

const same = (a: Condition | undefined, b: Condition | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && sameCondition(a, b));

const conflict = ({ type, status }: Condition, theirs: Condition | undefined): Error =>
  retryError(
    'ConditionConflict',
    `condition ${type} was set to ${theirs?.status ?? 'nothing'} by somebody else while this controller set it to ${status}`,
  );
