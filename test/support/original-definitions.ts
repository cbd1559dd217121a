import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Schema } from '../../src/api/schema/structural.ts';
import { fieldPath } from '../../src/api/schema/visit.ts';
import { isJsonObject, type JsonObject } from '../../src/object/json.ts';
import { parseYaml } from '../../src/object/yaml.ts';

/** Definitions as other projects publish them; test data that is not part of the tree. */
const CORPUS = join(import.meta.dirname, '../../../shared/crds');

/** What is read of a CustomResourceDefinition. */
export interface Definition {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: JsonObject;
    readonly versions: readonly DefinitionVersion[];
    readonly conversion?: JsonObject;
  };
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
  readonly subresources?: JsonObject;
  readonly additionalPrinterColumns?: readonly JsonObject[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

export const asDefinition = (crd: object): Definition => crd as unknown as Definition;

/** Why tests that need the originals of a project cannot run here; false when they can. */
export function withoutOriginals(project: string): string | false {
  const folder = join(CORPUS, project);
  return existsSync(folder) ? false : `${folder} is not there`;
}

/** By name; empty when they are not there. */
export const originals = (project: string): ReadonlyMap<string, Definition> =>
  new Map(
    globSync('*.yaml', { cwd: join(CORPUS, project) })
      .map((file) => parseYaml(readFileSync(join(CORPUS, project, file), 'utf8')))
      .filter(isJsonObject)
      .map(asDefinition)
      .map((crd) => [crd.metadata.name, crd]),
  );

export const versionOf = ({ spec }: Definition, name: string): DefinitionVersion | undefined =>
  spec.versions.find((version) => version.name === name);

export const schemaOf = (crd: Definition, version: string): Schema =>
  versionOf(crd, version)?.schema.openAPIV3Schema ?? {};

/** Without what people read. */
const columns = ({ additionalPrinterColumns = [] }: DefinitionVersion) =>
  additionalPrinterColumns.map(({ name, type, jsonPath, priority = 0 }) => ({ name, type, jsonPath, priority }));

/** Everything but schemas and words, of the versions given. */
export const outline = ({ metadata: { name }, spec }: Definition, versions: readonly string[]) => ({
  name,
  group: spec.group,
  scope: spec.scope,
  names: spec.names,
  versions: spec.versions
    .filter((version) => versions.includes(version.name))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((version) => ({
      name: version.name,
      served: version.served,
      storage: version.storage,
      isDeprecated: version.deprecated ?? false,
      subresources: version.subresources ?? {},
      columns: columns(version),
    })),
});

type Key = keyof Schema;

/** What decides how a field is read and merged. */
const FORM: readonly Key[] = [
  'type',
  'nullable',
  'enum',
  'default',
  'minimum',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
];

/** The same, and what decides which values are taken. */
export const FORM_AND_BOUNDS: readonly Key[] = [
  ...FORM,
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'minProperties',
  'pattern',
];

interface Comparison {
  readonly keys?: readonly Key[];
  readonly path?: string;
}

/** Where a field that ours names is another one in the original. */
export function differences(
  ours: Schema,
  original: Schema,
  { keys = FORM, path = '' }: Comparison = {},
): readonly string[] {
  const own = keys
    .filter((key) => JSON.stringify(ours[key]) !== JSON.stringify(original[key]))
    .map((key) => `${path}: ${key} is ${JSON.stringify(ours[key])}, not ${JSON.stringify(original[key])}`);
  const fields = Object.entries(ours.properties ?? {}).flatMap(([name, field]) => {
    const [at, there] = [fieldPath(path, name), original.properties?.[name]];
    return there === undefined ? [`${at}: is not in the original`] : differences(field, there, { keys, path: at });
  });
  const items =
    ours.items === undefined ? [] : differences(ours.items, original.items ?? {}, { keys, path: `${path}[]` });
  return [...own, ...requiredDifferences(ours, original, path), ...fields, ...items];
}

/** What the original requires and ours does not name is not asked for: everybody may leave it out here. */
function requiredDifferences(ours: Schema, original: Schema, path: string): readonly string[] {
  const want = (original.required ?? []).filter((name) => ours.properties?.[name] !== undefined).toSorted();
  const got = ours.required ?? [];
  return want.join() === got.join() ? [] : [`${path}: requires ${got.join()}, not ${want.join()}`];
}

/** Fields of the original that ours does not have. */
export function missingFields(ours: Schema, original: Schema, path = ''): readonly string[] {
  const fields = Object.entries(original.properties ?? {}).flatMap(([name, field]) => {
    const [at, here] = [fieldPath(path, name), ours.properties?.[name]];
    return here === undefined ? [at] : missingFields(here, field, at);
  });
  return [
    ...fields,
    ...(original.items === undefined ? [] : missingFields(ours.items ?? {}, original.items, `${path}[]`)),
  ];
}

/** Objects of a schema that would drop what they do not name. Of the metadata the server takes care itself. */
export function closedObjects(schema: Schema, path = ''): readonly string[] {
  if (path === 'metadata') return [];
  const { properties = {}, items, type, additionalProperties } = schema;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties !== undefined;
  return [
    ...(type === 'object' && !isOpen ? [path] : []),
    ...Object.entries(properties).flatMap(([name, field]) => closedObjects(field, fieldPath(path, name))),
    ...(items === undefined ? [] : closedObjects(items, `${path}[]`)),
  ];
}
