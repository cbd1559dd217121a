import type { KubeObject } from '../../api/object.ts';
import { matchesLabels, parseLabelSelector } from '../../object/label-selector.ts';
import type { ObjectEvent } from '../cache/cache.ts';

/** Whether an event matters to a controller. Must be pure; what throws drops the event and is counted (R3). */
export type Predicate<T extends KubeObject = KubeObject> = (event: ObjectEvent<T>) => boolean;

const ofUpdates =
  (isChanged: (old: KubeObject, now: KubeObject) => boolean): Predicate =>
  ({ type, old, object }) =>
    type !== 'update' || old === undefined || isChanged(old, object);

type TextMap = Readonly<Record<string, string>>;

function differ(old: TextMap = {}, now: TextMap = {}): boolean {
  const keys = Object.keys(old);
  if (keys.length !== Object.keys(now).length) return true;
  return keys.some((key) => !Object.hasOwn(now, key) || old[key] !== now[key]);
}

const isOtherVersion = (old: KubeObject, now: KubeObject): boolean =>
  old.metadata.resourceVersion !== now.metadata.resourceVersion;

/**
 * Drops updates that leave the spec as it is. The generation moves when a deletion begins, so that is still seen (R4).
 * Kinds whose objects have no generation, such as ConfigMap, pass with every new version instead of never.
 */
export const generationChanged: Predicate = ofUpdates((old, now) => {
  const { generation, deletionTimestamp } = now.metadata;
  if (generation === undefined) return isOtherVersion(old, now);
  return generation !== old.metadata.generation || deletionTimestamp !== old.metadata.deletionTimestamp;
});

/** Drops updates that leave the labels as they are. */
export const labelChanged: Predicate = ofUpdates((old, now) => differ(old.metadata.labels, now.metadata.labels));

/** Drops updates that leave the annotations as they are. */
export const annotationChanged: Predicate = ofUpdates((old, now) =>
  differ(old.metadata.annotations, now.metadata.annotations),
);

/** Drops resyncs. */
export const resourceVersionChanged: Predicate = ofUpdates(isOtherVersion);

/**
 * Passes objects whose labels match now, or did before this update: who loses a label has to be looked at once more.
 * Throws at once when the selector is none.
 */
export function labelMatches(selector: string): Predicate {
  // A bare key selects objects that have it.
  const parsed = parseLabelSelector(selector);
  const isMatch = ({ metadata }: KubeObject) => matchesLabels(parsed, { ...metadata.labels });
  return ({ old, object }) => isMatch(object) || (old !== undefined && isMatch(old));
}

/** One predicate per type of event; types that are not named pass. */
export const byType =
  <T extends KubeObject>(predicates: { readonly [Type in ObjectEvent['type']]?: Predicate<T> }): Predicate<T> =>
  (event) =>
    predicates[event.type]?.(event) ?? true;

/** Passes what all of them pass. */
export const and =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (event) =>
    predicates.every((predicate) => predicate(event));

/** Passes what one of them passes. */
export const or =
  <T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> =>
  (event) =>
    predicates.some((predicate) => predicate(event));

/** Passes what the other drops. */
export const not =
  <T extends KubeObject>(predicate: Predicate<T>): Predicate<T> =>
  (event) =>
    !predicate(event);
