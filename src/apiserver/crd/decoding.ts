import type { Schema } from '../../api/schema/structural.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from '../../object/json.ts';
import { coerceEmbedded } from '../../object/validation/embedded.ts';
import { goKind, goPlain, goType } from '../../object/validation/go-text.ts';
import { decodeObjectMeta } from '../../object/validation/object-meta.ts';
import { prune } from '../../object/validation/prune.ts';

interface DecodedResource {
  /** Paths of fields that were dropped, sorted within metadata and within the rest (W3). */
  readonly unknown: readonly string[];
  /** Why the body cannot be read (E11). */
  readonly problem: string | undefined;
}

const NOT_READABLE = (problem: string): DecodedResource => ({ unknown: [], problem });

/**
 * What happens, in place, to a parsed body of a custom resource before defaults (15.3): metadata is read as ObjectMeta,
 * unknown fields and forbidden nulls are dropped, the metadata of embedded resources is read. `schema` is the one of
 * the user; undefined when the object is of another kind, which validation will refuse.
 */
export function decodeCustomResource(
  object: JsonObject,
  schema: Schema | undefined,
  { keepsNulls = false }: { readonly keepsNulls?: boolean } = {},
): DecodedResource {
  for (const key of ['kind', 'apiVersion']) {
    const value = getKey(object, key);
    if (value !== undefined && typeof value !== 'string') return NOT_READABLE(wrongAccess(key, value));
  }
  const meta = decodeMetadata(object);
  if (meta.problem !== undefined || schema === undefined) return meta;
  const unknown = prune(object, schema, { keepsNulls });
  const embedded = coerceEmbedded(object, schema);
  return { unknown: [...meta.unknown, ...unknown, ...embedded.unknown], problem: embedded.problem };
}

const wrongAccess = (key: string, value: Json): string =>
  `.${key} accessor error: ${goPlain(value)} is of the type ${goType(value)}, expected string`;

function decodeMetadata(object: JsonObject): DecodedResource {
  const metadata = getKey(object, 'metadata');
  if (metadata === undefined) return { unknown: [], problem: undefined };
  if (metadata === null) {
    object['metadata'] = {};
    return { unknown: [], problem: undefined };
  }
  if (!isJsonObject(metadata)) {
    return NOT_READABLE(`json: cannot unmarshal ${goKind(metadata)} into Go value of type v1.ObjectMeta`);
  }
  const { unknown, problem } = decodeObjectMeta(metadata);
  return { unknown: unknown.map((path) => `metadata.${path}`), problem };
}
