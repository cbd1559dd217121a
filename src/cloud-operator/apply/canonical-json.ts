import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';

/**
 * JSON to the byte as encoding/json of Go writes it where keys come from maps: sorted, without spaces, and with `<`, `>`, `&` and
 * the line separators of JavaScript escaped. Hashes of it are compared with those of programs in Go.
 */
export function canonicalJson(value: Json | undefined): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item)).join(',')}]`;
  if (isJsonObject(value)) return `{${membersOf(value).join(',')}}`;
  return typeof value === 'bigint' ? value.toString() : escaped(JSON.stringify(value ?? null));
}

/** What is undefined is not there, as in JSON.stringify. */
const membersOf = (object: JsonObject): readonly string[] =>
  Object.entries<Json | undefined>(object)
    .filter(([, value]) => value !== undefined)
    // Code units order as bytes do, for the names that Kubernetes takes.
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${escaped(JSON.stringify(key))}:${canonicalJson(value)}`);

/** Outside of strings none of these occurs. */
const escaped = (text: string): string =>
  text.replaceAll(/[<>&\u2028\u2029]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
