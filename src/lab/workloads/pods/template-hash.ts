import type { PodTemplateSpec } from '../../../api/generated/core-v1-types.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../object/json.ts';
import { stringifyJson } from '../../../object/json-text.ts';

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
/** Without vowels and what looks alike: no word, no misreading. */
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';
/** Upstream writes the four bytes of the count into a buffer of eight. */
const COUNT_BYTES = 8;

/**
 * Pure: up to ten letters that stand for a template and, once there was a collision, for how often (W4). Upstream hashes a
 * dump of Go values, which nobody else can make; this hashes JSON with sorted keys. The value is opaque, its shape is not.
 */
export function templateHash(template: PodTemplateSpec, collisionCount?: number): string {
  // Plain JSON that came from the server.
  const text = stringifyJson(sorted(template as unknown as JsonObject));
  const bytes = [...new TextEncoder().encode(text), ...countBytes(collisionCount)];
  return String(fnv1a(bytes)).replaceAll(/\d/g, (digit) => LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length));
}

function fnv1a(bytes: readonly number[]): number {
  let hash = FNV_OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, FNV_PRIME);
  return hash >>> 0;
}

function countBytes(count: number | undefined): Uint8Array {
  if (count === undefined) return new Uint8Array();
  const bytes = new Uint8Array(COUNT_BYTES);
  new DataView(bytes.buffer).setUint32(0, count, true);
  return bytes;
}

/** Keys in order, and without what is null: that is as good as absent. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([key, member]) => [key, sorted(member)]),
  );
}
