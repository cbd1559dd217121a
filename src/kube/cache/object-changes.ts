import type { KubeObject } from '../../api/object.ts';
import type { ObjectEvent } from './cache.ts';
import { versionOf } from './own-write.ts';

export const created = (object: KubeObject, isInInitialList: boolean): ObjectEvent => ({
  type: 'create',
  object,
  isInInitialList,
  isFinalStateUnknown: false,
});

export const updated = (old: KubeObject, object: KubeObject): ObjectEvent => ({
  type: 'update',
  old,
  object,
  isInInitialList: false,
  isFinalStateUnknown: false,
});

const removed = (object: KubeObject, isFinalStateUnknown: boolean): ObjectEvent => ({
  type: 'delete',
  old: object,
  object,
  isInInitialList: false,
  isFinalStateUnknown,
});

/** The very same state of the very same object. */
export const isSameState = (a: KubeObject, b: KubeObject): boolean =>
  a === b || (a.metadata.uid === b.metadata.uid && versionOf(a) === versionOf(b));

/** What handlers are told when a key has `now` where they last saw `old`: a new uid is another object (5.1). */
export function changesBetween(
  old: KubeObject | undefined,
  now: KubeObject,
  isInInitialList: boolean,
): readonly ObjectEvent[] {
  if (old === undefined) return [created(now, isInInitialList)];
  if (old.metadata.uid !== now.metadata.uid) return [removed(old, true), created(now, isInInitialList)];
  return isSameState(old, now) ? [] : [updated(old, now)];
}

/** The same with states between them, of which handlers were not told: one change after the other. */
export function changesAlong(
  old: KubeObject | undefined,
  states: readonly KubeObject[],
  isInInitialList: boolean,
): readonly ObjectEvent[] {
  return states.flatMap((state, at) => changesBetween(at === 0 ? old : states[at - 1], state, isInInitialList));
}

/** What handlers are told when a key has nothing any more where they last saw `old`, and readers saw `states` since. */
export function changesToNothing(
  old: KubeObject | undefined,
  states: readonly KubeObject[],
  final?: KubeObject,
): readonly ObjectEvent[] {
  const last = states.at(-1) ?? old;
  if (last === undefined) return [];
  const isFinal = final !== undefined && final.metadata.uid === last.metadata.uid;
  return [...changesAlong(old, states, false), isFinal ? removed(final, false) : removed(last, true)];
}
