import type { JsonObject } from '../../object/json.ts';
import type { ApiResponse } from '../request.ts';
import { StatusError } from '../status.ts';
import type { Entry } from '../store/store.ts';
import { deleteObject } from './delete.ts';
import { deleteOptions } from './delete-options.ts';
import type { DeletionOptions } from './deletion.ts';
import { listOptions } from './list-options.ts';
import { negotiateList, presentList } from './present.ts';
import { namespaceOf, selectionOf } from './selection.ts';
import { listPrefix, type Scope } from './services.ts';

const BATCH = 64;

/** DELETE of a collection (DE6): each matching object by its own rules; answers with the objects as they were. */
export async function deleteCollection(scope: Scope): Promise<ApiResponse> {
  const as = negotiateList(scope);
  listOptions(scope);
  const options = await deleteOptions(scope);
  const selection = selectionOf(scope);
  const { resource, store, codec, info } = scope;
  const revision = store.revision;
  const entries = [...store.list(listPrefix(resource, info.namespace))].filter((entry) =>
    selection.matches(entry),
  );
  const objects: JsonObject[] = [];
  // Side by side, so that many removals share a commit; in batches, so that others get their turn.
  for (let at = 0; at < entries.length; at += BATCH) {
    const batch = entries.slice(at, at + BATCH);
    objects.push(...(await codec.readAll(batch, resource)));
    await Promise.all(batch.map((entry) => deleteEntry(scope, entry, options)));
  }
  return presentList(scope, { objects, metadata: listMetadata(scope, revision) }, as);
}

function deleteEntry(scope: Scope, { key }: Entry, options: DeletionOptions): Promise<void> {
  const namespace = namespaceOf(key, scope.resource);
  const name = key.slice(key.lastIndexOf('/') + 1);
  return deleteIfPresent({ ...scope, info: { ...scope.info, namespace, name } }, name, options);
}

const listMetadata = ({ resource }: Scope, revision: number): JsonObject => ({
  ...(resource.isCustom && { continue: '' }),
  resourceVersion: String(revision),
});

/** Somebody else may have been faster. */
async function deleteIfPresent(scope: Scope, name: string, options: DeletionOptions): Promise<void> {
  try {
    await deleteObject(scope, name, options);
  } catch (error) {
    if (!(error instanceof StatusError && error.code === 404)) throw error;
  }
}
