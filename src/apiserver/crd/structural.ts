import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, forbidden, invalid, required } from '../../object/field-error.ts';
import { patternOf } from '../../object/validation/re2.ts';
import { completenessErrors } from './structural-completeness.ts';

type Level = 'root' | 'item' | 'field';

const at = (path: string, ...parts: readonly string[]): string => [path, ...parts].join('.');
const property = (path: string, key: string): string => `${path}.properties[${key}]`;

/** Why a schema is not structural (15.2); `path` is where it is. Its unsupported fields must have been ruled out. */
export function structuralErrors(schema: Schema, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  visit(schema, 'root', path, errors);
  completenessErrors(schema, path, errors);
  return errors;
}

function visit(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  if (schema.type === 'array' && schema.items === undefined)
    errors.push(required(at(path, 'items'), 'must be specified'));
  if (schema.items !== undefined) visit(schema.items, 'item', at(path, 'items'), errors);
  for (const [key, child] of Object.entries(schema.properties ?? {}))
    visit(child, 'field', property(path, key), errors);
  if (schema.additionalProperties !== undefined && level === 'root') {
    errors.push(forbidden(at(path, 'additionalProperties'), 'must not be used at the root'));
  }
  if (typeof schema.additionalProperties === 'object') {
    visit(schema.additionalProperties, 'field', at(path, 'additionalProperties'), errors);
  }
  extensionErrors(schema, path, errors);
  validationErrors(schema, path, { skipsAnyOf: isIntOrString(schema.anyOf), isNested: false, errors });
  typeErrors(schema, level, path, errors);
  metadataErrors(schema, level, path, errors);
}

function extensionErrors(schema: Schema, path: string, errors: FieldError[]): void {
  if (schema['x-kubernetes-int-or-string'] !== true) return;
  for (const key of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const) {
    if (schema[key] === true) {
      errors.push(invalid(at(path, key), true, 'must be false if x-kubernetes-int-or-string is true'));
    }
  }
}

const EMPTY_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const isEmbedded = (schema: Schema): boolean => schema['x-kubernetes-embedded-resource'] === true;

const mayLackType = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true || schema['x-kubernetes-preserve-unknown-fields'] === true;

function typeErrors(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  const type = schema.type ?? '';
  if (isEmbedded(schema) && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(at(path, 'type'), why) : invalid(at(path, 'type'), type, why));
  } else if (type === '' && !mayLackType(schema)) {
    errors.push(required(at(path, 'type'), EMPTY_TYPE[level]));
  }
  if (isEmbedded(schema) && schema.additionalProperties !== undefined) {
    const why = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(at(path, 'additionalProperties'), why));
  }
  if (level === 'root' && type !== '' && type !== 'object') {
    errors.push(invalid(at(path, 'type'), type, 'must be object at the root'));
  }
}

/** What a resource, the object itself or an embedded one, may say about its metadata. */
function metadataErrors(schema: Schema, level: Level, path: string, errors: FieldError[]): void {
  if (level !== 'root' && !isEmbedded(schema)) return;
  const wrongType = (key: string, wanted: string): void => {
    const type = childOf(schema, key)?.type ?? '';
    if (childOf(schema, key) === undefined || type === wanted) return;
    errors.push(invalid(at(property(path, key), 'type'), type, `must be ${wanted}`));
  };
  wrongType('kind', 'string');
  wrongType('apiVersion', 'string');
  wrongType('metadata', 'object');
  if (level === 'root') rootMetadataErrors(schema, path, errors);
  if (isEmbedded(schema)) embeddedPropertyErrors(schema, path, errors);
}

function rootMetadataErrors(schema: Schema, path: string, errors: FieldError[]): void {
  const metadata = childOf(schema, 'metadata');
  if (metadata === undefined || !saysMoreThanNames(metadata)) return;
  const why = 'must not specify anything other than name and generateName, but metadata is implicitly specified';
  errors.push(forbidden(property(path, 'metadata'), why));
}

