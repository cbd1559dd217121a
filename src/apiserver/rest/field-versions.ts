import { isJsonObject, type JsonObject } from '../../object/json.ts';
import type { Versions } from '../../object/merge/versions.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { textOf } from './object-meta.ts';
import type { Scope } from './services.ts';

/** Objects as they look in other versions, by object and version. */
export type Views = ReadonlyMap<JsonObject, ReadonlyMap<string, JsonObject>>;

const NO_VIEWS: Views = new Map();

/** How ownership recorded in one version is compared in another (§13.6); nothing for the usual single version. */
export function fieldVersions(
  { registry, resource }: Scope,
  views: Views = NO_VIEWS,
): { readonly versions?: Versions } {
  const served = registry.versionsOf(resource.prefix);
  if (served.length < 2) return {};
  const find = (apiVersion: string) => served.find((version) => apiVersionOf(version) === apiVersion);
  return {
    versions: {
      shareResetFields: !resource.isCustom,
      schemaOf: (apiVersion) => find(apiVersion)?.schema,
      // Without a view of it, fields keep their names, as under every conversion that asks nobody.
      convert: (object, apiVersion) =>
        find(apiVersion) === undefined
          ? undefined
          : (views.get(object)?.get(apiVersion) ?? { ...object, apiVersion }),
    },
  };
}

/**
 * Converts objects to every version in which somebody owns fields of `owned`. Only custom resources may need a webhook
 * for it, so it is done before ownership is worked out, which cannot wait.
 */
export async function viewsOf(scope: Scope, owned: JsonObject, objects: readonly JsonObject[]): Promise<Views> {
  const { resource, registry, codec } = scope;
  const versions = otherVersions(owned, apiVersionOf(resource));
  if (!resource.isCustom || versions.length === 0) return NO_VIEWS;
  const views = new Map(objects.map((object) => [object, new Map<string, JsonObject>()]));
  for (const apiVersion of versions) {
    const target = registry.versionsOf(resource.prefix).find((version) => apiVersionOf(version) === apiVersion);
    if (target === undefined) continue;
    const converting = codec.convert(objects, target);
    // A conversion that asks nobody renames nothing.
    if (!(converting instanceof Promise)) return NO_VIEWS;
    const converted = await converting;
    objects.forEach((object, index) => {
      const view = converted[index];
      if (view !== undefined) views.get(object)?.set(apiVersion, view);
    });
  }
  return views;
}

function otherVersions(object: JsonObject, own: string): readonly string[] {
  const entries = metadataOf(object)['managedFields'];
  if (!Array.isArray(entries)) return [];
  const versions = entries.filter(isJsonObject).map((entry) => textOf(entry['apiVersion']));
  return [...new Set(versions)].filter((version) => version !== own);
}
