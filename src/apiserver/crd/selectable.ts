import type { JsonObject } from '../../object/json.ts';
import { compileJsonPath } from '../../object/json-path.ts';
import { goPlain } from '../../object/validation/go-text.ts';

/** The values of selectable fields, by the name a field selector uses: `spec.color`. */
export function selectableValues(
  jsonPaths: readonly string[],
): Readonly<Record<string, (object: JsonObject) => string>> {
  const values: Record<string, (object: JsonObject) => string> = {};
  for (const jsonPath of jsonPaths) {
    const path = compileJsonPath(jsonPath);
    values[jsonPath.replace(/^\./, '')] = (object) => {
      const value = path?.first(object) ?? null;
      return value === null ? '' : goPlain(value);
    };
  }
  return values;
}
