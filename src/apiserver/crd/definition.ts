import type { Schema } from '../../api/schema/structural.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';

/** The names of spec and of status.acceptedNames. */
export interface DefinitionNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

export interface Scale {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string | undefined;
}

export interface Subresources {
  readonly hasStatus: boolean;
  readonly scale: Scale | undefined;
}

export interface DefinitionVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStorage: boolean;
  readonly isDeprecated: boolean;
  readonly deprecationWarning: string | undefined;
  /** spec.versions[].schema.openAPIV3Schema as it is written. */
  readonly schema: Schema | undefined;
  readonly subresources: Subresources | undefined;
  readonly columns: readonly PrinterColumn[];
  /** JSONPaths such as `.spec.color`. */
  readonly selectableFields: readonly string[];
  readonly raw: JsonObject;
}

export interface Conversion {
  readonly strategy: string;
  readonly clientConfig: JsonObject | undefined;
  readonly reviewVersions: readonly string[];
}

/** A CustomResourceDefinition with its fields where the code needs them. Missing fields are empty. */
export interface Definition {
  readonly name: string;
  readonly annotations: JsonObject;
  readonly group: string;
  readonly scope: string;
  readonly names: DefinitionNames;
  readonly versions: readonly DefinitionVersion[];
  readonly conversion: Conversion | undefined;
  readonly preservesUnknown: boolean;
  readonly acceptedNames: DefinitionNames;
  readonly storedVersions: readonly string[];
  readonly conditions: readonly JsonObject[];
}

export const textAt = (object: JsonObject, key: string): string => {
  const value = getKey(object, key);
  return typeof value === 'string' ? value : '';
};

export const objectAt = (object: JsonObject, key: string): JsonObject => optionalObjectAt(object, key) ?? {};

export function optionalObjectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = getKey(object, key);
  return isJsonObject(value) ? value : undefined;
}

export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = getKey(object, key);
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsAt(object: JsonObject, key: string): readonly string[] {
  const value = getKey(object, key);
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

const parsed = new WeakMap<JsonObject, Definition>();

/** The view of a CRD; made once per object, which must not change afterwards. */
export function definitionOf(crd: JsonObject): Definition {
  let definition = parsed.get(crd);
  if (definition === undefined) {
    definition = parse(crd);
    parsed.set(crd, definition);
  }
  return definition;
}

/** Like `definitionOf`, for an object that may still change. */
export function parse(crd: JsonObject): Definition {
  const metadata = objectAt(crd, 'metadata');
  const spec = objectAt(crd, 'spec');
  const status = objectAt(crd, 'status');
  return {
    name: textAt(metadata, 'name'),
    annotations: objectAt(metadata, 'annotations'),
    group: textAt(spec, 'group'),
    scope: textAt(spec, 'scope'),
    names: namesOf(objectAt(spec, 'names')),
    versions: objectsAt(spec, 'versions').map(versionOf),
    conversion: conversionOf(optionalObjectAt(spec, 'conversion')),
    preservesUnknown: getKey(spec, 'preserveUnknownFields') === true,
    acceptedNames: namesOf(objectAt(status, 'acceptedNames')),
    storedVersions: textsAt(status, 'storedVersions'),
    conditions: objectsAt(status, 'conditions'),
  };
}

const namesOf = (names: JsonObject): DefinitionNames => ({
  plural: textAt(names, 'plural'),
  singular: textAt(names, 'singular'),
  kind: textAt(names, 'kind'),
  listKind: textAt(names, 'listKind'),
  shortNames: textsAt(names, 'shortNames'),
  categories: textsAt(names, 'categories'),
});

function versionOf(raw: JsonObject): DefinitionVersion {
  const subresources = optionalObjectAt(raw, 'subresources');
  const warning = getKey(raw, 'deprecationWarning');
  return {
    name: textAt(raw, 'name'),
    isServed: getKey(raw, 'served') === true,
    isStorage: getKey(raw, 'storage') === true,
    isDeprecated: getKey(raw, 'deprecated') === true,
    deprecationWarning: typeof warning === 'string' ? warning : undefined,
    schema: schemaOf(getKey(objectAt(raw, 'schema'), 'openAPIV3Schema')),
    subresources: subresources === undefined ? undefined : subresourcesOf(subresources),
    columns: objectsAt(raw, 'additionalPrinterColumns').map(columnOf),
    selectableFields: objectsAt(raw, 'selectableFields').map((field) => textAt(field, 'jsonPath')),
    raw,
  };
}

/** The decoder has checked that the node is a JSONSchemaProps; rules beyond that are for crd-validation. */
const schemaOf = (value: Json | undefined): Schema | undefined =>
  isJsonObject(value) ? (value as unknown as Schema) : undefined;

function subresourcesOf(raw: JsonObject): Subresources {
  const scale = optionalObjectAt(raw, 'scale');
  const selector = scale === undefined ? undefined : getKey(scale, 'labelSelectorPath');
  return {
    hasStatus: optionalObjectAt(raw, 'status') !== undefined,
    scale: scale && {
      specReplicasPath: textAt(scale, 'specReplicasPath'),
      statusReplicasPath: textAt(scale, 'statusReplicasPath'),
      labelSelectorPath: typeof selector === 'string' ? selector : undefined,
    },
  };
}

const columnOf = (raw: JsonObject): PrinterColumn => ({
  name: textAt(raw, 'name'),
  type: textAt(raw, 'type'),
  format: textAt(raw, 'format'),
  description: textAt(raw, 'description'),
  priority: Number(getKey(raw, 'priority') ?? 0),
  jsonPath: textAt(raw, 'jsonPath'),
});

function conversionOf(raw: JsonObject | undefined): Conversion | undefined {
  if (raw === undefined) return undefined;
  const webhook = objectAt(raw, 'webhook');
  return {
    strategy: textAt(raw, 'strategy'),
    clientConfig: optionalObjectAt(webhook, 'clientConfig'),
    reviewVersions: textsAt(webhook, 'conversionReviewVersions'),
  };
}

/** Whether a condition of the status is True. */
export const isConditionTrue = ({ conditions }: Definition, type: string): boolean =>
  conditions.some((condition) => condition['type'] === type && condition['status'] === 'True');

export const storageVersionOf = ({ versions }: Definition): string | undefined =>
  versions.find(({ isStorage }) => isStorage)?.name;
