import type { Schema } from '../../api/schema/structural.ts';
import { type FieldError, invalid, notSupported, required } from '../../object/field-error.ts';
import { getKey, isJsonObject, type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { dns1035LabelProblems, dnsSubdomainProblems } from '../../object/names.ts';
import { approvalErrors } from './approval.ts';
import { conversionErrors } from './conversion-validation.ts';
import {
  type Definition,
  type DefinitionNames,
  isConditionTrue,
  objectAt,
  objectsAt,
  parse,
} from './definition.ts';
import { internalVersions } from './go-internal.ts';
import { type RootSchema, rootSchemaErrors, type SchemaChecks } from './root-schema.ts';
import { someNode } from './schema-validation.ts';
import { columnErrors, deprecationErrors, scaleErrors, selectableFieldErrors } from './version-validation.ts';

/** Everything wrong with a new CustomResourceDefinition (15.2), apart from its metadata. Defaults must be set. */
export function validateCrd(crd: JsonObject, checks: SchemaChecks = {}): readonly FieldError[] {
  const definition = parse(crd);
  const name = `${definition.names.plural}.${definition.group}`;
  return [
    ...(definition.name === name
      ? []
      : [invalid('metadata.name', definition.name, 'must be spec.names.plural+"."+spec.group')]),
    ...specErrors(crd, definition, checks),
    ...statusErrors(definition),
    ...storedVersionErrors(crd, definition),
    ...approvalErrors(definition),
    ...preserveErrors(definition),
  ];
}

/** The same for an update of the main resource (X2, X5). */
export function validateCrdUpdate(
  crd: JsonObject,
  old: JsonObject,
  checks: SchemaChecks = {},
): readonly FieldError[] {
  const definition = parse(crd);
  const before = parse(old);
  return [
    ...specErrors(crd, definition, checks),
    ...immutableErrors(definition, before),
    ...statusErrors(definition),
    ...storedVersionErrors(crd, definition),
    ...approvalErrors(definition, before),
    ...(before.preservesUnknown ? [] : preserveErrors(definition)),
  ];
}

/** An update of the status alone. */
export const validateCrdStatusUpdate = (crd: JsonObject): readonly FieldError[] => statusErrors(parse(crd));

const statusErrors = ({ acceptedNames }: Definition): readonly FieldError[] =>
  nameErrors(acceptedNames, 'status.acceptedNames');

function immutableErrors(definition: Definition, before: Definition): readonly FieldError[] {
  const fixed = (value: string, old: string, field: string): readonly FieldError[] =>
    value === old ? [] : [invalid(field, value, 'field is immutable')];
  const isEstablished = isConditionTrue(before, 'Established');
  return [
    ...(isEstablished ? fixed(definition.scope, before.scope, 'spec.scope') : []),
    ...(isEstablished ? fixed(definition.names.kind, before.names.kind, 'spec.names.kind') : []),
    ...fixed(definition.group, before.group, 'spec.group'),
    ...fixed(definition.names.plural, before.names.plural, 'spec.names.plural'),
  ];
}

/** Fields that upstream moves out of the versions when all versions agree; it then reports them at their old places. */
const HOISTED = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

function hoistedFields(versions: readonly JsonObject[]): ReadonlySet<string> {
  const [first] = versions;
  if (first === undefined) return new Set();
  const value = (version: JsonObject, key: string): Json | undefined => getKey(version, key) ?? undefined;
  return new Set(
    HOISTED.filter((key) => versions.every((version) => jsonEqual(value(version, key), value(first, key)))),
  );
}

function specErrors(crd: JsonObject, definition: Definition, checks: SchemaChecks): readonly FieldError[] {
  const spec = objectAt(crd, 'spec');
  const hoisted = hoistedFields(objectsAt(spec, 'versions'));
  return [
    ...groupErrors(definition.group),
    ...enumErrors(definition.scope, 'spec.scope', ['Cluster', 'Namespaced']),
    ...missingSchemaErrors(definition),
    ...preservedDefaultErrors(definition),
    ...definition.versions.flatMap((_, index) => versionErrors(definition, index, hoisted, checks)),
    ...versionListErrors(spec, definition, hoisted),
    ...requiredNameErrors(definition.names),
    ...nameErrors(definition.names, 'spec.names'),
    ...sharedErrors(definition, hoisted, checks),
    ...conversionErrors(definition.conversion, 'spec.conversion'),
  ];
}

function groupErrors(group: string): readonly FieldError[] {
  if (group === '') return [required('spec.group')];
  const problems = dnsSubdomainProblems(group);
  if (problems.length > 0) return [invalid('spec.group', group, problems.join(','))];
  return group.includes('.') ? [] : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function enumErrors(value: string, path: string, allowed: readonly string[]): readonly FieldError[] {
  if (value === '') return [required(path)];
  return allowed.includes(value) ? [] : [notSupported(path, value, allowed)];
}

const missingSchemaErrors = ({ versions }: Definition): readonly FieldError[] =>
  versions.flatMap(({ schema }, index) =>
    schema === undefined ? [required(`spec.versions[${index}].schema.openAPIV3Schema`)] : [],
  );

function preservedDefaultErrors({ preservesUnknown, versions, conversion }: Definition): readonly FieldError[] {
  if (!preservesUnknown) return [];
  const errors: FieldError[] = [];
  if (versions.some(({ schema }) => schema !== undefined && someNode(schema, hasDefault))) {
    errors.push(
      invalid('spec.preserveUnknownFields', true, 'must be false in order to use defaults in the schema'),
    );
  }
  if (conversion !== undefined && conversion.strategy !== 'None') {
    const why = 'must be None if spec.preserveUnknownFields is true';
    errors.push(invalid('spec.conversion.strategy', conversion.strategy, why));
  }
  return errors;
}

const hasDefault = (node: Schema): boolean => node.default !== undefined && node.default !== null;

function versionErrors(
  definition: Definition,
  index: number,
  hoisted: ReadonlySet<string>,
  checks: SchemaChecks,
): readonly FieldError[] {
  const version = definition.versions[index];
  if (version === undefined) return [];
  const path = `spec.versions[${index}]`;
  const problems = dns1035LabelProblems(version.name);
  return [
    ...(problems.length === 0 ? [] : [invalid(`${path}.name`, version.name, problems.join(','))]),
    ...deprecationErrors(version, path),
    ...partErrors({ ...version, path, schemaPath: `${path}.schema` }, hoisted, checks),
  ];
}

interface Parts {
  readonly path: string;
  readonly schemaPath: string;
  readonly schema: Schema | undefined;
  readonly subresources: Definition['versions'][number]['subresources'];
  readonly columns: Definition['versions'][number]['columns'];
  readonly selectableFields: readonly string[];
}

/** The parts of a version that are not in `skipped`. */
function partErrors(parts: Parts, skipped: ReadonlySet<string>, checks: SchemaChecks): readonly FieldError[] {
  const { path, schemaPath, schema, subresources, columns, selectableFields } = parts;
  const root: RootSchema | undefined = schema && {
    schema,
    path: schemaPath,
    hasStatus: subresources?.hasStatus === true,
  };
  return [
    ...(root === undefined || skipped.has('schema') ? [] : rootSchemaErrors(root, checks)),
    ...(skipped.has('subresources') ? [] : scaleErrors(subresources?.scale, `${path}.subresources`)),
    ...(skipped.has('additionalPrinterColumns')
      ? []
      : columns.flatMap((column, index) => columnErrors(column, `${path}.additionalPrinterColumns[${index}]`))),
    ...(skipped.has('selectableFields') || schema === undefined
      ? []
      : selectableFieldErrors(selectableFields, schema, `${path}.selectableFields`)),
  ];
}

/** What all versions share, at the places upstream keeps it. */
function sharedErrors(
  definition: Definition,
  hoisted: ReadonlySet<string>,
  checks: SchemaChecks,
): readonly FieldError[] {
  const [first] = definition.versions;
  if (first === undefined) return [];
  const skipped = new Set(HOISTED.filter((key) => !hoisted.has(key)));
  const hasStatus = definition.versions.some(({ subresources }) => subresources?.hasStatus === true);
  const subresources = hasStatus ? { scale: first.subresources?.scale, hasStatus } : first.subresources;
  return partErrors({ ...first, subresources, path: 'spec', schemaPath: 'spec.validation' }, skipped, checks);
}

function versionListErrors(
  spec: JsonObject,
  { versions }: Definition,
  hoisted: ReadonlySet<string>,
): readonly FieldError[] {
  const listError = (why: string): FieldError => ({
    reason: 'FieldValueInvalid',
    field: 'spec.versions',
    message: `Invalid value: ${internalVersions(spec, hoisted)}: ${why}`,
  });
  const errors: FieldError[] = [];
  const names = versions.map(({ name }) => name);
  if (new Set(names).size < names.length) errors.push(listError('must contain unique version names'));
  if (versions.filter(({ isStorage }) => isStorage).length !== 1) {
    errors.push(listError('must have exactly one version marked as storage version'));
  }
  const [first = ''] = names;
  const problems = first === '' ? [] : dns1035LabelProblems(first);
  if (problems.length > 0) errors.push(invalid('spec.version', first, problems.join(',')));
  return errors;
}

const requiredNameErrors = (names: DefinitionNames): readonly FieldError[] =>
  (['plural', 'singular', 'kind', 'listKind'] as const).flatMap((key) =>
    names[key] === '' ? [required(`spec.names.${key}`)] : [],
  );

function nameErrors(names: DefinitionNames, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const check = (value: string, field: string, prefix = ''): void => {
    const problems = dns1035LabelProblems(prefix === '' ? value : value.toLowerCase());
    if (problems.length > 0) errors.push(invalid(`${path}.${field}`, value, `${prefix}${problems.join(',')}`));
  };
  const mixed = 'may have mixed case, but should otherwise match: ';
  if (names.plural !== '') check(names.plural, 'plural');
  if (names.singular !== '') check(names.singular, 'singular');
  if (names.kind !== '') check(names.kind, 'kind', mixed);
  if (names.listKind !== '') check(names.listKind, 'listKind', mixed);
  for (const [index, name] of names.shortNames.entries()) check(name, `shortNames[${index}]`);
  if (names.kind !== '' && names.kind === names.listKind) {
    errors.push(invalid(`${path}.listKind`, names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [index, name] of names.categories.entries()) check(name, `categories[${index}]`);
  return errors;
}

/** X5: what may still be stored must be readable. */
function storedVersionErrors(crd: JsonObject, { storedVersions, versions }: Definition): readonly FieldError[] {
  const path = 'status.storedVersions';
  const raw = isJsonObject(crd['status']) ? getKey(crd['status'], 'storedVersions') : undefined;
  if (storedVersions.length === 0) return [invalid(path, raw ?? null, 'must have at least one stored version')];
  const known = new Set(versions.map(({ name }) => name));
  const errors = versions
    .filter(({ isStorage, name }) => isStorage && !storedVersions.includes(name))
    .map(({ name }) => invalid(path, [...storedVersions], `must have the storage version ${name}`));
  for (const [index, name] of storedVersions.entries()) {
    if (known.has(name)) continue;
    const why = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(`${path}[${index}]`, name, why));
  }
  return errors;
}

function preserveErrors({ preservesUnknown }: Definition): readonly FieldError[] {
  if (!preservesUnknown) return [];
  const why =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, why)];
}
