import type { Schema } from '../../api/schema/structural.ts';
import type { JsonObject } from '../../object/json.ts';
import { updateManagedFields } from '../../object/merge/managed-fields.ts';
import { emptyAsGo } from '../builtin/go-shape.ts';
import { metadataOf } from '../request.ts';
import { textOf } from '../rest/object-meta.ts';
import { optionsObject, type WriteOptions } from '../rest/options.ts';
import type { AdmissionAttributes, Scope } from '../rest/services.ts';

/** Something that is created, answered and never stored: a review, a request for a token. */
export interface VirtualObject {
  readonly object: JsonObject;
  readonly options: WriteOptions;
  readonly schema: Schema;
  /** The Go type behind it: `authentication.v1.TokenRequest`. */
  readonly typeName: string;
}

/** Who set which field is noted here too. */
export function ownVirtual({ clock, info }: Scope, { object, options, schema, typeName }: VirtualObject): void {
  const managedFields = updateManagedFields({
    live: undefined,
    updated: object,
    schema,
    apiVersion: textOf(object['apiVersion']),
    manager: options.manager,
    subresource: info.subresource,
    resetFields: [],
    now: clock.now(),
    empty: emptyAsGo(typeName),
  });
  if (managedFields.length > 0) metadataOf(object)['managedFields'] = managedFields;
}

/** The object after mutating admission. */
export async function mutateVirtual(scope: Scope, virtual: VirtualObject): Promise<JsonObject> {
  return (await scope.admission.mutate(attributesOf(scope, virtual))) ?? virtual.object;
}

/** Validating admission. */
export async function validateVirtual(scope: Scope, virtual: VirtualObject): Promise<void> {
  await scope.admission.validate(attributesOf(scope, virtual));
}

const attributesOf = (scope: Scope, { object, options }: VirtualObject): AdmissionAttributes => ({
  operation: 'CREATE',
  resource: scope.resource,
  subresource: scope.info.subresource,
  namespace: scope.info.namespace,
  name: scope.info.name === '' ? textOf(metadataOf(object)['name']) : scope.info.name,
  object,
  oldObject: undefined,
  user: scope.user,
  isDryRun: options.isDryRun,
  options: optionsObject('CreateOptions', options),
  warnings: scope.warnings,
});
