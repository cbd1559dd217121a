import type { Schema } from '../../api/schema/structural.ts';
import { escapeName } from './escape.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  objectType,
  STRING,
  TIMESTAMP,
} from './type.ts';

const TEXT: Schema = { type: 'string' };
const META: Schema = { type: 'object', properties: { name: TEXT, generateName: TEXT } };
const IDENTITY: Readonly<Record<string, Schema>> = { apiVersion: TEXT, kind: TEXT, metadata: META };

const withIdentities = new WeakMap<Schema, Schema>();

/** A resource as its rules see it: what every resource has replaces what the schema may say about it. */
export function asResource(schema: Schema): Schema {
  const known = withIdentities.get(schema);
  if (known !== undefined) return known;
  const metadata = schema.properties?.['metadata']?.properties;
  const hasAll = metadata?.['name']?.type === 'string' && metadata['generateName']?.type === 'string';
  const isComplete =
    hasAll && ['kind', 'apiVersion'].every((name) => schema.properties?.[name]?.type === 'string');
  const resource = isComplete ? schema : { ...schema, properties: { ...schema.properties, ...IDENTITY } };
  withIdentities.set(schema, resource);
  return resource;
}

export const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

/**
 * The type rules see at a node of a schema; `undefined` when it is hidden from them. Two objects are of the same type
 * only at the same place, so the place is part of the name.
 */
export function schemaType(schema: Schema, name: string, isResource = isEmbedded(schema)): CelType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return DYN;
  const node = isResource ? asResource(schema) : schema;
  if (node.type === 'object') return objectOrMap(node, name);
  if (node.type === 'string') return TEXT_TYPES.get(node.format ?? '') ?? STRING;
  if (node.type !== 'array') return node.type && SCALARS[node.type];
  const item = node.items && schemaType(node.items, `${name}.@idx`);
  return item && listOf(item);
}

const SCALARS: Readonly<Record<'boolean' | 'number' | 'integer', CelType>> = {
  boolean: BOOL,
  number: DOUBLE,
  integer: INT,
};

function objectOrMap(schema: Schema, name: string): CelType | undefined {
  const { additionalProperties, properties } = schema;
  if (typeof additionalProperties === 'object') {
    const value = schemaType(additionalProperties, `${name}.@elem`);
    return value && mapOf(STRING, value);
  }
  const fields = new Map<string, CelType | undefined>();
  const byIdentifier = new Map(Object.keys(properties ?? {}).map((key) => [escapeName(key), key]));
  return objectType(name, (identifier) => {
    if (fields.has(identifier)) return fields.get(identifier);
    const key = byIdentifier.get(identifier);
    const property = key === undefined ? undefined : properties?.[key];
    const type = property && schemaType(property, `${name}.${identifier}`);
    fields.set(identifier, type);
    return type;
  });
}

const TEXT_TYPES: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ['byte', BYTES],
  ['duration', DURATION],
  ['date', TIMESTAMP],
  ['date-time', TIMESTAMP],
]);