function embeddedPropertyErrors(schema: Schema, path: string, errors: FieldError[]): void {
  const hasProperties = Object.keys(schema.properties ?? {}).length > 0;
  if (hasProperties || schema['x-kubernetes-preserve-unknown-fields'] === true) return;
  const why =
    'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
  errors.push(required(at(path, 'properties'), why));
}

const childOf = ({ properties }: Schema, key: string): Schema | undefined =>
  properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;

const ALLOWED_IN_METADATA = new Set(['name', 'generateName']);

function saysMoreThanNames(metadata: Schema): boolean {
  if (Object.keys(metadata.properties ?? {}).some((key) => !ALLOWED_IN_METADATA.has(key))) return true;
  return Object.entries(metadata).some(
    ([key, value]) =>
      key !== 'type' &&
      key !== 'default' &&
      key !== 'properties' &&
      value !== '' &&
      value !== false &&
      value !== null,
  );
}

interface Nested {
  /** The anyOf is the int-or-string pattern, whose types are allowed. */
  readonly skipsAnyOf: boolean;
  /** Already inside a branch, where the pattern counts no more as first member of allOf. */
  readonly isNested?: boolean;
  readonly errors: FieldError[];
}

/** The two ways controller-gen writes int-or-string: anyOf integer, string; also as first member of allOf. */
function isIntOrString(anyOf: readonly Schema[] | undefined): boolean {
  if (anyOf?.length !== 2) return false;
  const types = ['integer', 'string'];
  return anyOf.every((branch, index) => branch.type === types[index] && Object.keys(branch).length === 1);
}

function validationErrors(schema: Schema, path: string, { skipsAnyOf, isNested = true, errors }: Nested): void {
  if (!skipsAnyOf) nestedList(schema.anyOf, at(path, 'anyOf'), errors);
  const skipsFirst = !isNested && isIntOrString(schema.allOf?.[0]?.anyOf);
  for (const [index, branch] of (schema.allOf ?? []).entries()) {
    nestedErrors(branch, `${path}.allOf[${index}]`, { skipsAnyOf: skipsFirst && index === 0, errors });
  }
  nestedList(schema.oneOf, at(path, 'oneOf'), errors);
  if (schema.not !== undefined) nestedErrors(schema.not, at(path, 'not'), { skipsAnyOf: false, errors });
  if (!schema.pattern) return;
  const { problem } = patternOf(schema.pattern);
  if (problem === undefined) return;
  const why = `must be a valid regular expression, but isn't: ${problem}`;
  errors.push(invalid(at(path, 'pattern'), schema.pattern, why));
}

function nestedList(branches: readonly Schema[] | undefined, path: string, errors: FieldError[]): void {
  for (const [index, branch] of (branches ?? []).entries()) {
    nestedErrors(branch, `${path}[${index}]`, { skipsAnyOf: false, errors });
  }
}

/** What a branch of allOf, anyOf, oneOf or not may not say, and why. */
const FORBIDDEN: readonly (readonly [key: keyof Schema, detail: string])[] = [
  ['type', 'must be empty to be structural'],
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

const isSet = (value: Schema[keyof Schema]): boolean =>
  value !== undefined &&
  value !== null &&
  value !== '' &&
  value !== false &&
  !(Array.isArray(value) && value.length === 0);

function nestedErrors(schema: Schema, path: string, nested: Nested): void {
  const { errors } = nested;
  validationErrors(schema, path, nested);
  const inner = { skipsAnyOf: false, errors };
  if (schema.items !== undefined) nestedErrors(schema.items, at(path, 'items'), inner);
  for (const [key, child] of Object.entries(schema.properties ?? {}))
    nestedErrors(child, property(path, key), inner);
  for (const [key, detail] of FORBIDDEN) if (isSet(schema[key])) errors.push(forbidden(at(path, key), detail));
  const { additionalProperties } = schema;
  if (additionalProperties !== undefined && additionalProperties !== false) {
    errors.push(forbidden(at(path, 'additionalProperties'), 'must be undefined to be structural'));
  }
  if (childOf(schema, 'metadata') !== undefined) {
    errors.push(forbidden(property(path, 'metadata'), 'must not be specified in a nested context'));
  }
}
