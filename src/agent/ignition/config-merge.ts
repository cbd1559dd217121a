import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { CONFIG, type ListShape, type ObjectShape, type Shape } from './config-shape.ts';

/**
 * Merges two valid configs as Ignition does, and the child wins: objects field by field, values where the child has one,
 * lists by the key of their items, with what only the child has at the end (coreos/ignition, config/merge). Unlike
 * there, fields that are not known stay. Keys keep their order: the parent's first.
 */
export const mergeConfigs = (parent: JsonObject, child: JsonObject): JsonObject =>
  mergeObjects(CONFIG, parent, child);

function mergeObjects(shape: ObjectShape | undefined, parent: JsonObject, child: JsonObject): JsonObject {
  const merged: JsonObject = {};
  for (const key of new Set([...Object.keys(parent), ...Object.keys(child)])) {
    const field = shape === undefined ? undefined : ownField(shape, key);
    const value =
      field?.kind === 'list'
        ? mergedList(field, key, parent, child)
        : mergedValue(field, getKey(parent, key), getKey(child, key));
    if (value !== undefined) setKey(merged, key, value);
  }
  return merged;
}

const ownField = ({ fields }: ObjectShape, key: string): Shape | undefined =>
  Object.hasOwn(fields, key) ? fields[key] : undefined;

/** What is null is not there. */
function mergedValue(
  shape: Shape | undefined,
  parent: Json | undefined,
  child: Json | undefined,
): Json | undefined {
  if (!isJsonObject(parent) || !isJsonObject(child)) return child ?? parent ?? undefined;
  return mergeObjects(shape?.kind === 'object' ? shape : undefined, parent, child);
}

function mergedList(shape: ListShape, name: string, parent: JsonObject, child: JsonObject): Json[] {
  const parents = itemsOf(parent, name);
  const children = itemsOf(child, name);
  const { key } = shape;
  if (key === undefined) return [...parents, ...children];
  const rivalKeys = new Set((shape.rivals ?? []).flatMap((rival) => itemsOf(child, rival).map(key)));
  const childrenByKey = new Map(children.map((item) => [key(item), item]));
  const parentKeys = new Set(parents.map(key));
  return [
    ...parents
      .filter((item) => childrenByKey.has(key(item)) || !rivalKeys.has(key(item)))
      .flatMap((item) => mergedItem(shape, item, childrenByKey.get(key(item)))),
    ...children.filter((item) => !parentKeys.has(key(item))),
  ];
}

function mergedItem(shape: ListShape, parent: Json, child: Json | undefined): Json[] {
  if (child === undefined) return [parent];
  if (isJsonObject(child) && shape.isRemoval?.(child) === true) return [];
  return [mergedValue(shape.item, parent, child) ?? child];
}

function itemsOf(fields: JsonObject, name: string): readonly Json[] {
  const found = getKey(fields, name);
  return Array.isArray(found) ? found : [];
}
