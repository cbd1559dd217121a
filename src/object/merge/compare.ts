import { isJsonObject, type Json, type JsonObject, jsonEqual } from '../json.ts';
import { type FieldSet, LEAF, NOTHING, nodeOf, recursiveDifference, SELF, union } from './field-set.ts';
import { itemsByElement } from './list-items.ts';
import { fieldElement, type PathElement, sortedKeys } from './path-element.ts';
import { TypedProblem } from './typed-problem.ts';
import type { ListOwnership, MapOwnership, Ownership } from './typing.ts';
import { type Form, formOf } from './value-form.ts';

/** The paths by which two objects differ. */
export interface Comparison {
  readonly removed: FieldSet;
  readonly modified: FieldSet;
  readonly added: FieldSet;
}

/** The same below one node; `undefined` where there is nothing. */
interface Delta {
  readonly removed?: FieldSet | undefined;
  readonly modified?: FieldSet | undefined;
  readonly added?: FieldSet | undefined;
}

const SAME: Comparison = { removed: NOTHING, modified: NOTHING, added: NOTHING };
const MODIFIED: Delta = { modified: LEAF };

/** Throws a TypedProblem where a value does not fit its type; equal parts are not looked at. */
export function compare(before: Json, after: Json, ownership: Ownership): Comparison {
  const delta = deltaOf(before, after, ownership);
  if (delta === undefined) return SAME;
  return {
    removed: delta.removed ?? NOTHING,
    modified: delta.modified ?? NOTHING,
    added: delta.added ?? NOTHING,
  };
}

export const withoutFields = ({ removed, modified, added }: Comparison, fields: FieldSet): Comparison => ({
  removed: recursiveDifference(removed, fields),
  modified: recursiveDifference(modified, fields),
  added: recursiveDifference(added, fields),
});

function deltaOf(before: Json, after: Json, ownership: Ownership): Delta | undefined {
  if (before === after) return undefined;
  const [left, right] = [formOf(ownership, before), formOf(ownership, after)];
  const delta = deltaIn(right, before, after, ownership);
  // A value that changed its form is looked at in both.
  return left === right ? delta : together(deltaIn(left, before, after, ownership), delta);
}

function together(a: Delta | undefined, b: Delta | undefined): Delta | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return {
    removed: either(a.removed, b.removed),
    modified: either(a.modified, b.modified),
    added: either(a.added, b.added),
  };
}

/** Nodes, not sets: what is in one of them as a member is one in both. */
function either(a: FieldSet | undefined, b: FieldSet | undefined): FieldSet | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return union({ 'f:': a }, { 'f:': b })['f:'];
}

function deltaIn(form: Form | undefined, before: Json, after: Json, ownership: Ownership): Delta | undefined {
  if (form === 'map' && ownership.map !== undefined) return mapDelta(before, after, ownership.map);
  if (form === 'list' && ownership.list !== undefined) return listDelta(before, after, ownership.list);
  if (form === undefined) throw new TypedProblem('schema error: invalid atom: inlined');
  return leafDelta(before, after);
}

const leafDelta = (before: Json, after: Json): Delta | undefined =>
  jsonEqual(before, after) ? undefined : MODIFIED;

function mapDelta(before: Json, after: Json, map: MapOwnership): Delta | undefined {
  const [left, right] = [mapOrNothing(before), mapOrNothing(after)];
  // Nothing and nothing: a leaf, so that null and {} are not the same.
  if (map.isAtomic || (left === undefined && right === undefined)) return leafDelta(before, after);
  return fieldsDelta(left ?? {}, right ?? {}, map);
}

function mapOrNothing(value: Json): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  for (const _ in value) return value;
  return undefined;
}

function fieldsDelta(before: JsonObject, after: JsonObject, map: MapOwnership): Delta | undefined {
  const deltas = new Deltas();
  let shared = 0;
  for (const key of Object.keys(after)) {
    const right = after[key] ?? null;
    const left = before[key];
    const isNew = left === undefined || !Object.hasOwn(before, key);
    if (!isNew) shared++;
    if (left === right) continue;
    if (isNew) deltas.add(fieldElement(key), { added: everything(right, ownershipAt(map, key)) });
    else deltas.add(fieldElement(key), deltaOf(left, right, ownershipAt(map, key)));
  }
  const keys = Object.keys(before);
  if (shared < keys.length) {
    for (const key of keys) {
      if (Object.hasOwn(after, key)) continue;
      deltas.add(fieldElement(key), { removed: everything(before[key] ?? null, ownershipAt(map, key)) });
    }
  }
  return deltas.delta();
}

