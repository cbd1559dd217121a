import { apiVersionOf, type Kind, type KubeObject, type ObjectKey, type ObjectList } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { ApiError, isExpired, isNotFound } from './api-error.ts';
import { type Call, type Exchange, requestName } from './exchange.ts';
import type { GetOptions, ListOptions, LiveReader, WatchEvent, WatchOptions } from './kube-client.ts';
import { collectionPath, objectPath, queryText, selectorText } from './resource-path.ts';
import { SilenceWatch } from './silence.ts';
import { decodeWatch } from './watch-decoder.ts';

const PAGE = 500;

/** Reads that always ask the server. */
export function liveReader(exchange: Exchange, clock: Clock): LiveReader {
  const reader: LiveReader = {
    get: (kind, key, options = {}) => getLive(exchange, kind, key, options),
    find: (kind, key, options) => undefinedWhenMissing(reader.get(kind, key, options)),
    list: (kind, options = {}) => listLive(exchange, kind, options),
    listAll: (kind, options = {}) => listAll(reader, kind, options),
    watchBatches: (kind, options = {}) => watchLive({ exchange, clock }, kind, options),
    watch: (kind, options) => eventsOf(reader.watchBatches(kind, options)),
  };
  return reader;
}

/** Only an object that the server has looked for is missing: a kind that is not served stays an error (P32). */
export async function undefinedWhenMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function getLive<T extends KubeObject, I>(
  exchange: Exchange,
  kind: Kind<T, I>,
  key: ObjectKey,
  options: GetOptions,
): Promise<T> {
  const { resourceVersion, metadataOnly = false, ...rest } = options;
  const target = `${objectPath(kind, key)}${queryText({ resourceVersion })}`;
  const call = { method: 'GET', target, ...acceptOf(metadataOnly, 'PartialObjectMetadata'), ...rest };
  return typed(kind, objectOf(await exchange.json(call), call));
}

