import type { Schema } from '../api/schema/structural.ts';
import { getKey, isJsonObject, type Json, type JsonObject, setKey } from './json.ts';
import { PatchProblem } from './patch-problem.ts';
import { keyOfList, type ListMerge, mergeLists, orderedBySetting } from './strategic-list.ts';
import { goKind, goPlain, goType } from './validation/go-text.ts';

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM_LIST = '$deleteFromPrimitiveList';
const SET_ORDER = '$setElementOrder';

/**
 * A strategic merge patch (embedded-apiserver P3, P4): lists whose schema names a patch strategy merge by their key,
 * and directives in the patch say what plain merging cannot. Neither input is written to.
 */
export function applyStrategicMergePatch(target: JsonObject, patch: Json, schema: Schema): JsonObject {
  if (patch === null) return target;
  if (!isJsonObject(patch)) {
    throw new PatchProblem(
      'malformed',
      `json: cannot unmarshal ${goKind(patch)} into Go value of type map[string]interface {}`,
    );
  }
  return mergeObjects(target, patch, schema);
}

/** `schema` is undefined below a node that tells nothing about its members; that is wrong only if it must be asked. */
function mergeObjects(target: JsonObject, patch: JsonObject, schema: Schema | undefined): JsonObject {
  const directive = getKey(patch, DIRECTIVE);
  if (directive !== undefined) return replacement(directive, patch);
  const result = retained(target, patch);
  const done = new Set([RETAIN_KEYS]);
  for (const key of Object.keys(patch)) {
    if (key.startsWith(SET_ORDER)) setOrder({ result, patch, key, schema }, done);
  }
  for (const key of Object.keys(patch)) {
    if (done.has(key)) continue;
    const value = patch[key] ?? null;
    if (key.startsWith(DELETE_FROM_LIST)) {
      deleteItems(result, fieldOf(key, DELETE_FROM_LIST, 'primitive list'), value, schema);
    } else {
      mergeMember(result, key, value, schema);
    }
  }
  return result;
}

function replacement(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw badDirective(directive, patch);
  const result = { ...patch };
  delete result[DIRECTIVE];
  return result;
}

const badDirective = (directive: Json, patch: JsonObject): PatchProblem =>
  new PatchProblem('internal', `unknown patch type: ${goPlain(directive)} in map: ${goPlain(patch)}`);

/** A copy of the target without the members that `$retainKeys` leaves out. */
function retained(target: JsonObject, patch: JsonObject): JsonObject {
  const keep = getKey(patch, RETAIN_KEYS);
  if (keep === undefined) return { ...target };
  const names = Array.isArray(keep) ? new Set(keep) : undefined;
  const isListed = (key: string) =>
    names?.has(key) === true || key === RETAIN_KEYS || patch[key] === null || isListDirective(key);
  if (names === undefined || !Object.keys(patch).every(isListed)) {
    throw new PatchProblem('malformed', 'invalid patch format of retainKeys');
  }
  const result: JsonObject = {};
  for (const key of Object.keys(target)) {
    if (names.has(key)) setKey(result, key, target[key] ?? null);
  }
  return result;
}

const isListDirective = (key: string): boolean => key.startsWith(DELETE_FROM_LIST) || key.startsWith(SET_ORDER);

/** The field a directive such as `$setElementOrder/containers` is about. */
function fieldOf(key: string, prefix: string, what: string): string {
  if (key.startsWith(`${prefix}/`)) return key.slice(prefix.length + 1);
  throw new PatchProblem('malformed', `invalid patch format of ${what}`);
}

function mergeMember(result: JsonObject, key: string, value: Json, schema: Schema | undefined): void {
  if (value === null) {
    delete result[key];
    return;
  }
  const old = getKey(result, key);
  if (Array.isArray(value) && Array.isArray(old)) {
    setKey(result, key, mergeListMember(old, value, memberSchema(schema, key)));
  } else if (isJsonObject(value) && isJsonObject(old)) {
    const member = memberSchema(schema, key);
    const isReplaced = otherStrategy(member) === 'replace';
    setKey(result, key, isReplaced ? value : mergeObjects(old, value, member));
  } else {
    const clean = withoutDirectives(value);
    if (clean === undefined) delete result[key];
    else setKey(result, key, clean);
  }
}

