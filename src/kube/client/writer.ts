import {
  type ApplyOf,
  apiVersionOf,
  type Kind,
  type KubeObject,
  keyOf,
  type ObjectKey,
} from '../../api/object.ts';
import { userError } from '../../base/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { isRecord } from '../../object/record.ts';
import { isNotFound } from './api-error.ts';
import type { Application, ApplyMemory } from './apply-memory.ts';
import type { Exchange } from './exchange.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';
import type {
  ApplyOptions,
  CallOptions,
  DeleteOptions,
  ListOptions,
  LiveReader,
  Patch,
  WriteObserver,
  WriteOptions,
  Writer,
} from './kube-client.ts';
import { listQuery, objectOf, typed } from './live-reader.ts';
import { collectionPath, creationPath, keyIn, namespaceMissing, objectPath, queryText } from './resource-path.ts';
import { isOfKind, noted } from './write-observation.ts';

/** What writes need. The observer never throws. */
export interface Writing {
  readonly exchange: Exchange;
  readonly live: LiveReader;
  readonly observer: WriteObserver;
  readonly fieldManager: string;
  /** Where there is a cache. */
  readonly memory?: ApplyMemory;
}

/** Writes that resolve when the server has them; the observer is told of each one, except dry runs. */
export function writer(writing: Writing): Writer {
  const result: Writer = {
    create: (kind, object, options) =>
      noted(writing, { kind, key: keyIn(object), options }, create(writing, kind, object, options)),
    update: (kind, object, options) =>
      noted(writing, { kind, key: keyIn(object), options }, update(writing, kind, { object, options })),
    updateStatus: (kind, object, options) => {
      const writes = update(writing, kind, { object, options, subresource: 'status' });
      return noted(writing, { kind, key: keyIn(object), options }, writes);
    },
    patch: (kind, key, patch, options = {}) =>
      noted(writing, { kind, key, options }, sendPatch(writing, kind, key, { patch, options })),
    apply: (kind, config, options = {}) => apply(writing, kind, config, { options }),
    applyStatus: (kind, config, options = {}) => apply(writing, kind, config, { options, subresource: 'status' }),
    delete: (kind, key, options = {}) =>
      noted(writing, { kind, key, options }, remove(writing, kind, key, options)),
    deleteAllOf: (kind, options) => removeAll(writing, kind, options).finally(() => writing.memory?.clear()),
    addFinalizer: (kind, object, finalizer) =>
      addFinalizer({ ...result, live: writing.live }, kind, object, finalizer),
    removeFinalizer: (kind, object, finalizer) =>
      removeFinalizer({ ...result, live: writing.live }, kind, object, finalizer),
  };
  return result;
}

async function create<T extends KubeObject, I>(
  writing: Writing,
  kind: Kind<T, I>,
  object: I,
  options: WriteOptions = {},
): Promise<T> {
  const path = creationPath(kind, keyIn(object).namespace);
  return write(writing, kind, { method: 'POST', path, body: bodyOf(kind, object), options });
}

interface Update<T, I> {
  readonly object: I | T;
  readonly options: WriteOptions | undefined;
  readonly subresource?: string;
}

async function update<T extends KubeObject, I>(
  writing: Writing,
  kind: Kind<T, I>,
  { object, options = {}, subresource }: Update<T, I>,
): Promise<T> {
  const { name = '', ...rest } = keyIn(object);
  const path = objectPath(kind, { name, ...rest }, subresource);
  return write(writing, kind, { method: 'PUT', path, body: bodyOf(kind, object), options });
}

/** What is sent says what it is; anything else would be refused, or be another kind. */
function bodyOf<T extends KubeObject, I>(kind: Kind<T, I>, object: unknown): JsonObject {
  const apiVersion = apiVersionOf(kind);
  const given: { readonly apiVersion?: string; readonly kind?: string } = Object(object);
  if ((given.kind ?? kind.kind) !== kind.kind || (given.apiVersion ?? apiVersion) !== apiVersion) {
    const found = `${given.apiVersion ?? ''} ${given.kind ?? ''}`.trim();
    throw userError('WrongKind', `a ${kind.kind} of ${apiVersion} is expected, found ${found}`);
  }
  return { ...given, apiVersion, kind: kind.kind };
}

/** The content types of patches (A4). */
export const PATCH_TYPES = {
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
} as const;
const APPLY_TYPE = 'application/apply-patch+yaml';

interface Patching {
  readonly patch: Patch;
  readonly options: ApplyOptions & { readonly subresource?: string };
}

async function sendPatch<T extends KubeObject, I>(
  writing: Writing,
  kind: Kind<T, I>,
  key: ObjectKey,
  { patch, options }: Patching,
): Promise<T> {
  const { type } = patch;
  if (type === 'strategic' && kind.group.includes('.') && !kind.group.endsWith('.k8s.io')) {
    const message = `a strategic merge patch works for built-in kinds only, not for ${kind.kind}; use a merge patch`;
    throw userError('UnsupportedPatch', message);
  }
  const path = objectPath(kind, key, options.subresource);
  const body = type === 'json' ? [...patch.body] : patch.body;
  return write(writing, kind, { method: 'PATCH', path, body, contentType: PATCH_TYPES[type], options });
}

interface Applying {
  readonly options: ApplyOptions;
  readonly subresource?: string;
}

