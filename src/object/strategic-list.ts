import type { Schema } from '../api/schema/structural.ts';
import { getKey, isJsonObject, type Json, type JsonObject } from './json.ts';
import { PatchProblem } from './patch-problem.ts';
import { goPlain, goType } from './validation/go-text.ts';

/** How the items of one list are merged. */
export interface ListMerge {
  /** Empty for lists of scalars, which are sets. */
  readonly mergeKey: string;
  readonly mergeItems: (old: JsonObject, patch: JsonObject) => JsonObject;
}

export const keyOfList = (schema: Schema): string => schema['x-kubernetes-patch-merge-key'] ?? '';

/** The merged list in upstream's order: that of the patch, with items only the server has where they were. */
export function mergeLists(old: Json[], patch: Json[], merge: ListMerge): Json[] {
  if (old.length === 0 && patch.length === 0) return old;
  if (!holdsObjects(old, patch)) {
    return inOrder([...new Set([...old, ...patch])], patch, old, '');
  }
  const { mergeKey } = merge;
  if (mergeKey === '') throw internal('cannot merge lists without merge key for struct');
  const { kept, items } = applyItemDirectives(old as JsonObject[], patch as JsonObject[], mergeKey);
  return inOrder(mergedByKey(kept, items, merge), items, kept, mergeKey);
}

function mergedByKey(kept: JsonObject[], items: JsonObject[], { mergeKey, mergeItems }: ListMerge): JsonObject[] {
  const merged = [...kept];
  const places = new Map<Json, number[]>();
  const remember = (item: JsonObject, index: number) => {
    const value = getKey(item, mergeKey);
    const same = value === undefined ? undefined : places.get(value);
    if (same !== undefined) same.push(index);
    else if (value !== undefined) places.set(value, [index]);
  };
  merged.forEach(remember);
  for (const item of items) {
    const value = keyValue(item, mergeKey);
    const [index = merged.length] = places.get(value) ?? [];
    const found = merged[index];
    const result = found === undefined ? item : mergeItems(found, item);
    merged[index] = result;
    if (found === undefined) remember(item, index);
    // A null as key removes the key of what it is merged into.
    else if (getKey(result, mergeKey) !== value) places.get(value)?.shift();
  }
  return merged;
}

/** Carries out `$patch` in items: what is left of the old list, and the items to merge into it. */
function applyItemDirectives(
  old: JsonObject[],
  patch: JsonObject[],
  mergeKey: string,
): { kept: JsonObject[]; items: JsonObject[] } {
  const deleted = new Set<Json | undefined>();
  let isReplaced = false;
  const items: JsonObject[] = [];
  for (const item of patch) {
    const directive = getKey(item, '$patch');
    if (directive === undefined) {
      items.push(item);
    } else if (directive === 'delete') {
      deleted.add(keyValue(item, mergeKey));
    } else if (directive === 'replace') {
      isReplaced = true;
    } else {
      throw directive === 'merge'
        ? internal('merging lists cannot yet be specified in the patch')
        : internal(`unknown patch type: ${goPlain(directive)} in map: ${goPlain(item)}`);
    }
  }
  if (isReplaced) return { kept: items, items: [] };
  return { kept: deleted.size === 0 ? old : old.filter((other) => !deleted.has(getKey(other, mergeKey))), items };
}

/** Whether the items are objects; all must be of one type. */
function holdsObjects(...lists: Json[][]): boolean {
  const types = new Set(lists.flat().map(goType));
  if (types.size > 1) throw internal(`list element types are not identical: ${goPlain(lists)}`);
  if (types.has('[]interface {}')) throw new PatchProblem('unprocessable', 'lists of lists are not supported');
  return types.has('map[string]interface {}');
}

const internal = (message: string): PatchProblem => new PatchProblem('internal', message);

function keyValue(item: Json, mergeKey: string): Json {
  if (mergeKey === '' || !isJsonObject(item)) return item;
  const value = getKey(item, mergeKey);
  if (value !== undefined) return value;
  throw internal(`map: ${goPlain(item)} does not contain declared merge key: ${mergeKey}`);
}

/**
 * Items that the first order names come in that order, the others in the second. The latter go before the first named
 * item that stood behind them in the second order, else to the end.
 */
function inOrder(items: Json[], first: Json[], second: Json[], mergeKey: string): Json[] {
  const firstRank = ranks(first, mergeKey);
  const secondRank = ranks(second, mergeKey);
  const rankIn = (rank: Map<Json, number>) => (item: Json) => rank.get(keyValue(item, mergeKey)) ?? -1;
  const named = items.filter((item) => rankIn(firstRank)(item) >= 0);
  const others = items.filter((item) => rankIn(firstRank)(item) < 0);
  sortBy(named, rankIn(firstRank));
  sortBy(others, rankIn(secondRank));
  const oldRank = rankIn(secondRank);
  const result: Json[] = [];
  let next = 0;
  for (const item of named) {
    const rank = oldRank(item);
    for (let other = others[next]; other !== undefined && isBefore(oldRank(other), rank); other = others[next]) {
      result.push(other);
      next++;
    }
    result.push(item);
  }
  return [...result, ...others.slice(next)];
}

const isBefore = (a: number, b: number): boolean => a >= 0 && b >= 0 && a < b;

function ranks(order: Json[], mergeKey: string): Map<Json, number> {
  const result = new Map<Json, number>();
  for (const [index, item] of order.entries()) {
    const value = keyValue(item, mergeKey);
    if (!result.has(value)) result.set(value, index);
  }
  return result;
}

const sortBy = (items: Json[], rank: (item: Json) => number): void => {
  items.sort((a, b) => rank(a) - rank(b));
};

export interface OrderedMerge extends ListMerge {
  /** Whether the schema merges this list at all; else the patch replaces it. */
  readonly isMerged: boolean;
  /** A list without the items and members that carry directives. */
  readonly cleanList: (list: Json[]) => Json[];
}

/** The list after a `$setElementOrder`; undefined when neither side has the list. */
export function orderedBySetting(
  old: Json[] | undefined,
  patch: Json[] | undefined,
  order: Json[],
  merge: OrderedMerge,
): Json[] | undefined {
  checkOrder(patch ?? [], order, merge.mergeKey);
  if (old === undefined && patch === undefined) return undefined;
  if (!old?.length && !patch?.length) throw internal('no elements in any of the given slices');
  return inOrder(unordered(old, patch, merge), order, old ?? [], merge.mergeKey);
}

function unordered(old: Json[] | undefined, patch: Json[] | undefined, merge: OrderedMerge): Json[] {
  if (patch === undefined) return old ?? [];
  if (old === undefined) return merge.cleanList(patch);
  return merge.isMerged ? mergeLists(old, patch, merge) : patch;
}

/** The order must name every item of the patch, in the patch's order. */
function checkOrder(patch: Json[], order: Json[], mergeKey: string): void {
  if (order.length === 0 || patch.length === 0) return;
  const items = patch.filter((item) => !isJsonObject(item) || !Object.hasOwn(item, '$patch'));
  let next = 0;
  for (const entry of order) {
    if (next < items.length && keyValue(items[next] ?? null, mergeKey) === keyValue(entry, mergeKey)) next++;
  }
  if (next === items.length) return;
  const lists = `The order in patch list:\n${goPlain(patch)}\n doesn't match $setElementOrder list:\n${goPlain(order)}\n`;
  throw internal(lists);
}
