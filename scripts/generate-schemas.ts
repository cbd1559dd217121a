// The schemas of the built-in kinds: the OpenAPI documents of the real server without prose.
import { shortName, tableOf } from '../src/apiserver/builtin-data/schema-name.ts';
import { isJsonObject, type Json, type JsonObject } from '../src/object/json.ts';

/** Table name → type name → schema. */
export type SchemaTables = ReadonlyMap<string, ReadonlyMap<string, Json>>;

const REFERENCE = '#/components/schemas/';
/** Each document lists its own group version for them. */
const TYPES_OF_EVERY_GROUP = ['meta.v1.DeleteOptions', 'meta.v1.WatchEvent'];

/** Every type that a document describes is in the table of its package, except those of kinds that are not served. */
export function schemaTables(documents: readonly JsonObject[]): SchemaTables {
  const tables = new Map<string, Map<string, Json>>();
  for (const [long, schema] of documents.flatMap(componentsOf)) {
    const name = shortName(long);
    const table = tables.get(tableOf(name)) ?? new Map<string, Json>();
    const compacted = compact(schema);
    if (TYPES_OF_EVERY_GROUP.includes(name)) delete compacted['x-kubernetes-group-version-kind'];
    tables.set(tableOf(name), table.set(name, compacted));
  }
  return tables;
}

function componentsOf(document: JsonObject): [string, Json][] {
  const components = document['components'];
  const schemas = isJsonObject(components) ? components['schemas'] : undefined;
  return isJsonObject(schemas) ? Object.entries(schemas) : [];
}

/**
 * One node without description. A reference becomes the short name of its target; `allOf` with a single reference, which is how
 * a reference with siblings is written, becomes `allOf` with that name.
 */
function compact(schema: Json): JsonObject {
  if (!isJsonObject(schema)) throw new Error(`unexpected schema: ${JSON.stringify(schema)}`);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key !== 'description') result[key] = compactMember(key, value);
  }
  return result;
}

function compactMember(key: string, value: Json): Json {
  switch (key) {
    case '$ref':
      return referenced(value);
    case 'allOf':
      return Array.isArray(value) ? onlyReference(value) : value;
    case 'oneOf':
    case 'anyOf':
      return Array.isArray(value) ? value.map(compact) : value;
    case 'properties':
      return isJsonObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, property]) => [name, compact(property)]))
        : value;
    case 'items':
    case 'additionalProperties':
      return compact(value);
    default:
      return value;
  }
}

function onlyReference(parts: readonly Json[]): Json {
  const [part] = parts;
  if (parts.length !== 1 || !isJsonObject(part)) throw new Error(`unexpected allOf: ${JSON.stringify(parts)}`);
  return referenced(part['$ref'] ?? null);
}

function referenced(reference: Json): string {
  if (typeof reference !== 'string' || !reference.startsWith(REFERENCE)) {
    throw new Error(`unexpected reference: ${JSON.stringify(reference)}`);
  }
  return shortName(reference.slice(REFERENCE.length));
}
