import type { Json, JsonObject } from '../../object/json.ts';
import { goFloat, goJson, isGoInteger } from '../../object/validation/go-text.ts';
import { parseJsonPath } from './json-path.ts';

/** The values of selectable fields, by the name a field selector uses: `spec.color`. */
export function selectableValues(
  jsonPaths: readonly string[],
): Readonly<Record<string, (object: JsonObject) => string>> {
  const values: Record<string, (object: JsonObject) => string> = {};
  for (const jsonPath of jsonPaths) {
    const path = parseJsonPath(jsonPath);
    values[jsonPath.replace(/^\./, '')] = (object) => textOf(path?.find(object)[0]);
  }
  return values;
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return isGoInteger(value) ? String(value) : goFloat(value);
  return goJson(value);
}
