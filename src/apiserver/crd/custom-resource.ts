import type { Schema } from '../../api/schema/structural.ts';
import type { JsonObject } from '../../object/json.ts';
import { OBJECT_META } from '../../object/validation/object-meta.ts';
import { compareVersions } from '../discovery/groups.ts';
import type { Resource, Subresource } from '../registry/resource.ts';
import { customColumns } from './columns.ts';
import { customStrategy } from './custom-resource-strategy.ts';
import { type Definition, type DefinitionVersion, definitionOf, storageVersionOf } from './definition.ts';

const VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];
const TEXT: Schema = { type: 'string' };
/** A version without a schema knows no field, so everything is dropped. */
const NO_SCHEMA: Schema = { type: 'object' };

/** A custom resource with what only custom resources have. */
export interface CustomResource extends Resource {
  /** As the user wrote it; `schema` is completed for OpenAPI and field ownership. */
  readonly userSchema: Schema;
  /** X36: the text for requests to a deprecated version. */
  readonly deprecationWarning: string | undefined;
}

export const isCustomResource = (resource: Resource): resource is CustomResource => resource.isCustom;

/** One resource per served version of a definition. */
export function customResources(crd: JsonObject): readonly CustomResource[] {
  const definition = definitionOf(crd);
  return definition.versions.filter(({ isServed }) => isServed).map((version) => resourceOf(definition, version));
}

function resourceOf(definition: Definition, version: DefinitionVersion): CustomResource {
  const { group, acceptedNames, names: wanted } = definition;
  const names = acceptedNames.plural === '' ? wanted : acceptedNames;
  const userSchema = version.schema ?? NO_SCHEMA;
  const scale = version.subresources?.scale;
  const hasStatus = version.subresources?.hasStatus === true;
  const { kind } = names;
  return {
    group,
    version: version.name,
    kind,
    listKind: names.listKind,
    plural: names.plural,
    singular: names.singular,
    shortNames: names.shortNames,
    categories: names.categories,
    isNamespaced: definition.scope === 'Namespaced',
    isCustom: true,
    verbs: VERBS,
    subresources: subresourcesOf(definition, version, kind),
    prefix: `/registry/${group}/${names.plural}/`,
    storageVersion: storageVersionOf(definition) ?? version.name,
    schema: completed(userSchema),
    userSchema,
    strategy: customStrategy({
      group,
      version: version.name,
      kind,
      schema: userSchema,
      hasStatus,
      scale,
      selectableFields: version.selectableFields,
    }),
    columns: customColumns(version.columns),
    ...(scale !== undefined && {
      scale: {
        specReplicasPath: scale.specReplicasPath,
        statusReplicasPath: scale.statusReplicasPath,
        ...(scale.labelSelectorPath && { labelSelectorPath: scale.labelSelectorPath }),
      },
    }),
    deprecationWarning: deprecationWarning(definition, version),
  };
}

function subresourcesOf(
  { group }: Definition,
  { name: version, subresources }: DefinitionVersion,
  kind: string,
): ReadonlyMap<string, Subresource> {
  const verbs = SUBRESOURCE_VERBS;
  const found = new Map<string, Subresource>();
  if (subresources?.hasStatus === true) {
    found.set('status', { name: 'status', kind, group, version, verbs, type: 'status' });
  }
  if (subresources?.scale !== undefined) {
    const scale = {
      name: 'scale',
      kind: 'Scale',
      group: 'autoscaling',
      version: 'v1',
      verbs,
      type: 'scale',
    } as const;
    found.set('scale', scale);
  }
  return found;
}

/** The schema with what every object has; users may leave it out or restrict names in it. */
const completed = (schema: Schema): Schema => ({
  ...schema,
  properties: { ...schema.properties, apiVersion: TEXT, kind: TEXT, metadata: OBJECT_META },
});

/** X36: the newest version that is served and not deprecated is recommended, if it is newer. */
function deprecationWarning(definition: Definition, version: DefinitionVersion): string | undefined {
  if (!version.isDeprecated) return undefined;
  if (version.deprecationWarning !== undefined) return version.deprecationWarning;
  const { group, names, versions } = definition;
  const [newest] = versions
    .filter(
      ({ isServed, isDeprecated, name }) => isServed && !isDeprecated && compareVersions(version.name, name) > 0,
    )
    .map(({ name }) => name)
    .toSorted(compareVersions);
  const text = `${group}/${version.name} ${names.kind} is deprecated`;
  return newest === undefined ? text : `${text}; use ${group}/${newest} ${names.kind}`;
}
