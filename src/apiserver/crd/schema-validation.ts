import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, forbidden, notSupported } from '../../object/field-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { extensionErrors } from './schema-extensions.ts';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const META_FIELDS = new Set(['metadata', 'kind', 'apiVersion']);

/** What holds at the place of a schema node. */
interface Place {
  readonly path: string;
  readonly isRoot: boolean;
  /** Inside apiVersion, kind or metadata of the object or an embedded resource. */
  readonly isInsideMeta: boolean;
  /** Why defaults are not allowed here. */
  readonly noDefaults: string | undefined;
}

/** The rules of the single nodes of a schema (15.2), apart from being structural. */
export function schemaErrors(schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, { path, isRoot: true, isInsideMeta: false, noDefaults: undefined }, errors);
  return errors;
}

/** A node may hold fields that the type of a usable schema does not have. */
const rawOf = (schema: Schema): JsonObject => schema as unknown as JsonObject;

function visit(schema: Schema, place: Place, errors: FieldError[]): void {
  const { path } = place;
  errors.push(...openApiErrors(schema, place));
  if (schema.uniqueItems === true) {
    const why = 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic';
    errors.push(forbidden(`${path}.uniqueItems`, why));
  }
  visitAdditional(schema, place, errors);
  for (const [key, child] of Object.entries(schema.properties ?? {})) {
    visit(child, propertyPlace(schema, key, place), errors);
  }
  const inside = { ...place, isRoot: false };
  if (schema.not !== undefined) visit(schema.not, { ...inside, path: `${path}.not` }, errors);
  for (const key of ['allOf', 'oneOf', 'anyOf'] as const) {
    for (const [index, branch] of (schema[key] ?? []).entries()) {
      visit(branch, { ...inside, path: `${path}.${key}[${index}]` }, errors);
    }
  }
  visitItems(schema, inside, errors);
  errors.push(...extensionErrors(schema, path));
}

function visitAdditional(schema: Schema, place: Place, errors: FieldError[]): void {
  const { additionalProperties } = schema;
  if (additionalProperties === undefined) return;
  const path = `${place.path}.additionalProperties`;
  if (Object.keys(schema.properties ?? {}).length > 0 && additionalProperties !== true) {
    errors.push(forbidden(path, 'additionalProperties and properties are mutual exclusive'));
  }
  if (typeof additionalProperties !== 'object') return;
  const noDefaults = place.isInsideMeta
    ? 'inside additionalProperties applying to object metadata'
    : place.noDefaults;
  visit(additionalProperties, { ...place, path, isRoot: false, noDefaults }, errors);
}

function propertyPlace(schema: Schema, key: string, place: Place): Place {
  const path = `${place.path}.properties[${key}]`;
  const isMeta = (place.isRoot || schema['x-kubernetes-embedded-resource'] === true) && META_FIELDS.has(key);
  return {
    path,
    isRoot: false,
    isInsideMeta: place.isInsideMeta || isMeta,
    noDefaults: isMeta && place.isRoot ? `in top-level ${key}` : place.noDefaults,
  };
}

function visitItems(schema: Schema, place: Place, errors: FieldError[]): void {
  const items: Json | undefined = rawOf(schema)['items'];
  if (Array.isArray(items)) {
    for (const [index, item] of items.filter(isJsonObject).entries()) {
      visit(item as unknown as Schema, { ...place, path: `${place.path}.items[${index}]` }, errors);
    }
  } else if (schema.items !== undefined) {
    visit(schema.items, { ...place, path: `${place.path}.items` }, errors);
  }
}

/** Parts of JSON schema that Kubernetes leaves out. */
const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

const isPresent = (value: Json | undefined): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  !(isJsonObject(value) && Object.keys(value).length === 0);

function openApiErrors(schema: Schema, { path, noDefaults, isInsideMeta }: Place): readonly FieldError[] {
  const errors: FieldError[] = [...typeErrors(schema.type ?? '', path)];
  const raw = rawOf(schema);
  if (noDefaults !== undefined && isPresent(schema.default)) {
    errors.push(forbidden(`${path}.default`, `must not be set ${noDefaults}`));
  }
  for (const key of UNSUPPORTED) {
    if (isPresent(raw[key])) errors.push(forbidden(`${path}.${key}`, `${key} is not supported`));
  }
  if (Array.isArray(raw['items'])) {
    errors.push(forbidden(`${path}.items`, 'items must be a schema object and not an array'));
  }
  if (isInsideMeta && schema['x-kubernetes-embedded-resource'] === true) {
    errors.push(forbidden(`${path}.x-kubernetes-embedded-resource`, 'must not be used inside of resource meta'));
  }
  return errors;
}

function typeErrors(type: string, path: string): readonly FieldError[] {
  if (type === '' || TYPES.includes(type)) return [];
  const unknown = notSupported(`${path}.type`, type, TYPES);
  if (type !== 'null') return [unknown];
  return [unknown, forbidden(`${path}.type`, 'type cannot be set to null, use nullable as an alternative')];
}

/** Why a schema cannot be looked at as a structural one at all; undefined when it can. */
export function unsupportedPart(schema: Schema): string | undefined {
  const raw = rawOf(schema);
  for (const key of [
    'id',
    '$schema',
    '$ref',
    'patternProperties',
    'dependencies',
    'additionalItems',
    'definitions',
  ]) {
    if (isPresent(raw[key])) return `OpenAPIV3Schema '${key.replace('$schema', 'schema')}' is not supported`;
  }
  if (Array.isArray(raw['items'])) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  if (raw['x-kubernetes-preserve-unknown-fields'] === false) {
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  }
  for (const child of childrenOf(schema)) {
    const found = unsupportedPart(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** All nodes directly below, branches included. */
export function childrenOf(schema: Schema): readonly Schema[] {
  const { items, additionalProperties, not } = schema;
  return [
    ...(items !== undefined && !Array.isArray(items) ? [items] : []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(not === undefined ? [] : [not]),
    ...Object.values(schema.properties ?? {}),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ];
}

/** Whether any node satisfies a condition. */
export const someNode = (schema: Schema, isWanted: (node: Schema) => boolean): boolean =>
  isWanted(schema) || childrenOf(schema).some((child) => someNode(child, isWanted));
