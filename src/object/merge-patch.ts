import { getKey, isJsonObject, type Json, type JsonObject, setKey } from './json.ts';
import { PatchProblem } from './patch-problem.ts';
import { goKind } from './validation/go-text.ts';

/**
 * RFC 7386: members of the patch replace those of the target, null removes them, lists are replaced whole. What did
 * not change is shared with the target; neither input is written to. A patch that is no object is refused, since it
 * would replace the whole object.
 */
export function applyMergePatch(target: Json, patch: Json): Json {
  if (patch === null) throw new PatchProblem('malformed', 'Invalid JSON Patch');
  if (!isJsonObject(patch)) {
    throw new PatchProblem(
      'malformed',
      `error decoding patch: json: cannot unmarshal ${goKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return merged(target, patch);
}

function merged(target: Json | undefined, patch: JsonObject): JsonObject {
  // A spread defines members, so that a key `__proto__` stays a key.
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key] ?? null;
    if (value === null) delete result[key];
    else if (isJsonObject(value)) setKey(result, key, merged(getKey(result, key), value));
    else setKey(result, key, isJsonObject(getKey(result, key)) ? value : withoutNulls(value));
  }
  return result;
}

/**
 * Upstream goes beyond the RFC: null members of objects within a list are left out too, unless the list replaces an
 * object; null items stay.
 */
function withoutNulls(value: Json): Json {
  if (isJsonObject(value)) return merged(undefined, value);
  return Array.isArray(value) ? value.map(withoutNulls) : value;
}
