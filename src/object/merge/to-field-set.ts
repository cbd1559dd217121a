import { isJsonObject, type Json, type JsonObject } from '../json.ts';
import { type FieldSet, hasChildren, isEmpty, LEAF, NOTHING, nodeOf } from './field-set.ts';
import { itemsByElement } from './list-items.ts';
import { fieldElement, type PathElement } from './path-element.ts';
import type { ListOwnership, MapOwnership, Ownership } from './typing.ts';
import { formOf } from './value-form.ts';

/**
 * The paths an applier claims with a configuration: leaves, list items, keys of maps. A field that the schema declares is
 * not claimed itself when something below it is.
 */
export const fieldSetOf = (value: Json, ownership: Ownership): FieldSet => claimed(value, ownership) ?? NOTHING;

/** `undefined` if the value claims nothing, itself included. */
function claimed(value: Json, ownership: Ownership): FieldSet | undefined {
  switch (formOf(ownership, value)) {
    case 'map':
      return ownership.map === undefined ? undefined : claimedByMap(value, ownership.map);
    case 'list':
      return ownership.list === undefined ? undefined : claimedByList(value, ownership.list);
    case 'scalar':
    case undefined:
      return LEAF;
  }
}

function claimedByMap(value: Json, map: MapOwnership): FieldSet | undefined {
  if (map.isAtomic) return LEAF;
  if (!isJsonObject(value)) return undefined;
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  for (const key of Object.keys(value)) {
    const node = claimedByField(value, key, map);
    if (node === undefined) continue;
    elements.push(fieldElement(key));
    nodes.push(node);
  }
  return nodeOf(elements, nodes, false);
}

function claimedByField(value: JsonObject, key: string, map: MapOwnership): FieldSet | undefined {
  const item = value[key] ?? null;
  const ownership = map.at(key);
  const below = ownership === undefined ? undefined : claimed(item, ownership);
  const isItselfClaimed = item === null || isEmptyMap(item) || map.declared(key) === undefined;
  return isItselfClaimed ? asMember(below) : below;
}

const isEmptyMap = (value: Json): boolean => isJsonObject(value) && Object.keys(value).length === 0;

/** A node of the same paths that belongs to the set itself. */
function asMember(node: FieldSet | undefined): FieldSet {
  return node === undefined || isEmpty(node) || !hasChildren(node) ? LEAF : { '.': LEAF, ...node };
}

function claimedByList(value: Json, list: ListOwnership): FieldSet | undefined {
  if (list.isAtomic) return LEAF;
  if (!Array.isArray(value)) return undefined;
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  for (const [element, [item, ...more]] of itemsByElement(list, value)) {
    elements.push(element);
    // Of items that share their keys nobody can own a field.
    nodes.push(more.length > 0 ? LEAF : asMember(claimed(item ?? null, list.element)));
  }
  return nodeOf(elements, nodes, false);
}
