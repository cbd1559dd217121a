import type { Json } from '../../api/json.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../api/object.ts';
import {
  type FieldSet,
  intersection,
  leaves,
  NOTHING,
  pathsOf,
  pathText,
  union,
} from '../../object/merge/field-set.ts';
import { parseFields } from '../../object/merge/fields-v1.ts';

/**
 * The fields that a manager has both applied and updated (§10.2): whoever does so cannot take a field away any more,
 * since the other half still claims it. For tests; empty is right.
 */
export function mixedOwnership(
  { metadata: { managedFields = [] } }: KubeObject,
  manager: string,
): readonly string[] {
  const ours = managedFields.filter((entry) => entry.manager === manager);
  const claimed = (operation: ManagedFieldsEntry['operation']): FieldSet =>
    ours
      .filter((entry) => entry.operation === operation)
      .map(({ fieldsV1 = {} }) => leaves(parseFields(fieldsV1 as Json)))
      .reduce(union, NOTHING);
  return [...pathsOf(intersection(claimed('Apply'), claimed('Update')))].map(pathText);
}
