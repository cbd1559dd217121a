import type { Json, JsonObject } from '../../object/json.ts';
import type { Writing } from '../../object/merge/update-managed-fields.ts';
import { shapeAsGo } from '../builtin/go-shape.ts';
import { apiVersionOf } from '../registry/resource.ts';
import { metadataOf } from '../request.ts';
import { fieldVersions, type Views } from './field-versions.ts';
import type { WriteOptions } from './options.ts';
import type { Scope } from './services.ts';

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
    ...(resource.typeName !== undefined && { empty: emptyOf(resource.typeName) }),
    ...fieldVersions(scope, views),
  };
}

const empties = new Map<string, JsonObject>();

/** A new object of a Go type, before anything is written into it. */
function emptyOf(typeName: string): JsonObject {
  let empty = empties.get(typeName);
  if (empty === undefined) {
    empty = {};
    shapeAsGo(empty, typeName);
    empties.set(typeName, empty);
  }
  return empty;
}

/** Puts ownership into an object; an empty list means that nobody tracks it. */
export function setManagedFields(object: JsonObject, managedFields: Json[]): void {
  const metadata = metadataOf(object);
  if (managedFields.length === 0) delete metadata['managedFields'];
  else metadata['managedFields'] = managedFields;
}
