import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';

/** The server decides: whatever it has is right. */
export const ANY = Symbol('any');

/** What a server fills in where nothing is said, by path; `*` for every item of a list. */
export type Defaults = Readonly<Record<string, Json | typeof ANY>>;

/**
 * Whether a server has what was said, and nothing else but its defaults: additions of others are noticed, in lists and
 * elsewhere. The order of items matters. What is empty (null, `''`, false, `[]`, `{}`) is not said: servers in Go leave
 * most of it out.
 */
export const isAsSaid = (said: Json | undefined, existing: Json | undefined, defaults: Defaults): boolean =>
  isAsSaidAt('', said, existing, defaults);

function isAsSaidAt(
  path: string,
  said: Json | undefined,
  existing: Json | undefined,
  defaults: Defaults,
): boolean {
  if (isUnsaid(said) && isUnsaid(existing)) return true;
  const wanted = isUnsaid(said) ? (ownDefault(defaults, path) ?? emptyLike(existing)) : said;
  if (wanted === ANY) return true;
  if (wanted === undefined || isUnsaid(existing)) return false;
  if (Array.isArray(wanted)) return Array.isArray(existing) && hasItems(path, wanted, existing, defaults);
  if (isJsonObject(wanted)) return isJsonObject(existing) && hasMembers(path, wanted, existing, defaults);
  return wanted === existing;
}

const hasItems = (path: string, said: Json[], existing: Json[], defaults: Defaults): boolean =>
  said.length === existing.length &&
  said.every((item, at) => isAsSaidAt(`${path}.*`, item, existing[at], defaults));

function hasMembers(path: string, said: JsonObject, existing: JsonObject, defaults: Defaults): boolean {
  const keys = new Set([...Object.keys(said), ...Object.keys(existing)]);
  return [...keys].every((key) =>
    isAsSaidAt(path === '' ? key : `${path}.${key}`, ownValue(said, key), ownValue(existing, key), defaults),
  );
}

const isUnsaid = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0);

/** Of an object nothing is said, but its members may have defaults. */
const emptyLike = (existing: Json | undefined): JsonObject | undefined =>
  isJsonObject(existing) ? {} : undefined;

const ownDefault = (defaults: Defaults, path: string): Json | typeof ANY | undefined =>
  Object.hasOwn(defaults, path) ? defaults[path] : undefined;
const ownValue = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;
