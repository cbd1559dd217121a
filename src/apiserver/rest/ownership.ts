import type { Json, JsonObject } from '../../object/json.ts';
import type { Writing } from '../../object/merge/update-managed-fields.ts';
import { emptyAsGo } from '../builtin/go-shape.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { fieldVersions } from './field-versions.ts';
import type { WriteOptions } from './options.ts';
import type { Scope } from './services.ts';
import type { Views } from './version-views.ts';

/** Who writes what, for the rules of field ownership (§13). `subresource` is empty for a create. */
export function writingOf(scope: Scope, { manager }: WriteOptions, subresource: string, views?: Views): Writing {
  const { resource, clock } = scope;
  return {
    schema: resource.schema,
    apiVersion: apiVersionOf(resource),
    manager,
    subresource,
    resetFields: resource.strategy.resetFields?.[subresource] ?? [],
    now: clock.now(),
    // Nobody comes to own what every new object of a Go type holds.
    ...(resource.typeName !== undefined && { empty: emptyAsGo(resource.typeName) }),
    ...fieldVersions(scope, views),
  };
}

/** Puts ownership into an object; an empty list means that nobody tracks it. */
export function setManagedFields(object: JsonObject, managedFields: Json[]): void {
  const metadata = metadataOf(object);
  if (managedFields.length === 0) delete metadata['managedFields'];
  else metadata['managedFields'] = managedFields;
}
