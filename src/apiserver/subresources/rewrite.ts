import { cloneJson, type JsonObject } from '../../object/json.ts';
import type { Resource } from '../registry/resource.ts';
import { keyOf, type Scope } from '../rest/services.ts';
import { refuseLarge, storeErrors } from '../rest/sizes.ts';
import { notFound } from '../status.ts';
import { type Entry, StoreConflict } from '../store/store.ts';

export interface Rewrite {
  readonly resource: Resource;
  readonly name: string;
  readonly isDryRun: boolean;
  /** Changes the object in place; throws a StatusError to refuse. May run again after a lost race. */
  readonly change: (object: JsonObject, entry: Entry) => void;
}

/**
 * Changes an object the way the server itself does: without managedFields, admission and the rules for clients. For
 * subresources whose body is not the object they change.
 */
export async function rewrite(scope: Scope, { resource, name, isDryRun, change }: Rewrite): Promise<Entry> {
  const { store, codec, info } = scope;
  const key = keyOf(resource, info.namespace, name);
  for (;;) {
    const entry = store.head(key);
    if (entry === undefined) throw notFound({ group: resource.group, resource: resource.plural }, name);
    const object = cloneJson(codec.stored(entry, resource));
    change(object, entry);
    if (isDryRun) return entry;
    try {
      const render = refuseLarge(codec.renderer(object, resource), object);
      const written = await store.put(key, entry.revision, render);
      codec.remember(written, object);
      return written;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw storeErrors(error);
    }
  }
}