async function listLive<T extends KubeObject, I>(
  exchange: Exchange,
  kind: Kind<T, I>,
  options: ListOptions,
): Promise<ObjectList<T>> {
  const { namespace, metadataOnly = false, signal, timeoutMs } = options;
  const call = {
    method: 'GET',
    target: `${collectionPath(kind, namespace)}${listQuery(options)}`,
    ...acceptOf(metadataOnly, 'PartialObjectMetadataList'),
    ...(signal !== undefined && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  const list = objectOf(await exchange.json(call), call);
  // Go writes an empty list as null.
  const items = Array.isArray(list['items']) ? list['items'] : [];
  const found = items.map((item) => typed(kind, objectOf(item, call)));
  return {
    apiVersion: apiVersionOf(kind),
    kind: `${kind.kind}List`,
    metadata: isJsonObject(list['metadata']) ? list['metadata'] : {},
    items: found,
  };
}

/** The query of a list, and of a DELETE of a collection. */
export function listQuery(options: ListOptions, more: Readonly<Record<string, string | boolean>> = {}): string {
  const { labels, fields, limit, continue: token, resourceVersion, resourceVersionMatch } = options;
  return queryText({
    labelSelector: selectorText(labels),
    fieldSelector: fields,
    limit,
    continue: token,
    resourceVersion,
    resourceVersionMatch,
    ...more,
  });
}

/**
 * When the pages expire, everything is read once more in one answer, which cannot expire; objects that were given out
 * already are skipped, by their uid.
 */
async function* listAll<T extends KubeObject, I>(
  reader: LiveReader,
  kind: Kind<T, I>,
  options: ListOptions,
): AsyncGenerator<T> {
  // Bounded by the number of objects of the kind; gone with the loop.
  const given = new Set<string>();
  const { limit = PAGE, ...rest } = options;
  let page: ListOptions | undefined = { ...rest, limit };
  while (page !== undefined) {
    const { items, token }: Page<T> = await pageOf(reader, kind, page, rest);
    for (const item of items) {
      const id = item.metadata.uid ?? `${item.metadata.namespace ?? ''}/${item.metadata.name}`;
      if (given.has(id)) continue;
      given.add(id);
      yield item;
    }
    // The version belongs to the first page: the token knows it.
    const { resourceVersion: _version, resourceVersionMatch: _match, ...next } = rest;
    page = token === '' ? undefined : { ...next, limit, continue: token };
  }
}

interface Page<T> {
  readonly items: readonly T[];
  readonly token: string;
}

async function pageOf<T extends KubeObject, I>(
  reader: LiveReader,
  kind: Kind<T, I>,
  page: ListOptions,
  whole: ListOptions,
): Promise<Page<T>> {
  try {
    const { items, metadata } = await reader.list(kind, page);
    return { items, token: metadata.continue ?? '' };
  } catch (error) {
    if (!isExpired(error) || page.continue === undefined) throw error;
    const { continue: _expired, ...fresh } = whole;
    return { items: (await reader.list(kind, fresh)).items, token: '' };
  }
}

interface Watching {
  readonly exchange: Exchange;
  readonly clock: Clock;
}

/** Rejects with the signal's reason when it aborts: an end without an error is always the server's. */
async function* watchLive<T extends KubeObject, I>(
  { exchange, clock }: Watching,
  kind: Kind<T, I>,
  options: WatchOptions,
): AsyncGenerator<readonly WatchEvent<T>[]> {
  const { signal, silenceMs, metadataOnly = false } = options;
  using silence = new SilenceWatch(clock, silenceMs, signal).start();
  const call: Call = {
    method: 'GET',
    target: `${collectionPath(kind, options.namespace)}${watchQuery(options)}`,
    ...acceptOf(metadataOnly, 'PartialObjectMetadata'),
    isStream: true,
    ...(silenceMs !== undefined && { silenceMs }),
    signal: silence.signal,
  };
  try {
    silence.signal.throwIfAborted();
    const answer = await exchange.open(call);
    const batches = decodeWatch<T>(silence.watched(answer.stream()), requestName(call));
    for await (const batch of batches) yield metadataOnly ? batch.map((event) => realKind(kind, event)) : batch;
  } catch (error) {
    // What a transport throws when it is aborted is its own matter; why it was aborted is known here.
    if (silence.signal.aborted) throw silence.signal.reason;
    throw error;
  }
  silence.signal.throwIfAborted();
}

function watchQuery(options: WatchOptions): string {
  const { labels, fields, resourceVersion, resourceVersionMatch, sendInitialEvents, timeoutSeconds } = options;
  return queryText({
    watch: true,
    labelSelector: selectorText(labels),
    fieldSelector: fields,
    resourceVersion,
    resourceVersionMatch,
    sendInitialEvents,
    allowWatchBookmarks: options.allowBookmarks,
    timeoutSeconds,
  });
}

function realKind<T extends KubeObject, I>(kind: Kind<T, I>, event: WatchEvent<T>): WatchEvent<T> {
  Object.assign(event.object, { apiVersion: apiVersionOf(kind), kind: kind.kind });
  return event;
}

async function* eventsOf<T extends KubeObject>(
  batches: AsyncIterable<readonly WatchEvent<T>[]>,
): AsyncGenerator<WatchEvent<T>> {
  for await (const batch of batches) yield* batch;
}

const acceptOf = (metadataOnly: boolean, as: string): { readonly accept?: string } =>
  metadataOnly ? { accept: `application/json;as=${as};g=meta.k8s.io;v=v1` } : {};

/** The object in an answer; an answer without one is an error, whatever its status. */
export function objectOf(value: Json | undefined, call: Pick<Call, 'method' | 'target'>): JsonObject {
  if (isJsonObject(value)) return value;
  const { method, path } = requestName(call);
  const message = `${method} ${path} was answered without an object`;
  throw new ApiError({ code: 200, reason: 'UndecodableAnswer', message, method, path });
}

/** Items of lists have no apiVersion and kind, and metadata alone has another one: every object says what it is. */
export function typed<T extends KubeObject, I>(kind: Kind<T, I>, object: JsonObject): T {
  const apiVersion = apiVersionOf(kind);
  if (object['apiVersion'] !== apiVersion || object['kind'] !== kind.kind) {
    object['apiVersion'] = apiVersion;
    object['kind'] = kind.kind;
  }
  // The server is the authority on what its objects look like (K8).
  return object as unknown as T;
}