function ownershipAt(map: MapOwnership, key: string): Ownership {
  const ownership = map.at(key);
  if (ownership !== undefined) return ownership;
  throw new TypedProblem(`.${key}: field not declared in schema`);
}

function listDelta(before: Json, after: Json, list: ListOwnership): Delta | undefined {
  const left = Array.isArray(before) ? before : [];
  const right = Array.isArray(after) ? after : [];
  if (list.isAtomic || (left.length === 0 && right.length === 0)) return leafDelta(before, after);
  // Most lists did not change, and keys are dear.
  return jsonEqual(before, after) ? undefined : itemsDelta(left, right, list);
}

function itemsDelta(before: readonly Json[], after: readonly Json[], list: ListOwnership): Delta | undefined {
  const deltas = new Deltas();
  const [left, right] = [itemsByElement(list, before), itemsByElement(list, after)];
  for (const [element, items] of left) {
    deltas.add(element, sameKeyDelta(items, right.get(element) ?? [], list.element));
  }
  for (const [element, items] of right) {
    if (!left.has(element)) deltas.add(element, sameKeyDelta([], items, list.element));
  }
  return deltas.delta();
}

/** The items with one key before and after; items that share their key are a leaf. */
function sameKeyDelta(before: readonly Json[], after: readonly Json[], element: Ownership): Delta | undefined {
  const [left, right] = [before[0], after[0]];
  if (before.length > 1 && after.length > 1) return jsonEqual([...before], [...after]) ? undefined : MODIFIED;
  if (before.length > 1) {
    return { removed: LEAF, added: right === undefined ? undefined : everything(right, element) };
  }
  if (after.length > 1) {
    return { added: LEAF, removed: left === undefined ? undefined : everything(left, element) };
  }
  if (left === undefined) return right === undefined ? undefined : { added: everything(right, element) };
  return right === undefined ? { removed: everything(left, element) } : deltaOf(left, right, element);
}

/** The deltas of the children of a node, collected into one. */
class Deltas {
  readonly #removed = new Children();
  readonly #modified = new Children();
  readonly #added = new Children();
  #isEmpty = true;

  add(element: PathElement, delta: Delta | undefined): void {
    if (delta === undefined) return;
    this.#isEmpty = false;
    this.#removed.add(element, delta.removed);
    this.#modified.add(element, delta.modified);
    this.#added.add(element, delta.added);
  }

  delta(): Delta | undefined {
    if (this.#isEmpty) return undefined;
    return { removed: this.#removed.node(), modified: this.#modified.node(), added: this.#added.node() };
  }
}

/** Most are never filled, so the lists are made at the first child. */
class Children {
  #elements: PathElement[] | undefined;
  #nodes: FieldSet[] = NONE;

  add(element: PathElement, node: FieldSet | undefined): void {
    if (node === undefined) return;
    if (this.#elements === undefined) {
      this.#elements = [element];
      this.#nodes = [node];
    } else {
      this.#elements.push(element);
      this.#nodes.push(node);
    }
  }

  node(): FieldSet | undefined {
    return this.#elements === undefined ? undefined : nodeOf(this.#elements, this.#nodes, false);
  }
}

const NONE: FieldSet[] = [];

/** The node of a value that is there on one side only: it and everything below it. */
function everything(value: Json, ownership: Ownership): FieldSet {
  const form = formOf(ownership, value);
  if (form === undefined) throw new TypedProblem('schema error: invalid atom: inlined');
  if (form === 'map' && ownership.map?.isAtomic === false && isJsonObject(value)) {
    return everyField(value, ownership.map);
  }
  if (form === 'list' && ownership.list?.isAtomic === false && Array.isArray(value)) {
    return everyItem(value, ownership.list);
  }
  return LEAF;
}

function everyField(value: JsonObject, map: MapOwnership): FieldSet {
  const node: Record<PathElement, FieldSet> = {};
  let isEmpty = true;
  for (const key of sortedKeys(value)) {
    if (isEmpty) node[SELF] = LEAF;
    isEmpty = false;
    node[fieldElement(key)] = everything(value[key] ?? null, ownershipAt(map, key));
  }
  return isEmpty ? LEAF : node;
}

function everyItem(value: readonly Json[], list: ListOwnership): FieldSet {
  const items = itemsByElement(list, value);
  const nodes = [...items.values()].map(([item = null, ...more]) =>
    more.length > 0 ? LEAF : everything(item, list.element),
  );
  return nodeOf([...items.keys()], nodes, true) ?? LEAF;
}
