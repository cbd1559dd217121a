import { isJsonObject, type JsonObject } from '../../object/json.ts';
import { ConversionProblem, TypedProblem } from '../../object/merge/managed-fields.ts';
import { objectOwnership } from '../../object/merge/typing.ts';
import { validateTyped } from '../../object/merge/validate.ts';
import type { Versions } from '../../object/merge/versions.ts';
import { customResources } from '../crd/custom-resource.ts';
import { apiVersionOf, type Resource } from '../registry/resource.ts';
import { keyOf, type Scope } from './services.ts';
import type { Views } from './version-views.ts';

/** How ownership recorded in one version is compared in another (§13.6); nothing for the usual single version. */
export function fieldVersions(scope: Scope, views?: Views): { readonly versions?: Versions } {
  const { registry, resource } = scope;
  if (resource.isCustom) return { versions: customVersions(scope, views) };
  const served = registry.versionsOf(resource.prefix);
  if (served.length < 2) return {};
  const find = (apiVersion: string) => served.find((version) => apiVersionOf(version) === apiVersion);
  return {
    versions: {
      shareResetFields: true,
      schemaOf: (apiVersion) => find(apiVersion)?.schema,
      convert: (object, apiVersion) => (find(apiVersion) === undefined ? undefined : { ...object, apiVersion }),
    },
  };
}

const customVersions = (scope: Scope, views: Views | undefined): Versions => ({
  shareResetFields: false,
  schemaOf: (apiVersion) => customVersion(scope, apiVersion).schema,
  convert: (object, apiVersion) => {
    const to = customVersion(scope, apiVersion);
    // Without a view of it, fields keep their names, as under every conversion that asks nobody.
    const view = views?.of(object, to) ?? { ...object, apiVersion };
    requireFit(view, to);
    return view;
  },
});

/** Nobody pruned what a conversion leaves. If it does not fit its version, that is not the fault of the request (S8). */
function requireFit(view: JsonObject, to: Resource): void {
  try {
    validateTyped(view, objectOwnership(to.schema));
  } catch (error) {
    throw error instanceof TypedProblem ? new ConversionProblem(error.message) : error;
  }
}

/** A version that the definition of a custom resource has, served or not. Others are an error, as upstream. */
function customVersion(scope: Scope, apiVersion: string): Resource {
  const { resource, registry } = scope;
  if (apiVersion === apiVersionOf(resource)) return resource;
  const isWanted = (version: Resource): boolean => apiVersionOf(version) === apiVersion;
  const found = registry.versionsOf(resource.prefix).find(isWanted) ?? definedVersions(scope).find(isWanted);
  if (found !== undefined) return found;
  throw new ConversionProblem(`request to convert CR to an invalid group/version: ${apiVersion}`);
}

const defined = new WeakMap<JsonObject, readonly Resource[]>();

function definedVersions({ resource, registry, store, codec }: Scope): readonly Resource[] {
  const definitions = registry.findKind('apiextensions.k8s.io', 'v1', 'CustomResourceDefinition');
  if (definitions === undefined) return [];
  const entry = store.head(keyOf(definitions, '', `${resource.plural}.${resource.group}`));
  if (entry === undefined) return [];
  const crd = codec.stored(entry, definitions);
  let versions = defined.get(crd);
  if (versions === undefined) {
    versions = customResources(servingAll(crd));
    defined.set(crd, versions);
  }
  return versions;
}

function servingAll(crd: JsonObject): JsonObject {
  const spec = isJsonObject(crd['spec']) ? crd['spec'] : {};
  const versions = Array.isArray(spec['versions']) ? spec['versions'].filter(isJsonObject) : [];
  return { ...crd, spec: { ...spec, versions: versions.map((version) => ({ ...version, served: true })) } };
}
