import { isJsonObject, type Json, type JsonObject, setKey } from '../json.ts';
import { type FieldSet, hasChildren, isMember } from './field-set.ts';
import { itemElement } from './list-items.ts';
import { fieldElement } from './path-element.ts';
import type { ListOwnership, MapOwnership, Ownership } from './typing.ts';
import { formOf } from './value-form.ts';

/**
 * The value without the fields and items of a set. What loses its last child becomes null, as upstream has it; a field
 * that the schema declares is in the set itself by then.
 */
export function removeItems(value: Json, set: FieldSet, ownership: Ownership | undefined): Json {
  if (ownership === undefined) return null;
  switch (formOf(ownership, value)) {
    case 'map':
      return isJsonObject(value) && ownership.map !== undefined ? mapWithout(value, set, ownership.map) : null;
    case 'list':
      return Array.isArray(value) && ownership.list !== undefined ? listWithout(value, set, ownership.list) : null;
    case 'scalar':
    case undefined:
      return value;
  }
}

function mapWithout(value: JsonObject, set: FieldSet, map: MapOwnership): Json {
  if (map.isAtomic) return null;
  const rest: JsonObject = {};
  let size = 0;
  for (const key of Object.keys(value)) {
    const node = set[fieldElement(key)];
    if (isMember(node)) continue;
    const item = value[key] ?? null;
    setKey(rest, key, node === undefined || !hasChildren(node) ? item : removeItems(item, node, map.at(key)));
    size++;
  }
  return size === 0 ? null : rest;
}

function listWithout(value: readonly Json[], set: FieldSet, list: ListOwnership): Json {
  if (list.isAtomic) return null;
  const rest: Json[] = [];
  for (const item of value) {
    const node = set[itemElement(list, item)];
    if (isMember(node)) continue;
    rest.push(node === undefined || !hasChildren(node) ? item : removeItems(item, node, list.element));
  }
  return rest.length === 0 ? null : rest;
}
