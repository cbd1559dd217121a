import type { Schema } from '../../api/schema/structural.ts';
import { cloneJson, getKey, type Json, type JsonObject, setKey } from '../json.ts';
import { type Node, nodeOf } from './node.ts';

/** Fills in, in place, the defaults of a schema; also used when an object is read (X10). Idempotent. */
export function applyDefaults(value: Json, schema: Schema): void {
  const node = nodeOf(schema);
  if (node.hasDefaultsBelow) defaultNode(value, node);
}

/** X11: a null where none is allowed counts as absent. */
const isMissing = (value: Json | undefined, node: Node | undefined): boolean =>
  value === undefined || (value === null && node !== undefined && !node.isNullable);

function defaultNode(value: Json, node: Node): void {
  if (typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    if (node.items !== undefined) defaultItems(value, node.items);
    return;
  }
  for (const [key, fallback] of node.defaults) {
    if (isMissing(getKey(value, key), node.properties.get(key))) setKey(value, key, cloneJson(fallback));
  }
  defaultFields(value, node);
}

function defaultFields(object: JsonObject, node: Node): void {
  for (const key of Object.keys(object)) {
    const property = node.properties.get(key);
    const child = property ?? node.additional;
    if (child === undefined) continue;
    const value = getKey(object, key) ?? null;
    if (value === null && property === undefined) replaceNull(child, (fallback) => setKey(object, key, fallback));
    if (child.hasDefaultsBelow) defaultNode(getKey(object, key) ?? null, child);
  }
}

function defaultItems(list: Json[], items: Node): void {
  for (const [index, item] of list.entries()) {
    if (item === null) replaceNull(items, (fallback) => (list[index] = fallback));
    if (items.hasDefaultsBelow) defaultNode(list[index] ?? null, items);
  }
}

function replaceNull(node: Node, put: (value: Json) => void): void {
  const fallback = node.schema.default ?? null;
  if (!node.isNullable && fallback !== null) put(cloneJson(fallback));
}
