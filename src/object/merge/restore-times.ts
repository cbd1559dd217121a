import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../json.ts';
import { entriesOf, withManagedFields } from './claims.ts';
import { unmanaged } from './transfer.ts';

/**
 * An object that is about to be stored, with the times of the live one if times are all that changed: a write that says
 * nothing new must not make a new version (S7). To be asked after defaulting.
 */
export function restoreTimes(live: JsonObject, updated: JsonObject): JsonObject {
  const [before, after] = [entriesOf(live), entriesOf(updated)];
  if (!Array.isArray(before) || !Array.isArray(after) || before.length !== after.length) return updated;
  if (jsonEqual(before, after) || !jsonEqual(before.map(timeless), after.map(timeless))) return updated;
  return jsonEqual(unmanaged(live), unmanaged(updated)) ? withManagedFields(updated, before) : updated;
}

function timeless(entry: Json): Json {
  if (!isJsonObject(entry)) return entry;
  const { time: _, ...rest } = entry;
  return rest;
}
