import type { Schema } from '../../api/schema/structural.ts';
import { cloneJson, isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { type RawSchema, rawSchema } from '../builtin-data/builtin-schema.ts';
import { longName, shortName } from '../builtin-data/schema-name.ts';
import type { Resource } from '../registry/resource.ts';
import { META, REFERENCE, schemaNameOf } from './openapi-names.ts';

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Every schema that `roots` need, by full name, sorted. `custom` are the custom resources of the document. */
export function componentSchemas(
  roots: Iterable<string>,
  custom: readonly Resource[],
  groupVersion: GroupVersion,
): JsonObject {
  const own = new Map(custom.flatMap(customSchemas));
  const found = new Map<string, Json>();
  const queue = [...roots];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (found.has(name)) continue;
    const schema = own.get(name) ?? builtinComponent(shortName(name), groupVersion);
    found.set(name, schema);
    queue.push(...referencesIn(schema));
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The names of all schemas a part of a document refers to. */
export function referencesIn(value: Json, found = new Set<string>()): ReadonlySet<string> {
  if (Array.isArray(value)) for (const item of value) referencesIn(item, found);
  if (!isJsonObject(value)) return found;
  const reference = value['$ref'];
  if (typeof reference === 'string' && reference.startsWith(REFERENCE))
    found.add(reference.slice(REFERENCE.length));
  for (const item of Object.values(value)) if (typeof item === 'object') referencesIn(item, found);
  return found;
}

const EVERY_GROUP = ['meta.v1.DeleteOptions', 'meta.v1.WatchEvent'];

function builtinComponent(name: string, { group, version }: GroupVersion): Json {
  const schema = expanded(rawSchema(name));
  if (!EVERY_GROUP.includes(name)) return schema;
  const kind = name.slice('meta.v1.'.length);
  const core = { group: '', kind, version: 'v1' };
  return {
    ...schema,
    'x-kubernetes-group-version-kind': group === '' ? [core] : [core, { group, kind, version }],
  };
}

/** A node of the tables in the form of OpenAPI. */
function expanded(raw: RawSchema): JsonObject {
  const node: JsonObject = {};
  for (const [key, value] of Object.entries(raw)) node[key] = expandedMember(key, value as Json);
  return node;
}

const referenceTo = (name: Json): string => `${REFERENCE}${typeof name === 'string' ? longName(name) : ''}`;

function expandedMember(key: string, value: Json): Json {
  switch (key) {
    case '$ref':
      return referenceTo(value);
    case 'allOf':
      return [{ $ref: referenceTo(value) }];
    case 'properties':
      return Object.fromEntries(
        Object.entries(value as JsonObject).map(([name, property]) => [name, expanded(property as RawSchema)]),
      );
    case 'items':
    case 'additionalProperties':
      return isJsonObject(value) ? expanded(value as RawSchema) : value;
    default:
      return value;
  }
}

/** The schemas of a custom resource and its list (D7). */
function customSchemas(resource: Resource): [string, Json][] {
  const { group, version, kind, listKind } = resource;
  const extensions = (name: string): JsonObject => ({
    'x-kubernetes-group-version-kind': [{ group, kind: name, version }],
    ...selectableFields(resource),
  });
  const name = schemaNameOf(resource);
  const object = { ...published(resource.schema, true), ...extensions(kind) };
  const list: JsonObject = {
    description: `${listKind} is a list of ${kind}`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string' },
      items: { type: 'array', items: { $ref: `${REFERENCE}${name}` } },
      kind: { type: 'string' },
      metadata: { allOf: [{ $ref: `${REFERENCE}${META}ListMeta` }] },
    },
    ...extensions(listKind),
  };
  return [
    [name, object],
    [schemaNameOf({ group, version, kind: listKind }), list],
  ];
}

function selectableFields({ strategy }: Resource): JsonObject {
  const fields = Object.keys(strategy.selectableFields ?? {}).filter((field) => !field.startsWith('metadata.'));
  if (fields.length === 0) return {};
  return { 'x-kubernetes-selectable-fields': fields.map((fieldPath) => ({ fieldPath })) };
}

/** The schema of a custom resource as its definition has it, with what every object has. */
function published(schema: Schema, isWhole: boolean): JsonObject {
  const { properties, items, additionalProperties, ...rest } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true;
  const isObject = isWhole || isEmbedded;
  const node = cloneJson(rest as JsonObject);
  if (items !== undefined) node['items'] = published(items, false);
  if (additionalProperties !== undefined) {
    node['additionalProperties'] =
      typeof additionalProperties === 'boolean' ? additionalProperties : published(additionalProperties, false);
  }
  if (properties !== undefined || isObject) node['properties'] = publishedProperties(properties ?? {}, isObject);
  if (isEmbedded) node['required'] = [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])];
  if (isIntOrString(schema)) node['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
  return node;
}

function publishedProperties(properties: Readonly<Record<string, Schema>>, isObject: boolean): JsonObject {
  const all: JsonObject = {};
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject || !IMPLICIT_FIELDS.includes(name)) setKey(all, name, published(property, false));
  }
  return isObject ? { ...all, ...implicitProperties() } : all;
}

/** Marked as such, without saying so in the standard way. */
const isIntOrString = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true && schema.anyOf === undefined && schema.allOf === undefined;

const IMPLICIT_FIELDS = ['apiVersion', 'kind', 'metadata'];

const implicitProperties = (): JsonObject => ({
  apiVersion: { description: 'Version of the schema that this object follows.', type: 'string' },
  kind: { description: 'Kind of this object, in CamelCase.', type: 'string' },
  metadata: {
    description: "Standard object's metadata.",
    allOf: [{ $ref: `${REFERENCE}${META}ObjectMeta` }],
  },
});
