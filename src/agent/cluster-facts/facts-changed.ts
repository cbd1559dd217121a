import { isDeepStrictEqual } from 'node:util';
import type { KubeObject } from '../../api/object.ts';
import { byType, type Predicate } from '../../kube/controller/predicates.ts';
import { findCondition } from '../../object/conditions.ts';

/** Drops updates that leave everything as it is that a controller takes from the object. */
export const factsChanged = <T extends KubeObject>(facts: (object: T) => readonly unknown[]): Predicate<T> =>
  byType({
    update: ({ old, object }) => old === undefined || !isDeepStrictEqual(facts(old), facts(object)),
  });

/** Pure: what users and owners say of an object, and nothing that its status says. */
export function wishesOf({ metadata }: KubeObject): readonly unknown[] {
  const { generation, deletionTimestamp, labels, annotations, ownerReferences } = metadata;
  return [generation, deletionTimestamp, labels, annotations, ownerReferences];
}

/** Pure: what is said in these conditions; when it was said is no news. */
export const saidIn = (object: KubeObject, types: readonly string[]): readonly unknown[] =>
  types.map((type) => {
    const { status, reason, message } = findCondition(object, type) ?? {};
    return [status, reason, message];
  });
