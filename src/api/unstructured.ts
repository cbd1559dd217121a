import type { Json } from './json.ts';
import type { DeepReadonly, Kind, KubeObject } from './object.ts';

/** An object of a kind that is known only at run time: {@link fieldAt} reads its fields. */
export interface Unstructured extends KubeObject {
  readonly [field: string]: unknown;
}

/** A kind known only at run time; nothing is checked here, the server knows whether it exists (K2). */
export const unstructured = ({
  group,
  version,
  kind,
  plural,
  scope,
}: Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'scope'>): Kind<Unstructured> => ({
  group,
  version,
  kind,
  plural,
  scope,
});

/** The value at a path: `fieldAt(object, 'spec', 'ports', 0)`; undefined where there is none. Only own fields count. */
export function fieldAt(
  object: KubeObject,
  ...path: readonly (string | number)[]
): DeepReadonly<Json> | undefined {
  let value: unknown = object;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[part];
  }
  // Objects are plain JSON (K10), so every part of one is.
  return value as DeepReadonly<Json>;
}
