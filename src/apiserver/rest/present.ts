import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { goQuote } from '../../object/validation/go-text.ts';
import type { Representation, Transform } from '../negotiation/accept.ts';
import { negotiate, notAcceptable } from '../negotiation/accept.ts';
import type { Columns } from '../registry/resource.ts';
import type { ApiResponse } from '../request.ts';
import { badRequest } from '../status.ts';
import type { Entry } from '../store/store.ts';
import { jsonAnswer, objectAnswer } from './answers.ts';
import type { Scope } from './services.ts';

const TRANSFORMS: readonly Transform[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];
const WATCH_TRANSFORMS: readonly Transform[] = ['Table', 'PartialObjectMetadata'];

export const negotiateObject = ({ request }: Scope): Representation =>
  negotiate(request.headers['accept'], TRANSFORMS);
export const negotiateList = ({ request }: Scope): Representation =>
  negotiate(request.headers['accept'], TRANSFORMS);

/** A watch is a stream, which YAML cannot be. */
export function negotiateWatch({ request }: Scope): Representation {
  const as = negotiate(request.headers['accept'], WATCH_TRANSFORMS);
  if (as.mediaType !== 'yaml') return as;
  throw notAcceptable(
    'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
  );
}

export type IncludeObject = 'Metadata' | 'Object' | 'None';

/** Which object a row of a Table carries (C6). */
export function includeObjectOf(query: URLSearchParams): IncludeObject {
  const value = query.get('includeObject') ?? '';
  if (value === '' || value === 'Metadata') return 'Metadata';
  if (value === 'Object' || value === 'None') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${goQuote(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
}

/** The answer that shows one stored object. */
export async function presentEntry(
  scope: Scope,
  status: number,
  entry: Entry,
  as = negotiateObject(scope),
): Promise<ApiResponse> {
  if (as.mediaType === 'json' && as.transform === undefined) {
    const body = scope.codec.body(entry, scope.resource);
    return jsonAnswer(status, body instanceof Promise ? await body : body);
  }
  const object = await scope.codec.read(entry, scope.resource);
  return presentObject(scope, status, object, as);
}

/** The answer that shows one object in the version of the request. */
export function presentObject(
  scope: Scope,
  status: number,
  object: JsonObject,
  as = negotiateObject(scope),
): ApiResponse {
  if (as.transform === 'Table') {
    const rows = tableRows([object], scope, includeObjectOf(scope.request.query), as);
    const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
    return objectAnswer(status, tableOf(rows, scope.resource.columns, listMetadata(metadata), as), as);
  }
  if (as.transform === 'PartialObjectMetadataList') {
    throw notAcceptable(
      `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(scope, 'object')})`,
    );
  }
  if (as.transform !== undefined) return objectAnswer(status, partialObject(object, as), as);
  return objectAnswer(status, object, as);
}

export const partialObject = (object: JsonObject, { transformVersion }: Representation): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${transformVersion}`,
  metadata: object['metadata'] ?? {},
});

/** resourceVersion, continue and remainingItemCount, as a Table or partial list copies them. */
function listMetadata(metadata: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const name of ['resourceVersion', 'continue', 'remainingItemCount']) {
    const value = metadata[name];
    if (value !== undefined && value !== '') kept[name] = value;
  }
  return kept;
}

export function tableRows(
  objects: readonly JsonObject[],
  { resource, clock }: Scope,
  include: IncludeObject,
  as: Representation,
): Json[] {
  const now = clock.now();
  return objects.map((object) => ({
    cells: [...resource.columns.cells(object, now)],
    ...rowConditions(resource.columns, object),
    object: rowObject(object, include, as),
  }));
}

function rowConditions(columns: Columns, object: JsonObject): JsonObject {
  const conditions = columns.rowConditions?.(object) ?? [];
  return conditions.length === 0 ? {} : { conditions: [...conditions] };
}

function rowObject(object: JsonObject, include: IncludeObject, as: Representation): Json {
  if (include === 'None') return null;
  return include === 'Object' ? object : partialObject(object, as);
}

/** A Table; without columns it is a later event of a watch (C6). */
export const tableOf = (
  rows: Json[],
  columns: Columns | undefined,
  metadata: JsonObject,
  { transformVersion }: Representation,
): JsonObject => ({
  kind: 'Table',
  apiVersion: `meta.k8s.io/${transformVersion}`,
  metadata,
  columnDefinitions: columns === undefined ? null : columns.definitions.map((column): Json => ({ ...column })),
  rows,
});

/** A list of objects under a transform. */
export function presentList(
  scope: Scope,
  list: { readonly objects: readonly JsonObject[]; readonly metadata: JsonObject },
  as: Representation,
): ApiResponse {
  const { objects, metadata } = list;
  if (as.transform === 'Table') {
    const rows = tableRows(objects, scope, includeObjectOf(scope.request.query), as);
    return objectAnswer(200, tableOf(rows, scope.resource.columns, listMetadata(metadata), as), as);
  }
  if (as.transform === 'PartialObjectMetadataList') {
    return objectAnswer(
      200,
      {
        kind: 'PartialObjectMetadataList',
        apiVersion: `meta.k8s.io/${as.transformVersion}`,
        metadata: listMetadata(metadata),
        // Go's list of nothing.
        items: objects.length === 0 ? null : objects.map((object) => partialObject(object, as)),
      },
      as,
    );
  }
  if (as.transform !== undefined) {
    throw notAcceptable(
      `you requested PartialObjectMetadata, but the requested object is a list (${goType(scope, 'list')})`,
    );
  }
  const items = scope.resource.isCustom ? [...objects] : objects.map(withoutKind);
  return objectAnswer(200, { ...listHeader(scope), metadata, items }, as);
}

/** C8: in a list, built-in objects say neither kind nor apiVersion. */
const withoutKind = ({ kind: _kind, apiVersion: _apiVersion, ...rest }: JsonObject): JsonObject => rest;

/** The type that upstream's message names: packages are called like the first part of a group. */
function goType({ resource: { isCustom, group, kind, listKind } }: Scope, form: 'object' | 'list'): string {
  if (isCustom) return form === 'list' ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  const [first = ''] = group.split('.', 1);
  const home = first === '' || first === 'events' ? 'core' : first;
  return `*${home}.${form === 'list' ? listKind : kind}`;
}

export const listHeader = ({ resource: { listKind, group, version } }: Scope): JsonObject => ({
  kind: listKind,
  apiVersion: group === '' ? version : `${group}/${version}`,
});
