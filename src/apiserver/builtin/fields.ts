import { isJsonObject, type Json, type JsonObject } from '../../object/json.ts';

// Reading and filling objects whose types were checked when they were decoded. What is missing reads as empty.

const NOTHING: JsonObject = Object.freeze({});
const NONE: readonly Json[] = Object.freeze([]);
const NO_OBJECTS: readonly JsonObject[] = Object.freeze([]);

export const textAt = (object: JsonObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value : '';
};

export const numberAt = (object: JsonObject, key: string): number | undefined => {
  const value = object[key];
  if (typeof value === 'number') return value;
  return typeof value === 'bigint' ? Number(value) : undefined;
};

/** The object below a key; a frozen empty one when there is none. */
export const objectAt = (object: JsonObject, key: string): JsonObject => {
  const value = object[key];
  return isJsonObject(value) ? value : NOTHING;
};

export const optionalAt = (object: JsonObject, key: string): JsonObject | undefined => {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
};

export const listAt = (object: JsonObject, key: string): readonly Json[] => {
  const value = object[key];
  return Array.isArray(value) ? value : NONE;
};

export const objectsAt = (object: JsonObject, key: string): readonly JsonObject[] => {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : NO_OBJECTS;
};

export const textsAt = (object: JsonObject, key: string): readonly string[] =>
  listAt(object, key).filter((item) => typeof item === 'string');

export const isTrue = (object: JsonObject, key: string): boolean => object[key] === true;

/** Whether a key holds something else than nothing: Go reads null as absent. */
export const has = (object: JsonObject, key: string): boolean => object[key] !== undefined && object[key] !== null;

export const metadataOf = (object: JsonObject): JsonObject => objectAt(object, 'metadata');
export const nameOf = (object: JsonObject): string => textAt(metadataOf(object), 'name');
export const specOf = (object: JsonObject): JsonObject => objectAt(object, 'spec');
export const statusOf = (object: JsonObject): JsonObject => objectAt(object, 'status');

export function setDefault(object: JsonObject, key: string, value: Json): void {
  if (object[key] === undefined || object[key] === null) object[key] = value;
}

/** For Go fields where zero and empty mean "not given". */
export function setDefaultText(object: JsonObject, key: string, value: Json): void {
  if (!object[key]) object[key] = value;
}

/** The object below a key, made when it is missing. */
export function ensureObject(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  if (isJsonObject(value)) return value;
  const created: JsonObject = {};
  object[key] = created;
  return created;
}

/** Takes a key from another object, also its absence. */
export function copyKey(target: JsonObject, source: JsonObject, key: string): void {
  const value = source[key];
  if (value === undefined) delete target[key];
  else target[key] = value;
}

/** RFC 3339 in whole seconds, as every Kubernetes Time. */
export const timestampOf = (date: Date): string => `${date.toISOString().slice(0, 19)}Z`;
