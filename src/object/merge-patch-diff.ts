import { getKey, isJsonObject, type Json, type JsonObject, jsonEqual, setKey } from './json.ts';

/**
 * The merge patch (RFC 7386) that makes `after` of `before`; empty when they are equal. A member that is null counts as
 * absent, since such a patch cannot say null; lists are replaced whole. Members that are undefined are absent too.
 */
export function diffMergePatch(before: JsonObject, after: JsonObject): JsonObject {
  const patch: JsonObject = {};
  for (const key of Object.keys(before)) {
    if (isThere(getKey(before, key)) && !isThere(getKey(after, key))) setKey(patch, key, null);
  }
  for (const key of Object.keys(after)) {
    const value = getKey(after, key);
    if (isThere(value)) addChange(patch, key, getKey(before, key), value);
  }
  return patch;
}

function addChange(patch: JsonObject, key: string, before: Json | undefined, after: Json): void {
  if (jsonEqual(before, after)) return;
  if (!isJsonObject(after)) return setKey(patch, key, after);
  // An object in the place of something else: the patch builds it from nothing.
  const change = diffMergePatch(isJsonObject(before) ? before : {}, after);
  if (!isJsonObject(before) || Object.keys(change).length > 0) setKey(patch, key, change);
}

// Objects of TypeScript may hold undefined, whatever their type says.
const isThere = (value: Json | undefined): value is NonNullable<Json> => value !== undefined && value !== null;
