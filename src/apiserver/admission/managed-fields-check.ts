import { isJsonObject, type Json } from '../../object/json.ts';
import { parseFields } from '../../object/merge/fields-v1.ts';
import { textOf } from '../rest/object-meta.ts';

const FIELDS_TYPE = 'FieldsV1';

/** What is wrong with managedFields as a webhook left them; undefined when they can be used. */
export function managedFieldsProblem(managedFields: Json | undefined): string | undefined {
  if (!Array.isArray(managedFields)) return undefined;
  for (const [index, entry] of managedFields.entries()) {
    const problem = isJsonObject(entry) ? entryProblem(entry, index) : undefined;
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function entryProblem(entry: Readonly<Record<string, Json>>, index: number): string | undefined {
  const operation = textOf(entry['operation']);
  const fieldsType = textOf(entry['fieldsType']);
  if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
  if (fieldsType === '') return `missing fieldsType in managed fields entry ${index}`;
  if (fieldsType !== FIELDS_TYPE) return `invalid fieldsType "${fieldsType}" in managed fields entry ${index}`;
  try {
    parseFields(entry['fieldsV1'] ?? {});
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
