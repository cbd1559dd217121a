import type { JsonObject } from '../../api/json.ts';
import type { DeepReadonly, KubeObject } from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import { isJsonObject } from '../../object/json.ts';
import { diffMergePatch } from '../../object/merge-patch-diff.ts';
import type { Patch } from './kube-client.ts';

export interface MergeFromOptions {
  /** Adds the version of `before`: the server refuses the patch when somebody has written since. */
  readonly optimisticLock?: boolean;
}

/**
 * The merge patch that makes `after` of `before`; `isEmptyPatch` tells when there is nothing to send. Lists are
 * replaced whole, so whoever changes a list that others write too locks it.
 */
export function mergeFrom<T extends KubeObject>(
  before: DeepReadonly<T> | T,
  after: DeepReadonly<T> | T,
  { optimisticLock = false }: MergeFromOptions = {},
): Patch {
  const from = before as unknown as JsonObject;
  const body = diffMergePatch(from, after as unknown as JsonObject);
  if (!optimisticLock) return { type: 'merge', body };
  const { resourceVersion } = before.metadata;
  if (resourceVersion === undefined) {
    throw userError('VersionMissing', `${before.kind} ${before.metadata.name} has no version to lock`);
  }
  if (Object.keys(body).length === 0) return { type: 'merge', body };
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
  return { type: 'merge', body: { ...body, metadata: { ...metadata, resourceVersion } } };
}

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: JsonObject[string] }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly from: string; readonly path: string };

/** Operations one after the other, all or none. */
export const jsonPatch = (operations: readonly JsonPatchOperation[]): Patch => ({
  type: 'json',
  body: operations.map((operation) => ({ ...operation })),
});

/** A patch that changes nothing need not be sent. */
export const isEmptyPatch = ({ body }: Patch): boolean => Object.keys(body).length === 0;