function mergeListMember(old: Json[], value: Json[], schema: Schema): Json[] {
  if (otherStrategy(schema) !== 'merge') return value;
  return mergeLists(old, value, listMerge(schema));
}

const listMerge = (schema: Schema): ListMerge => ({
  mergeKey: keyOfList(schema),
  mergeItems: (old, item) => mergeObjects(old, item, schema.items),
});

function deleteItems(result: JsonObject, field: string, value: Json, schema: Schema | undefined): void {
  const old = getKey(result, field);
  if (value === null) delete result[field];
  if (!Array.isArray(old) || !Array.isArray(value)) return;
  if ([...old, ...value].some(isJsonObject)) {
    setKey(result, field, mergeLists(old, value, listMerge(memberSchema(schema, field))));
    return;
  }
  const deleted = new Set(value);
  setKey(
    result,
    field,
    old.filter((item) => !deleted.has(item)),
  );
}

interface OrderDirective {
  readonly result: JsonObject;
  readonly patch: JsonObject;
  readonly key: string;
  readonly schema: Schema | undefined;
}

/** Merges the list that a `$setElementOrder` is about and puts it in that order. */
function setOrder({ result, patch, key, schema }: OrderDirective, done: Set<string>): void {
  done.add(key);
  const order = listOf(patch[key] ?? null);
  const field = fieldOf(key, SET_ORDER, 'setElementOrder list');
  const old = getKey(result, field);
  const items = getKey(patch, field);
  if (old !== undefined) listOf(old);
  if (items !== undefined) listOf(items);
  const member = memberSchema(schema, field);
  const value = orderedBySetting(old as Json[] | undefined, items as Json[] | undefined, order, {
    ...listMerge(member),
    isMerged: otherStrategy(member) === 'merge',
    cleanList: (list) => withoutDirectives(list, true) as Json[],
  });
  if (value === undefined) return;
  setKey(result, field, value);
  done.add(field);
}

function listOf(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  throw new PatchProblem(
    'internal',
    `expected a []interface {}, but received a ${value === null ? '%!s(<nil>)' : goType(value)}`,
  );
}

function memberSchema(schema: Schema | undefined, key: string): Schema {
  const member = schema?.properties;
  if (member === undefined) {
    throw new PatchProblem('internal', 'merging an object in json but data type is not struct, instead is: map');
  }
  const found = Object.hasOwn(member, key) ? member[key] : undefined;
  if (found !== undefined) return found;
  throw new PatchProblem(
    'internal',
    `unable to find api field in struct for the json field ${JSON.stringify(key)}`,
  );
}

/** The strategy besides `retainKeys`, which matters only to those who make patches. */
function otherStrategy(schema: Schema): string | undefined {
  return schema['x-kubernetes-patch-strategy']?.split(',').find((strategy) => strategy !== 'retainKeys');
}

/**
 * What of a patch value becomes part of the object where there was nothing to merge with: no nulls in objects, nothing
 * that carries a directive. Undefined when nothing is left.
 */
function withoutDirectives(value: Json, keepsNulls = false): Json | undefined {
  if (Array.isArray(value)) {
    return value.map((item) => withoutDirectives(item, keepsNulls)).filter((item) => item !== undefined);
  }
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, DIRECTIVE)) return undefined;
  const result: JsonObject = {};
  for (const key of Object.keys(value)) {
    const member = value[key] ?? null;
    const clean = member === null && !keepsNulls ? undefined : withoutDirectives(member, keepsNulls);
    if (clean !== undefined) setKey(result, key, clean);
  }
  return result;
}
