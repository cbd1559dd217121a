import {
  type Kind,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type OwnerReference,
} from '../../api/object.ts';
import type { Cache, ObjectEvent } from '../cache/cache.ts';
import { LOW_PRIORITY } from '../queue/work-queue.ts';

/** Which keys an event makes ready (R3). Pure, and quick: it runs for every event of the kind. */
export type EventKeys<T extends KubeObject = KubeObject> = (
  event: ObjectEvent<T>,
  tools: MapTools,
) => readonly ObjectKey[];

export interface MapTools {
  /** For looking up who refers to an object: `cache.informer(Widget).byIndex('secret', name)`. */
  readonly cache: Cache;
}

/** A key as labels and metadata give it. One without a name concerns nobody: its label is not there. */
export interface MappedKey {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** The keys that an object of another kind concerns. */
export type MapFunction<T extends KubeObject = KubeObject> = (object: T, tools: MapTools) => readonly MappedKey[];

/** The object itself. */
export const selfKeys: EventKeys = ({ object }) => [keyOf(object)];

export interface OwnerOptions {
  /** Also owners that are not the controller of the object. */
  readonly allOwners?: boolean;
}

/** The owners of this kind, whatever version the reference names; before and after an update. */
export const ownerKeys = (
  owner: Pick<Kind, 'group' | 'kind' | 'scope'>,
  { allOwners = false }: OwnerOptions = {},
): EventKeys => {
  const isOwner = ({ apiVersion, kind, controller }: OwnerReference) =>
    kind === owner.kind && groupOf(apiVersion) === owner.group && (allOwners || controller === true);
  return mappedKeys(({ metadata: { namespace, ownerReferences = [] } }) =>
    ownerReferences.filter(isOwner).map(({ name }) => ({
      ...(owner.scope === 'Namespaced' && namespace !== undefined && { namespace }),
      name,
    })),
  );
};

/** What the function says of the object before and after, each key once. */
export const mappedKeys =
  <T extends KubeObject>(map: MapFunction<T>): EventKeys<T> =>
  ({ type, old, object }, tools) => {
    const before = type === 'update' && old !== undefined ? map(old, tools) : [];
    const keys = [...before, ...map(object, tools)].flatMap(namedKey);
    return [...new Map(keys.map((key) => [keyText(key), key])).values()];
  };

const namedKey = ({ namespace, name = '' }: MappedKey): readonly ObjectKey[] =>
  name === '' ? [] : [{ name, ...(namespace !== undefined && { namespace }) }];

/** A restart and a resync must not delay what just changed (Q4). */
export const priorityOf = ({ type, old, object, isInInitialList }: ObjectEvent): number => {
  const isResync = type === 'update' && old?.metadata.resourceVersion === object.metadata.resourceVersion;
  return isInInitialList || isResync ? LOW_PRIORITY : 0;
};

const groupOf = (apiVersion: string): string => apiVersion.slice(0, Math.max(0, apiVersion.indexOf('/')));
