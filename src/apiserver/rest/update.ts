import { type FieldError, invalid } from '../../object/field-error.ts';
import { cloneJson, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { updateManagedFields } from '../../object/merge/managed-fields.ts';
import { restoreTimes } from '../../object/merge/restore-times.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../object/metadata.ts';
import type { Strategy, WriteContext } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { badRequest, conflict, invalidObject, notFound } from '../status.ts';
import { type Entry, StoreConflict } from '../store/store.ts';
import {
  dedupeOwners,
  finalizerNameErrors,
  isReadyToGo,
  keepOnUpdate,
  kindOf,
  nameRuleOf,
  textOf,
} from './object-meta.ts';
import { optionsObject, type WriteOptions } from './options.ts';
import { setManagedFields, writingOf } from './ownership.ts';
import { isLarge, pause } from './pause.ts';
import { keyOf, type Scope } from './services.ts';
import { refuseLarge, storeErrors } from './sizes.ts';
import { type Views, withViews } from './version-views.ts';

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** What one update does to the object it finds. */
export interface Change {
  readonly name: string;
  readonly options: WriteOptions;
  readonly optionsKind: 'UpdateOptions' | 'PatchOptions';
  /** The new object, our own copy; `old` is shared and must not be changed. May run again after a lost race. */
  transform(old: JsonObject): Promise<JsonObject> | JsonObject;
  /** The result owns its managedFields already (apply). */
  readonly isOwned?: boolean;
  /** Says who owns what afterwards, where the object's own fields do not tell it (scale). */
  own?(object: JsonObject, old: JsonObject): Json[];
  /** Called when the object does not exist: the result of creating it. Absent: 404. */
  createMissing?(): Promise<Updated>;
  /** A different uid is 409 for PUT and 422 for PATCH (M7). */
  readonly isPut?: boolean;
}

export interface Updated {
  readonly object: JsonObject;
  /** Absent on dry run, and when the update removed the object. */
  readonly entry: Entry | undefined;
  readonly isCreated: boolean;
}

/** Applies a change to the newest object, again when somebody else was faster and the change did not ask for one revision. */
export async function update(scope: Scope, change: Change): Promise<Updated> {
  const { resource, info, store } = scope;
  const key = keyOf(resource, info.namespace, change.name);
  for (;;) {
    const entry = store.head(key);
    if (entry === undefined) {
      if (change.createMissing !== undefined) return change.createMissing();
      throw notFound({ group: resource.group, resource: resource.plural }, change.name);
    }
    try {
      return await attempt(scope, change, entry);
    } catch (error) {
      // The next attempt finds a stale resourceVersion by itself and answers 409.
      if (!(error instanceof StoreConflict)) throw storeErrors(error);
    }
  }
}

async function attempt(scope: Scope, change: Change, entry: Entry): Promise<Updated> {
  const { resource, codec, clock, user, info } = scope;
  const read = codec.read(entry, resource);
  const old = read instanceof Promise ? await read : read;
  const transformed = change.transform(old);
  let object = transformed instanceof Promise ? await transformed : transformed;
  checkPreconditions(scope, change, { object, old, entry });
  // Whoever comes between is noticed when the object is written.
  if (isLarge(scope.request)) await pause();
  const context: WriteContext = {
    now: clock.now(),
    isDryRun: change.options.isDryRun,
    subresource: info.subresource,
    user,
  };
  if (change.isOwned !== true) {
    // Stays synchronous from reading to writing unless a webhook must be asked: nobody can come between.
    const owning = own(scope, change, object, old);
    setManagedFields(object, owning instanceof Promise ? await owning : owning);
  }
  if (isLarge(scope.request)) await pause();
  object = await admit(scope, change, object, old);
  scope.warnings.add(dedupeOwners(object, true));
  keepOnUpdate(object, old);
  metadataOf(object)['resourceVersion'] = String(entry.revision);
  resource.strategy.prepareForUpdate?.(object, old, context);
  // Times that are all that changed are no change (S7).
  object = restoreTimes(old, object);
  countGeneration(scope, object, old);
  validateChanged(scope, { object, old, context });
  if (isLarge(scope.request)) await pause();
  await validateAdmission(scope, change, object, old);
  return save(scope, { change, entry, object, old, context });
}

interface States {
  readonly object: JsonObject;
  readonly old: JsonObject;
  readonly entry: Entry;
}

function checkPreconditions(scope: Scope, change: Change, { object, old, entry }: States): void {
  const { resource } = scope;
  const groupResource = { group: resource.group, resource: resource.plural };
  const metadata = metadataOf(object);
  const [uid, oldUid] = [textOf(metadata['uid']), textOf(metadataOf(old)['uid'])];
  if (change.isPut === true && uid !== '' && uid !== oldUid) {
    throw conflict(groupResource, change.name, uidMismatch(scope, change.name, { wanted: uid, found: oldUid }));
  }
  const given = textOf(metadata['resourceVersion']);
  // 0 is as good as none.
  const wanted = given === '0' ? '' : given;
  if (!/^\d*$/.test(wanted)) {
    throw badRequest(`strconv.ParseUint: parsing ${JSON.stringify(wanted)}: invalid syntax`);
  }
  if (wanted !== '' && wanted !== String(entry.revision)) throw conflict(groupResource, change.name, MODIFIED);
  if (wanted === '' && change.isPut === true && !resource.strategy.allowsUnconditionalUpdate) {
    // Some kinds refuse to be overwritten blindly (W8); the Status names the plural (E8).
    throw invalidObject({ group: resource.group, kind: resource.plural }, change.name, [
      invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
}

interface Uids {
  readonly wanted: string;
  readonly found: string;
}

/** E5: upstream shows the error of its storage as it is. */
export function uidMismatch({ resource, info }: Scope, name: string, { wanted, found }: Uids): string {
  const group = resource.isCustom ? `${resource.group}/` : '';
  const place = resource.isNamespaced ? `${info.namespace}/` : '';
  const key = `/registry/${group}${resource.plural}/${place}${name}`;
  const why = `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${why}`;
}

function own(scope: Scope, change: Change, object: JsonObject, old: JsonObject): Json[] | Promise<Json[]> {
  const owners = change.own?.(object, old);
  if (owners !== undefined) return owners;
  const update = (views?: Views): Json[] =>
    updateManagedFields({
      ...writingOf(scope, change.options, scope.info.subresource, views),
      live: old,
      updated: object,
    });
  return scope.resource.isCustom ? withViews(scope, [old, object], update) : update();
}

const attributesOf = (scope: Scope, change: Change, object: JsonObject, oldObject: JsonObject) => ({
  operation: 'UPDATE' as const,
  resource: scope.resource,
  subresource: scope.info.subresource,
  namespace: scope.info.namespace,
  name: change.name,
  object,
  oldObject,
  user: scope.user,
  isDryRun: change.options.isDryRun,
  options: optionsObject(
    change.optionsKind === 'PatchOptions' ? 'UpdateOptions' : change.optionsKind,
    change.options,
  ),
  warnings: scope.warnings,
});

async function admit(scope: Scope, change: Change, object: JsonObject, old: JsonObject): Promise<JsonObject> {
  const mutated = scope.admission.mutate(attributesOf(scope, change, object, old));
  return (mutated instanceof Promise ? await mutated : mutated) ?? object;
}

async function validateAdmission(
  scope: Scope,
  change: Change,
  object: JsonObject,
  old: JsonObject,
): Promise<void> {
  const validated = scope.admission.validate(attributesOf(scope, change, object, old));
  if (validated !== undefined) await validated;
}

/** metadata.generation goes up when anything but metadata and status changed (M8). */
function countGeneration({ resource, info }: Scope, object: JsonObject, old: JsonObject): void {
  if (!resource.strategy.tracksGeneration || info.subresource === 'status') return;
  const ignored = new Set([
    'metadata',
    'apiVersion',
    'kind',
    ...(resource.subresources.has('status') ? ['status'] : []),
  ]);
  const names = new Set([...Object.keys(object), ...Object.keys(old)]);
  const metadata = metadataOf(object);
  const isChanged =
    [...names].some((name) => !ignored.has(name) && !jsonEqual(object[name], old[name])) ||
    isCountedMetadataChanged(resource.strategy, metadata, metadataOf(old));
  if (isChanged) metadata['generation'] = Number(metadata['generation'] ?? 0) + 1;
}

/** None and empty are the same, as in Go. */
function isCountedMetadataChanged({ countedMetadata }: Strategy, metadata: JsonObject, old: JsonObject): boolean {
  return countedMetadata !== undefined && !jsonEqual(metadata[countedMetadata] ?? {}, old[countedMetadata] ?? {});
}

interface Changed {
  readonly object: JsonObject;
  readonly old: JsonObject;
  readonly context: WriteContext;
}

function validateChanged(scope: Scope, { object, old, context }: Changed): void {
  const { resource, warnings } = scope;
  const { strategy, isNamespaced } = resource;
  const metadata = metadataOf(object);
  const before = metadataOf(old);
  const isSame = jsonEqual(metadata, before);
  const changes = isSame ? [] : validateObjectMetaUpdate(metadata, before);
  const rules = { nameRule: nameRuleOf(strategy), isNamespaced, path: 'metadata' };
  const own = isSame ? [] : [...validateObjectMeta(metadata, rules), ...finalizerNameErrors(resource, metadata)];
  const found = [...own, ...changes, ...(strategy.validateUpdate?.(object, old, context) ?? [])];
  // Upstream's strategies look at the change of metadata once more and report it twice.
  const errors: FieldError[] = [...found, ...changes];
  if (errors.length > 0) throw invalidObject(kindOf(resource), textOf(metadata['name']), errors);
  warnings.addAll(strategy.warnings?.(object, old) ?? []);
}

interface Save extends Changed {
  readonly change: Change;
  readonly entry: Entry;
}

async function save(scope: Scope, { change, entry, object, old, context }: Save): Promise<Updated> {
  const { resource, codec, store, request } = scope;
  const key = entry.key;
  if (isReadyToGo(object, resource.strategy)) {
    // Watchers get the state before this update, as from etcd.
    if (!context.isDryRun) await removeFinal(scope, entry, old);
    return { object, entry: undefined, isCreated: false };
  }
  if (jsonEqual(object, old)) {
    // M11: nothing to write. What we answer with may still be on its way to the disk.
    if (store.revision < entry.revision) await store.reached(entry.revision, request.signal);
    return { object, entry, isCreated: false };
  }
  resource.strategy.allocate?.(object, old, context);
  if (context.isDryRun) return { object, entry: undefined, isCreated: false };
  try {
    const converted = codec.toStorage(object, resource);
    const stored = converted instanceof Promise ? await converted : converted;
    const render = refuseLarge(codec.renderer(stored, resource), stored, change.isOwned);
    const written = await store.put(key, entry.revision, render);
    codec.remember(written, stored);
    resource.strategy.settle?.(object, old);
    return { object, entry: written, isCreated: false };
  } catch (error) {
    resource.strategy.release?.(object);
    throw error;
  }
}

/** Removes an object; watchers get its last state with the revision of the removal (T7). */
export async function removeFinal(scope: Scope, entry: Entry, object: JsonObject): Promise<Entry> {
  const { resource, codec, store } = scope;
  const converted = codec.toStorage(object, resource);
  const last = cloneJson(converted instanceof Promise ? await converted : converted);
  const removed = await store.remove(entry.key, entry.revision, codec.renderer(last, resource));
  resource.strategy.release?.(object);
  return removed;
}
