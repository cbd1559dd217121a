import { isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { REFERENCE } from './openapi-names.ts';

const DEFINITIONS = '#/definitions/';
const METHODS = ['get', 'put', 'post', 'delete', 'patch'];

/** One Swagger 2.0 document out of all OpenAPI 3 documents (D8). */
export function swaggerDocument(info: JsonObject, documents: readonly JsonObject[]): JsonObject {
  const definitions: JsonObject = {};
  const paths: JsonObject = {};
  for (const document of documents) {
    for (const [path, item] of entriesOf(document['paths'])) setKey(paths, path, swaggerPath(item));
    for (const [name, schema] of entriesOf(
      isJsonObject(document['components']) ? document['components']['schemas'] : {},
    )) {
      // Each document lists only its own group version for a type of all groups; the first one will do.
      if (!Object.hasOwn(definitions, name)) setKey(definitions, name, definition(schema));
    }
  }
  return {
    swagger: '2.0',
    info,
    paths: sorted(paths),
    definitions: sorted(definitions),
    securityDefinitions: {
      BearerToken: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ BearerToken: [] }],
  };
}

/** Upstream's objects are maps of Go, which are written in the order of their keys. */
function sorted(object: JsonObject): JsonObject {
  const copy: JsonObject = {};
  for (const [key, value] of Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1))) setKey(copy, key, value);
  return copy;
}

const entriesOf = (value: Json | undefined): [string, Json][] =>
  isJsonObject(value) ? Object.entries(value) : [];

function swaggerPath(item: Json): Json {
  const path: JsonObject = {};
  for (const [key, value] of entriesOf(item)) {
    if (key === 'parameters') path[key] = parametersOf(value);
    else if (METHODS.includes(key) && isJsonObject(value)) path[key] = swaggerOperation(value);
  }
  return path;
}

function swaggerOperation(operation: JsonObject): JsonObject {
  const { parameters, requestBody, responses, ...rest } = operation;
  const body = bodyParameter(requestBody);
  const all = [...body, ...parametersOf(parameters)];
  return {
    ...rest,
    consumes: contentTypes(requestBody) ?? ['*/*'],
    produces: contentTypes(isJsonObject(responses) ? responses['200'] : undefined) ?? ['application/json'],
    schemes: ['https'],
    ...(all.length > 0 && { parameters: all }),
    responses: Object.fromEntries(
      entriesOf(responses).map(([code, response]): [string, Json] => {
        const schema = contentSchema(response);
        const description = isJsonObject(response) ? (response['description'] ?? '') : '';
        return [code, { description, ...(schema !== undefined && { schema }) }];
      }),
    ),
  };
}

const parametersOf = (list: Json | undefined): JsonObject[] =>
  (Array.isArray(list) ? list.filter(isJsonObject) : []).map(({ schema, ...rest }) => ({
    ...rest,
    ...(isJsonObject(schema) ? schema : {}),
  }));

function bodyParameter(requestBody: Json | undefined): JsonObject[] {
  const schema = contentSchema(requestBody);
  if (schema === undefined || !isJsonObject(requestBody)) return [];
  return [{ name: 'body', in: 'body', ...(requestBody['required'] === true && { required: true }), schema }];
}

const contentOf = (holder: Json | undefined): [string, Json][] =>
  entriesOf(isJsonObject(holder) ? holder['content'] : undefined);

function contentTypes(holder: Json | undefined): string[] | undefined {
  const types = contentOf(holder).map(([type]) => type);
  return types.length === 0 ? undefined : types;
}

function contentSchema(holder: Json | undefined): Json | undefined {
  const [, media] = contentOf(holder)[0] ?? [];
  return isJsonObject(media) ? definition(media['schema'] ?? {}) : undefined;
}

/** Kept nowhere: Swagger does not know them, or clients of it stumble over them. */
const UNKNOWN = ['default', 'nullable', 'anyOf', 'oneOf', 'not', 'allOf'];

/** A schema without what Swagger 2.0 lacks; where a type cannot be said, none is given. */
function definition(schema: Json): Json {
  if (!isJsonObject(schema)) return schema;
  const [reference] = Array.isArray(schema['allOf']) ? schema['allOf'] : [];
  if (isJsonObject(reference) && typeof reference['$ref'] === 'string') {
    return { ...keptMembers(schema), $ref: moved(reference['$ref']) };
  }
  if (Array.isArray(schema['oneOf']) && !Object.hasOwn(schema, 'type')) {
    // IntOrString and Quantity: text on the wire of old clients.
    return {
      ...keptMembers(schema),
      ...(Object.hasOwn(schema, 'x-kubernetes-int-or-string') ? {} : { type: 'string' }),
    };
  }
  return keptMembers(schema);
}

function keptMembers(schema: JsonObject): JsonObject {
  const isOpen = schema['nullable'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const node: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (UNKNOWN.includes(key)) continue;
    if (isOpen && ['type', 'properties', 'items', 'required'].includes(key)) continue;
    node[key] = member(key, value);
  }
  return node;
}

function member(key: string, value: Json): Json {
  switch (key) {
    case '$ref':
      return typeof value === 'string' ? moved(value) : value;
    case 'items':
    case 'additionalProperties':
      return definition(value);
    case 'properties': {
      const properties: JsonObject = {};
      for (const [name, property] of entriesOf(value)) setKey(properties, name, definition(property));
      return sorted(properties);
    }
    default:
      return value;
  }
}

const moved = (reference: string): string => reference.replace(REFERENCE, DEFINITIONS);
