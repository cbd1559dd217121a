import { getKey, isJsonObject, type Json, type JsonObject, jsonEqual } from './json.ts';

// Servers refuse longer patches (10,000); long before that, whole members are cheaper.
const MOST_OPERATIONS = 1000;

/**
 * The JSON patch (RFC 6902) that makes `after` of `before`: `applyJsonPatch(before, diffJsonPatch(before, after))`
 * equals `after`. Empty when they are equal. Members are changed one by one, lists item by item between what they
 * start and end with alike. A patch that would be very long replaces whole members instead.
 */
export function diffJsonPatch(before: JsonObject, after: JsonObject): JsonObject[] {
  const operations: JsonObject[] = [];
  diffObject(operations, '', before, after);
  return operations.length <= MOST_OPERATIONS ? operations : wholeMembers(before, after);
}

function wholeMembers(before: JsonObject, after: JsonObject): JsonObject[] {
  const removed = removals('', before, after);
  const changed = Object.keys(after).flatMap((key) => {
    const value = getKey(after, key) ?? null;
    if (jsonEqual(getKey(before, key), value)) return [];
    return [{ op: Object.hasOwn(before, key) ? 'replace' : 'add', path: child('', key), value }];
  });
  return [...removed, ...changed];
}

const removals = (path: string, before: JsonObject, after: JsonObject): JsonObject[] =>
  Object.keys(before)
    .filter((key) => !Object.hasOwn(after, key))
    .map((key) => ({ op: 'remove', path: child(path, key) }));

function diffValue(operations: JsonObject[], path: string, before: Json, after: Json): void {
  if (isJsonObject(before) && isJsonObject(after)) return diffObject(operations, path, before, after);
  if (Array.isArray(before) && Array.isArray(after)) return diffList(operations, path, before, after);
  if (!jsonEqual(before, after)) operations.push({ op: 'replace', path, value: after });
}

function diffObject(operations: JsonObject[], path: string, before: JsonObject, after: JsonObject): void {
  operations.push(...removals(path, before, after));
  for (const key of Object.keys(after)) {
    const value = getKey(after, key) ?? null;
    const old = getKey(before, key);
    if (old === undefined) operations.push({ op: 'add', path: child(path, key), value });
    else diffValue(operations, child(path, key), old, value);
  }
}

/** What both lists start and end with stays; in between, items are changed in place, then cut or inserted. */
function diffList(operations: JsonObject[], path: string, before: readonly Json[], after: readonly Json[]): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && jsonEqual(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && jsonEqual(before.at(-1 - end), after.at(-1 - end))) end++;
  const oldEnd = before.length - end;
  const newEnd = after.length - end;
  const common = Math.min(oldEnd, newEnd);
  for (let at = start; at < common; at++) {
    diffValue(operations, `${path}/${at}`, before[at] ?? null, after[at] ?? null);
  }
  // From the back, so that positions stay what they are.
  for (let at = oldEnd - 1; at >= common; at--) operations.push({ op: 'remove', path: `${path}/${at}` });
  for (let at = common; at < newEnd; at++) {
    operations.push({ op: 'add', path: `${path}/${at}`, value: after[at] ?? null });
  }
}

const child = (path: string, key: string): string =>
  `${path}/${key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key}`;
