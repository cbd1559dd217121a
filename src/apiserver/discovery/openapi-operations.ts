import type { Json, JsonObject } from '../../object/json.ts';
import type { Resource } from '../registry/resource.ts';
import { groupWord, type KindName, META, REFERENCE, schemaNameOf, tagOf } from './openapi-names.ts';
import * as parameters from './openapi-parameters.ts';

/** What the operations of one path have in common. */
export interface PathContext {
  readonly resource: Resource;
  /** Of the answer, and what `x-kubernetes-group-version-kind` says. */
  readonly kind: KindName;
  /** Parameters in the path itself. */
  readonly places: readonly JsonObject[];
  /** After the verb and group in operation ids: `NamespacedPodStatus`. */
  readonly idSuffix: string;
}

export interface Operation {
  readonly method: string;
  readonly action: string;
  /** Verb of the operation id: `read`, `replace` … */
  readonly word: string;
  readonly parameters?: readonly JsonObject[];
  readonly body?: { readonly types: readonly string[]; readonly schema: string; readonly isRequired: boolean };
  /** Status codes that carry an object, and its schema. */
  readonly codes: readonly number[];
  readonly answer: string;
  readonly isStream?: boolean;
}

const BUILTIN_TYPES = ['application/json', 'application/vnd.kubernetes.protobuf', 'application/yaml'];
const CUSTOM_TYPES = ['application/json', 'application/yaml'];
const STREAM_TYPES = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch'];
const PATCH_TYPES = [
  'application/apply-patch+yaml',
  'application/json-patch+json',
  'application/merge-patch+json',
];
const CODE_WORDS: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

const bodyTypes = ({ isCustom }: Resource): readonly string[] => (isCustom ? CUSTOM_TYPES : ['*/*']);

/** The operation behind each verb of an object: GET, PUT, PATCH, DELETE on its path, POST on some subresources. */
export function objectOperation(verb: string, { resource, kind }: PathContext): Operation | undefined {
  const answer = schemaNameOf(kind);
  const body = { types: bodyTypes(resource), schema: answer, isRequired: true };
  switch (verb) {
    case 'get':
      return {
        method: 'get',
        action: 'get',
        word: 'read',
        ...(resource.isCustom && { parameters: [parameters.RESOURCE_VERSION] }),
        codes: [200],
        answer,
      };
    case 'update':
      return {
        method: 'put',
        action: 'put',
        word: 'replace',
        parameters: parameters.WRITE,
        body,
        codes: [200, 201],
        answer,
      };
    case 'patch':
      return patchOperation(resource, answer);
    case 'delete':
      return deleteOperation(resource, answer);
    default:
      return undefined;
  }
}

function patchOperation({ isCustom }: Resource, answer: string): Operation {
  const types = isCustom ? PATCH_TYPES : [...PATCH_TYPES, 'application/strategic-merge-patch+json'];
  return {
    method: 'patch',
    action: 'patch',
    word: 'patch',
    parameters: parameters.PATCH,
    body: { types, schema: `${META}Patch`, isRequired: true },
    codes: isCustom ? [200] : [200, 201],
    answer,
  };
}

function deleteOperation(resource: Resource, answer: string): Operation {
  // Upstream's document says Status for namespaces, although the server answers with the object.
  const { strategy, kind } = resource;
  const hasObject = strategy.returnsDeletedObject === true && kind !== 'Namespace';
  return {
    method: 'delete',
    action: 'delete',
    word: 'delete',
    parameters: parameters.DELETE,
    body: { types: bodyTypes(resource), schema: `${META}DeleteOptions`, isRequired: false },
    codes: [200, 202],
    answer: hasObject ? answer : `${META}Status`,
  };
}

/** The operations on a collection. */
export function collectionOperation(verb: string, { resource, kind }: PathContext): Operation | undefined {
  switch (verb) {
    case 'list':
      return {
        method: 'get',
        action: 'list',
        word: 'list',
        parameters: parameters.LIST,
        codes: [200],
        answer: schemaNameOf({ group: kind.group, version: kind.version, kind: resource.listKind }),
        isStream: resource.verbs.includes('watch'),
      };
    case 'create':
      return createOperation(resource, schemaNameOf(kind));
    case 'deletecollection':
      return {
        method: 'delete',
        action: 'deletecollection',
        word: 'delete',
        parameters: resource.isCustom ? parameters.LIST : parameters.DELETE_COLLECTION,
        ...(!resource.isCustom && {
          body: { types: ['*/*'], schema: `${META}DeleteOptions`, isRequired: false },
        }),
        codes: [200],
        answer: `${META}Status`,
      };
    default:
      return undefined;
  }
}

export const createOperation = (resource: Resource, answer: string): Operation => ({
  method: 'post',
  action: 'post',
  word: 'create',
  parameters: parameters.WRITE,
  body: { types: bodyTypes(resource), schema: answer, isRequired: true },
  codes: [200, 201, 202],
  answer,
});

/** The deprecated /watch/ paths, which only built-in resources have. */
export const watchOperation = (action: 'watch' | 'watchlist'): Operation => ({
  method: 'get',
  action,
  word: 'watch',
  parameters: parameters.LIST,
  codes: [200],
  answer: `${META}WatchEvent`,
  isStream: true,
});

/** A path item; parameters that all its operations have are listed once, for the path. */
export function pathItem(context: PathContext, operations: readonly Operation[]): JsonObject {
  const lists = operations.map(({ parameters: own = [] }) => [...own, ...context.places, parameters.PRETTY]);
  const shared = (lists[0] ?? []).filter((one) => lists.every((list) => list.includes(one)));
  const bodies = operations.map((operation, at): [string, Json] => {
    const own = (lists[at] ?? []).filter((one) => !shared.includes(one));
    return [operation.method, operationBody(context, operation, own)];
  });
  return { ...Object.fromEntries(bodies), parameters: byName(shared) };
}

const byName = (list: readonly JsonObject[]): JsonObject[] =>
  [...list].sort((a, b) => ((a['name'] ?? '') < (b['name'] ?? '') ? -1 : 1));

function operationBody(context: PathContext, operation: Operation, own: readonly JsonObject[]): JsonObject {
  const { resource, idSuffix, kind } = context;
  const { group, version } = resource;
  const collection = operation.action === 'deletecollection' ? 'Collection' : '';
  const types = resource.isCustom ? CUSTOM_TYPES : BUILTIN_TYPES;
  const answerTypes =
    operation.isStream === true && !resource.isCustom ? [...types, ...STREAM_TYPES].sort() : types;
  const { body } = operation;
  return {
    tags: [tagOf(group, version)],
    operationId: `${operation.word}${groupWord(group)}${version.slice(0, 1).toUpperCase()}${version.slice(1)}${collection}${idSuffix}`,
    ...(own.length > 0 && { parameters: byName(own) }),
    ...(body && {
      requestBody: {
        content: contentOf(body.types, body.schema),
        ...(body.isRequired && { required: true }),
      },
    }),
    responses: {
      ...Object.fromEntries(
        operation.codes.map((code): [number, Json] => [
          code,
          { description: CODE_WORDS[code] ?? '', content: contentOf(answerTypes, operation.answer) },
        ]),
      ),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': { group: kind.group, version: kind.version, kind: kind.kind },
  };
}

const contentOf = (types: readonly string[], schema: string): JsonObject =>
  Object.fromEntries(types.map((type): [string, Json] => [type, { schema: { $ref: `${REFERENCE}${schema}` } }]));
