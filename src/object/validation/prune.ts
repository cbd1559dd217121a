import type { Schema } from '../../api/schema/structural.ts';
import { getKey, type Json, type JsonObject } from '../json.ts';
import { type Node, nodeOf } from './node.ts';

const META_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * Drops, in place, the fields of a custom resource that its schema does not know and the nulls that are neither allowed
 * nor replaced by a default (unless they are to be kept); returns the sorted paths of the unknown fields. `apiVersion`, `kind` and `metadata` of the
 * object itself are left alone.
 */
export function prune(
  object: JsonObject,
  schema: Schema,
  { keepsNulls = false }: { readonly keepsNulls?: boolean } = {},
): readonly string[] {
  const pruned: Pruned = { unknown: [], dropsNulls: !keepsNulls };
  const node = nodeOf(schema);
  pruneObject(object, { node, isResource: true, preserves: node.preservesUnknown, path: '' }, pruned);
  return pruned.unknown.length > 1 ? pruned.unknown.sort() : pruned.unknown;
}

/** Drops only unknown fields, of any value, such as a default. */
export function pruneUnknown(value: Json, schema: Schema): void {
  pruneNode(value, nodeOf(schema), '', { unknown: [], dropsNulls: false });
}

interface Pruned {
  readonly unknown: string[];
  readonly dropsNulls: boolean;
}

interface Place {
  readonly node: Node;
  readonly isResource: boolean;
  /** Unknown fields stay, known ones are still pruned by their own schemas (X12). */
  readonly preserves: boolean;
  readonly path: string;
}

function pruneNode(value: Json, node: Node | undefined, path: string, pruned: Pruned): void {
  if (typeof value !== 'object' || value === null) return;
  if (node === undefined) emptyUnspecified(value, path, pruned);
  else
    pruneSpecified(value, { node, isResource: node.isEmbedded, preserves: node.preservesUnknown, path }, pruned);
}

function pruneSpecified(value: Json[] | JsonObject, place: Place, pruned: Pruned): void {
  if (!Array.isArray(value)) {
    pruneObject(value, place, pruned);
    return;
  }
  const { items } = place.node;
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'object' || item === null) continue;
    const path = `${place.path}[${index}]`;
    if (!place.preserves) pruneNode(item, items, path, pruned);
    // The items of a list that preserves unknown fields preserve theirs too.
    else if (items !== undefined) {
      pruneSpecified(item, { node: items, isResource: items.isEmbedded, preserves: true, path }, pruned);
    }
  }
}

function pruneObject(object: JsonObject, place: Place, pruned: Pruned): void {
  const { node, isResource, preserves, path } = place;
  const prefix = path === '' ? '' : `${path}.`;
  for (const key of Object.keys(object)) {
    if (isResource && META_FIELDS.has(key)) continue;
    const property = node.properties.get(key);
    if (property !== undefined || node.isMap) {
      pruneField(object, key, { node: property ?? node.additional, path: prefix + key }, pruned);
    } else if (!preserves) {
      pruned.unknown.push(prefix + key);
      delete object[key];
    }
  }
}

interface Field {
  readonly node: Node | undefined;
  readonly path: string;
}

function pruneField(object: JsonObject, key: string, { node, path }: Field, pruned: Pruned): void {
  const value = getKey(object, key) ?? null;
  if (value !== null) pruneNode(value, node, path, pruned);
  else if (pruned.dropsNulls && node !== undefined) dropNull(object, key, node);
}

/** X11: a null that is not allowed and has no default is as good as absent. */
function dropNull(object: JsonObject, key: string, { isNullable, schema }: Node): void {
  if (!isNullable && (schema.default ?? null) === null) delete object[key];
}

/** Below `additionalProperties: true` nothing is specified, so objects lose all their fields. */
function emptyUnspecified(value: Json[] | JsonObject, path: string, pruned: Pruned): void {
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      if (typeof item === 'object' && item !== null) emptyUnspecified(item, `${path}[${index}]`, pruned);
    }
    return;
  }
  for (const key of Object.keys(value)) {
    pruned.unknown.push(`${path}.${key}`);
    delete value[key];
  }
}