async function apply<T extends KubeObject, I>(
  writing: Writing,
  kind: Kind<T, I>,
  config: ApplyOf<T>,
  { options, subresource }: Applying,
): Promise<T> {
  const { force = false, optimisticLock = false, dryRun = false } = options;
  const { name = '', ...scope } = keyIn(config);
  const application: Application = {
    key: { name, ...scope },
    subresource: subresource ?? '',
    fieldManager: options.fieldManager ?? writing.fieldManager,
    isForced: force,
    fieldValidation: options.fieldValidation,
    body: appliedBody(bodyOf(kind, config), optimisticLock),
  };
  const memory = dryRun || optimisticLock ? undefined : writing.memory;
  const unchanged = memory?.unchanged(kind, application);
  if (unchanged !== undefined) return unchanged;
  const object = await noted(
    writing,
    { kind, key: application.key, options },
    sendApplication(writing, kind, application, options),
  );
  memory?.remember(kind, application, object);
  return object;
}

function sendApplication<T extends KubeObject, I>(
  writing: Writing,
  kind: Kind<T, I>,
  { key, subresource, isForced, body }: Application,
  { force: _inQuery, optimisticLock: _inBody, ...options }: ApplyOptions,
): Promise<T> {
  return write(writing, kind, {
    method: 'PATCH',
    path: objectPath(kind, key, subresource === '' ? undefined : subresource),
    body,
    contentType: APPLY_TYPE,
    options,
    query: { force: isForced ? 'true' : '' },
    // Saying the same again changes nothing.
    isIdempotent: true,
  });
}

function appliedBody(body: JsonObject, optimisticLock: boolean): JsonObject {
  const given = isRecord(body['metadata']) ? body['metadata'] : {};
  const { managedFields: _never, resourceVersion, ...metadata } = given as JsonObject;
  return {
    ...body,
    metadata: { ...metadata, ...(optimisticLock && { resourceVersion: resourceVersion ?? null }) },
  };
}

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: Json;
  readonly contentType?: string;
  readonly options: WriteOptions;
  readonly query?: Readonly<Record<string, string>>;
  readonly isIdempotent?: boolean;
}

/** Sends a write and tells the observer what came back. */
async function write<T extends KubeObject, I>(
  { exchange, observer, fieldManager }: Writing,
  kind: Kind<T, I>,
  { method, path, options, query, ...rest }: Write,
): Promise<T> {
  const { dryRun = false } = options;
  const target = `${path}${queryText({ ...writeQuery(options, fieldManager), ...query })}`;
  const call = { method, target, ...rest, ...callOptions(options) };
  const answer = objectOf(await exchange.json(call), call);
  // A patch of `scale` returns a Scale: typed by the caller, of no interest to observers of the object.
  if (!isOfKind(kind, answer)) return answer as unknown as T;
  const object = typed(kind, answer);
  if (!dryRun) observer.wrote(kind, object);
  return object;
}

/** Every write names its manager: without one, the server would guess from the user agent (A5, §10.2). */
export function writeQuery(
  { dryRun = false, fieldManager, fieldValidation }: WriteOptions,
  ofClient: string,
): Record<string, string | undefined> {
  const manager = fieldManager ?? ofClient;
  if (manager === '') throw userError('FieldManagerMissing', 'a write needs a field manager; give the client one');
  return { fieldManager: manager, dryRun: dryRun ? 'All' : undefined, fieldValidation };
}

export const callOptions = ({ signal, timeoutMs }: CallOptions): CallOptions => ({
  ...(signal !== undefined && { signal }),
  ...(timeoutMs !== undefined && { timeoutMs }),
});

export function deletionBody(options: DeleteOptions): JsonObject {
  const { dryRun = false, gracePeriodSeconds, propagationPolicy, preconditions } = options;
  return {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    ...(dryRun && { dryRun: ['All'] }),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
    ...(preconditions !== undefined && { preconditions: { ...preconditions } }),
  };
}

async function remove<T extends KubeObject, I>(
  { exchange, observer }: Writing,
  kind: Kind<T, I>,
  key: ObjectKey,
  options: DeleteOptions,
): Promise<void> {
  const call = {
    method: 'DELETE',
    target: objectPath(kind, key),
    body: deletionBody(options),
    // Without the uid, a second one could meet an object that was created since.
    isIdempotent: options.preconditions?.uid !== undefined,
    ...callOptions(options),
  };
  try {
    const answer = await exchange.json(call);
    if (options.dryRun === true) return;
    if (isOfKind(kind, answer)) return observer.deleted(kind, key, typed(kind, answer));
    observer.deleted(kind, key, undefined, uidIn(answer));
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function removeAll<T extends KubeObject, I>(
  { exchange, observer }: Writing,
  kind: Kind<T, I>,
  options: ListOptions & DeleteOptions,
): Promise<void> {
  if (kind.scope === 'Namespaced' && (options.namespace ?? '') === '') throw namespaceMissing(kind);
  const answer = await exchange.json({
    method: 'DELETE',
    target: `${collectionPath(kind, options.namespace)}${listQuery(options)}`,
    body: deletionBody(options),
    ...callOptions(options),
  });
  if (options.dryRun === true || !isJsonObject(answer) || !Array.isArray(answer['items'])) return;
  for (const item of answer['items'].filter(isJsonObject)) {
    const object = typed(kind, item);
    observer.deleted(kind, keyOf(object), object);
  }
}

/** A Status of a deletion names what is gone. */
function uidIn(answer: Json | undefined): string | undefined {
  const details = isJsonObject(answer) ? answer['details'] : undefined;
  const uid = isJsonObject(details) ? details['uid'] : undefined;
  return typeof uid === 'string' && uid !== '' ? uid : undefined;
}
