import type { Schema } from '../../api/schema/structural.ts';
import { duplicate, type FieldError, invalid } from '../field-error.ts';
import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '../json.ts';
import { goJson } from './go-text.ts';
import { type Node, nodeOf } from './node.ts';

/** X19: the items of `set` lists and the keys of `map` lists are unique. A value is reported at its second appearance. */
export function listUniquenessErrors(value: JsonObject, schema: Schema): readonly FieldError[] {
  const node = nodeOf(schema);
  if (!node.hasListTypesBelow) return [];
  const errors: FieldError[] = [];
  checkObject(value, node, '', errors);
  return errors;
}

function checkNode(value: Json, node: Node, path: string, errors: FieldError[]): void {
  if (!node.hasListTypesBelow) return;
  if (Array.isArray(value)) checkList(value, node, path, errors);
  else if (isJsonObject(value)) checkObject(value, node, path, errors);
}

function checkObject(object: JsonObject, node: Node, path: string, errors: FieldError[]): void {
  for (const key of Object.keys(object)) {
    const property = node.properties.get(key);
    const value = getKey(object, key) ?? null;
    if (property !== undefined) checkNode(value, property, path === '' ? key : `${path}.${key}`, errors);
    else if (node.additional !== undefined) checkNode(value, node.additional, `${path}[${key}]`, errors);
  }
}

function checkList(list: readonly Json[], node: Node, path: string, errors: FieldError[]): void {
  const type = node.schema['x-kubernetes-list-type'];
  const found = type === 'set' ? duplicates(list, path) : type === 'map' ? mapErrors(list, node, path) : [];
  // One by one: there may be more than a call takes arguments.
  for (const error of found) errors.push(error);
  if (node.items === undefined) return;
  for (const [index, item] of list.entries()) checkNode(item, node.items, `${path}[${index}]`, errors);
}

function mapErrors(list: readonly Json[], node: Node, path: string): readonly FieldError[] {
  const stranger = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (stranger >= 0) {
    return [invalid(`${path}[${stranger}]`, list[stranger], 'must be an object for an array of list-type map')];
  }
  const keys = node.schema['x-kubernetes-list-map-keys'] ?? [];
  return duplicates(list, path, (item) => keysOf(item, keys));
}

function keysOf(item: Json, keys: readonly string[]): JsonObject {
  const found: JsonObject = {};
  if (!isJsonObject(item)) return found;
  for (const key of keys) {
    const value = getKey(item, key);
    if (value !== undefined) setKey(found, key, value);
  }
  return found;
}

/** `identify` gives the part of an item that must be unique. */
function duplicates(
  list: readonly Json[],
  path: string,
  identify: (item: Json) => Json = (item) => item,
): readonly FieldError[] {
  if (list.length < 2) return [];
  const seen = new Map<string, number>();
  const errors: FieldError[] = [];
  for (const [index, item] of list.entries()) {
    const identity = identify(item);
    const text = identityText(identity);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    if (times === 1) errors.push(duplicate(`${path}[${index}]`, identity));
  }
  return errors;
}

/** Most items are known by one string; quoting would cost more than all the rest. */
function identityText(identity: Json): string {
  if (typeof identity === 'string') return `s${identity}`;
  if (isJsonObject(identity)) {
    const [key, ...others] = Object.keys(identity);
    const value = key === undefined ? undefined : getKey(identity, key);
    if (others.length === 0 && typeof value === 'string') return `o${key}=${value}`;
  }
  return goJson(identity);
}
