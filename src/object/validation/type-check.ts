import type { Schema } from '../../api/schema/structural.ts';
import { getKey, type Json, type JsonObject, setKey } from '../json.ts';
import { goKind } from './go-text.ts';
import { leafOf } from './type-leaf.ts';

/** Names the Go type behind a node of a built-in schema, such as `core.v1.PodSpec`; OpenAPI alone cannot tell. */
export type TypeNames = (schema: Schema) => string | undefined;

// Go's decoder remembers no more.
const MOST_UNKNOWN = 100;

interface TypeCheck {
  /** Paths of the first hundred fields that were dropped, `spec.containers[0].zzz`, in the order of the body. */
  readonly unknown: readonly string[];
  /** What Go's decoder says about the first value of a wrong type. */
  readonly problem: string | undefined;
}

interface Walk {
  readonly typeNames: TypeNames;
  readonly unknown: string[];
  problem: string | undefined;
}

/** Where a value is: for unknown fields with positions and keys, for errors as Go names it. */
interface Place {
  readonly schema: Schema;
  readonly path: string;
  /** The struct the field is in and the path of fields to it; no struct: the value itself is decoded. */
  readonly struct: string;
  readonly fields: string;
}

/**
 * Does to a decoded body what Go's decoder does when it fills a typed object: drops unknown fields and nulls in place
 * and finds values of the wrong type. Names are case-sensitive. `root` says how errors name the type.
 */
export function checkTypes(object: JsonObject, schema: Schema, typeNames: TypeNames = () => undefined): TypeCheck {
  const walk: Walk = { typeNames, unknown: [], problem: undefined };
  checkValue(object, { schema, path: '', struct: '', fields: '' }, walk);
  return { unknown: walk.unknown, problem: walk.problem };
}

function checkValue(value: NonNullable<Json>, place: Place, walk: Walk): void {
  const { schema } = place;
  const typeName = walk.typeNames(schema);
  const leaf = leafOf(schema, typeName);
  if (leaf !== undefined) {
    const problem = leaf.problemOf(value);
    if (problem === undefined) return;
    // A named string type, such as types.UID, is called by its name.
    const isNamed = typeName !== undefined && leaf.goType === 'string';
    const goType = isNamed ? packageType(typeName) : problem.text;
    fail(walk, problem.isMismatch ? mismatch(value, goType, place) : problem.text);
  } else if (schema.type === 'array' || schema.items !== undefined) {
    checkList(value, place, walk);
  } else {
    checkObject(value, place, walk);
  }
}

function checkList(value: NonNullable<Json>, place: Place, walk: Walk): void {
  if (!Array.isArray(value)) {
    fail(walk, mismatch(value, goTypeOf(place.schema, walk.typeNames), place));
    return;
  }
  const items = place.schema.items ?? {};
  for (const [index, item] of value.entries()) {
    // A null item is the zero value of its type.
    if (item === null) value[index] = zeroOf(items, walk.typeNames);
    else checkValue(item, { ...place, schema: items, path: `${place.path}[${index}]` }, walk);
  }
}

function checkObject(value: NonNullable<Json>, place: Place, walk: Walk): void {
  const { schema } = place;
  if (typeof value !== 'object' || Array.isArray(value)) {
    fail(walk, mismatch(value, goTypeOf(schema, walk.typeNames), place));
  } else if (schema.properties === undefined && typeof schema.additionalProperties === 'object') {
    checkMap(value, schema.additionalProperties, place, walk);
  } else {
    checkStruct(value, place, walk);
  }
}

function checkMap(map: JsonObject, values: Schema, place: Place, walk: Walk): void {
  for (const key of Object.keys(map)) {
    const value = getKey(map, key) ?? null;
    if (value === null) setKey(map, key, zeroOf(values, walk.typeNames));
    else checkValue(value, { ...place, schema: values, path: `${place.path}.${key}` }, walk);
  }
}

function checkStruct(object: JsonObject, { schema, path, fields }: Place, walk: Walk): void {
  const properties = schema.properties ?? {};
  const prefix = path === '' ? '' : `${path}.`;
  const struct = structName(walk.typeNames(schema));
  for (const key of Object.keys(object)) {
    const child = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const value = getKey(object, key) ?? null;
    if (child === undefined) {
      if (walk.unknown.length < MOST_UNKNOWN) walk.unknown.push(`${prefix}${key}`);
      delete object[key];
    } else if (value === null) {
      delete object[key];
    } else {
      const place = {
        schema: child,
        path: `${prefix}${key}`,
        struct,
        fields: fields === '' ? key : `${fields}.${key}`,
      };
      checkValue(value, place, walk);
    }
  }
}

/** Go goes on after a value of the wrong type and reports the first. */
function fail(walk: Walk, problem: string): void {
  walk.problem ??= problem;
}

function mismatch(value: NonNullable<Json>, goType: string, { struct, fields }: Place): string {
  // A number that does not fit is shown; one in the place of something else is not.
  const isNumber = typeof value === 'number' || typeof value === 'bigint';
  const shown = isNumber && /^(?:int|uint|float)\d/.test(goType) ? `number ${value}` : goKind(value);
  const target = fields === '' ? 'value' : `struct field ${struct}.${fields}`;
  return `json: cannot unmarshal ${shown} into Go ${target} of type ${goType}`;
}

const structName = (typeName: string | undefined): string => typeName?.slice(typeName.lastIndexOf('.') + 1) ?? '';

/** `core.v1.PodSpec` is `v1.PodSpec` to Go. */
const packageType = (typeName: string): string => typeName.split('.').slice(-2).join('.');

/** The Go type of a node, as near as the schema tells: named strings look like plain ones. */
function goTypeOf(schema: Schema, typeNames: TypeNames): string {
  const name = typeNames(schema);
  if (name !== undefined) return packageType(name);
  const leaf = leafOf(schema, name);
  if (leaf !== undefined) return leaf.goType;
  if (schema.items !== undefined) return `[]${goTypeOf(schema.items, typeNames)}`;
  if (typeof schema.additionalProperties === 'object') {
    return `map[string]${goTypeOf(schema.additionalProperties, typeNames)}`;
  }
  return 'map[string]interface {}';
}

function zeroOf(schema: Schema, typeNames: TypeNames): Json {
  const leaf = leafOf(schema, typeNames(schema));
  if (leaf !== undefined) return leaf.zero;
  return schema.items === undefined ? {} : null;
}
