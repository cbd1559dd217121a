import type { JsonObject } from '../../object/json.ts';
import type { Resource, Subresource } from '../registry/resource.ts';
import { capitalised, groupWord, type KindName, META, REFERENCE, schemaNameOf, tagOf } from './openapi-names.ts';
import {
  collectionOperation,
  createOperation,
  type Operation,
  objectOperation,
  type PathContext,
  pathItem,
  watchOperation,
} from './openapi-operations.ts';
import * as parameters from './openapi-parameters.ts';

type PathEntry = readonly [path: string, item: JsonObject];

const VERB_ORDER = ['get', 'list', 'update', 'create', 'delete', 'deletecollection', 'patch'];

/** All paths of one group version, sorted. */
export function openApiPaths(resources: readonly Resource[]): JsonObject {
  const [first] = resources;
  if (first === undefined) return {};
  const entries = resources.flatMap((resource) => resourcePaths(resource));
  const discovery: readonly PathEntry[] = first.isCustom ? [] : [discoveryPath(first)];
  return Object.fromEntries([...discovery, ...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const basePath = ({ group, version }: Resource): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

function discoveryPath(resource: Resource): PathEntry {
  const { group, version } = resource;
  const schema = { $ref: `${REFERENCE}${META}APIResourceList` };
  const types = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml'];
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  const get = {
    tags: [tagOf(group, version)],
    operationId: `get${groupWord(group)}${capitalised(version)}APIResources`,
    responses: { 200: { description: 'OK', content }, 401: { description: 'Unauthorized' } },
  };
  return [`${basePath(resource)}/`, { get }];
}

function resourcePaths(resource: Resource): readonly PathEntry[] {
  const { group, version, isNamespaced, plural, kind: kindName, verbs } = resource;
  const base = basePath(resource);
  const kind: KindName = { group, version, kind: kindName };
  const scope = isNamespaced ? '/namespaces/{namespace}' : '';
  const word = `${isNamespaced ? 'Namespaced' : ''}${kindName}`;
  const inScope = isNamespaced ? [parameters.NAMESPACE] : [];
  const collection = { resource, kind, places: inScope, idSuffix: word };
  const object = { resource, kind, places: [parameters.NAME, ...inScope], idSuffix: word };
  const everywhere = { resource, kind, places: [], idSuffix: `${kindName}ForAllNamespaces` };
  return [
    ...entry(`${base}${scope}/${plural}`, collection, operationsOf(verbs, collection, collectionOperation)),
    ...entry(`${base}${scope}/${plural}/{name}`, object, operationsOf(verbs, object, objectOperation)),
    ...(isNamespaced && verbs.includes('list')
      ? entry(`${base}/${plural}`, everywhere, operationsOf(['list'], everywhere, collectionOperation))
      : []),
    ...[...resource.subresources.values()].flatMap((sub) =>
      subresourcePath(`${base}${scope}/${plural}/{name}/${sub.name}`, object, sub),
    ),
    ...(verbs.includes('watch') && !resource.isCustom ? watchPaths(object, inScope) : []),
  ];
}

function watchPaths(object: PathContext, inScope: readonly JsonObject[]): readonly PathEntry[] {
  const { resource } = object;
  const { isNamespaced, plural, kind: kindName } = resource;
  const base = `${basePath(resource)}/watch`;
  const scope = isNamespaced ? '/namespaces/{namespace}' : '';
  const list = { ...object, places: inScope, idSuffix: `${object.idSuffix}List` };
  const everywhere = { ...object, places: [], idSuffix: `${kindName}ListForAllNamespaces` };
  return [
    ...entry(`${base}${scope}/${plural}`, list, [watchOperation('watchlist')]),
    ...entry(`${base}${scope}/${plural}/{name}`, object, [watchOperation('watch')]),
    ...(isNamespaced ? entry(`${base}/${plural}`, everywhere, [watchOperation('watchlist')]) : []),
  ];
}

/** Subresources that are connections or text (exec, proxy, log) have no schema and are left out. */
function subresourcePath(path: string, object: PathContext, sub: Subresource): readonly PathEntry[] {
  const { resource } = object;
  if (sub.kind.endsWith('Options') || sub.name === 'log') return [];
  const answer: KindName = { group: sub.group, version: sub.version, kind: sub.kind };
  const context = { ...object, kind: answer, idSuffix: `${object.idSuffix}${capitalised(sub.name)}` };
  const operations = operationsOf(sub.verbs, context, (verb) =>
    verb === 'create' ? createOperation(resource, schemaNameOf(answer)) : objectOperation(verb, context),
  );
  // Upstream names the custom kind itself for /scale, but the Scale for built-in ones.
  return entry(path, resource.isCustom ? { ...context, kind: object.kind } : context, operations);
}

const operationsOf = (
  verbs: readonly string[],
  context: PathContext,
  operation: (verb: string, context: PathContext) => Operation | undefined,
): readonly Operation[] =>
  VERB_ORDER.filter((verb) => verbs.includes(verb)).flatMap((verb) => operation(verb, context) ?? []);

const entry = (path: string, context: PathContext, operations: readonly Operation[]): readonly PathEntry[] =>
  operations.length === 0 ? [] : [[path, pathItem(context, operations)]];
