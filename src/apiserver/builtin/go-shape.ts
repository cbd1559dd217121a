import { isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { tableOf } from '../builtin-data/schema-name.ts';
import { readTable } from '../builtin-data/table.ts';
import { canonicalAmount } from './quantities.ts';

/**
 * Upstream decodes into Go structs and writes them out again. That drops what is zero and marked omitempty, writes what
 * is not marked even when nobody gave it, and prints quantities in one form. The tables made for protobuf know which
 * field is which; a pass over an object gives it the same shape.
 */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly isPointer: boolean;
  readonly isOmitted: boolean;
  readonly isOmittedStruct: boolean;
  readonly isList: boolean;
  readonly isMap: boolean;
  readonly isInline: boolean;
}

const SCALAR_ZEROS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['s', ''],
  ['i', 0],
  ['l', 0],
  ['d', 0],
  ['b', false],
  ['B', null],
]);

/** Structs that are one value in JSON, with what their zero is written as. */
const LEAF_ZEROS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['meta.v1.Time', null],
  ['meta.v1.MicroTime', null],
  ['resource.Quantity', '0'],
  ['intstr.IntOrString', 0],
  ['runtime.RawExtension', null],
  ['meta.v1.FieldsV1', null],
  ['meta.v1.Duration', '0s'],
]);

const shapes = new Map<string, readonly Field[]>();

/** Gives an object the shape a Go struct of that type has in JSON; `type` is as in the tables: `core.v1.Pod`. */
export function shapeAsGo(object: JsonObject, type: string): void {
  for (const field of shapeOf(type)) {
    if (field.isInline) shapeAsGo(object, field.type);
    else if (field.isList) shapeList(object, field);
    else if (field.isMap) shapeMap(object, field);
    else shapeValue(object, field);
  }
}

const empties = new Map<string, JsonObject>();

/**
 * A new object of a Go type, before anything is written into it: structs that cannot be absent are there and empty.
 * It is one and the same object for all who ask.
 */
export function emptyAsGo(type: string): JsonObject {
  let empty = empties.get(type);
  if (empty === undefined) {
    empty = {};
    shapeAsGo(empty, type);
    empties.set(type, empty);
  }
  return empty;
}

function shapeOf(type: string): readonly Field[] {
  const known = shapes.get(type);
  if (known !== undefined) return known;
  const text = readTable<string>(`protobuf/${tableOf(type)}`).entries[type] ?? '';
  const fields = text === '' ? [] : text.split(' ').map(parseField);
  shapes.set(type, fields);
  return fields;
}

function parseField(text: string): Field {
  const [number = '', name = '', type = ''] = text.split(':');
  return {
    name,
    type,
    isPointer: number.includes('p'),
    isOmitted: number.includes('o'),
    isOmittedStruct: number.includes('z'),
    isList: number.includes('r'),
    isMap: number.includes('m'),
    // The table misses that this one struct is inlined as well: its Go tag is written differently from all others.
    isInline: number.includes('n') || name === 'ephemeralContainerCommon',
  };
}

/** Objects are kept as protobuf, which knows no difference between an empty list and none. */
function shapeList(object: JsonObject, { name, type, isOmitted, isPointer }: Field): void {
  const value = object[name];
  if (!Array.isArray(value) || value.length === 0) {
    if (isOmitted || isPointer) delete object[name];
    else object[name] = null;
    return;
  }
  const zero = SCALAR_ZEROS.get(type);
  if (zero !== undefined) object[name] = value.map((item) => item ?? zero);
  else if (LEAF_ZEROS.has(type)) object[name] = value.map((item) => leaf(item, type));
  else for (const item of value) if (isJsonObject(item)) shapeAsGo(item, type);
}

function shapeMap(object: JsonObject, { name, type, isOmitted }: Field): void {
  const value = object[name];
  const keys = isJsonObject(value) ? Object.keys(value) : [];
  if (!isJsonObject(value) || keys.length === 0) {
    if (isOmitted) delete object[name];
    else object[name] = null;
    return;
  }
  if (type === 'resource.Quantity') for (const key of keys) setKey(value, key, leaf(value[key] ?? null, type));
  else if (!SCALAR_ZEROS.has(type)) {
    for (const item of Object.values(value)) if (isJsonObject(item)) shapeAsGo(item, type);
  }
}

function shapeValue(object: JsonObject, field: Field): void {
  const { name, type, isPointer, isOmitted } = field;
  const value = object[name];
  if (isPointer && (value === undefined || value === null)) {
    if (isOmitted) delete object[name];
    else object[name] = null;
    return;
  }
  const zero = SCALAR_ZEROS.get(type);
  if (zero !== undefined) shapeScalar(object, field, zero);
  else if (LEAF_ZEROS.has(type)) shapeLeaf(object, field);
  else shapeStruct(object, field);
}

function shapeScalar(object: JsonObject, { name, isPointer, isOmitted }: Field, zero: Json): void {
  const value = object[name];
  const isZero = value === undefined || value === null || value === zero || (zero === null && value === '');
  if (!isZero || isPointer) return;
  if (isOmitted) delete object[name];
  else object[name] = zero;
}

function shapeLeaf(object: JsonObject, { name, type, isOmittedStruct }: Field): void {
  const value = object[name];
  if (value !== undefined && value !== null) object[name] = leaf(value, type);
  else if (isOmittedStruct) delete object[name];
  else object[name] = LEAF_ZEROS.get(type) ?? null;
}

function shapeStruct(object: JsonObject, { name, type, isOmittedStruct, isPointer }: Field): void {
  const value = object[name];
  const struct = isJsonObject(value) ? value : {};
  shapeAsGo(struct, type);
  if (isOmittedStruct && !isPointer && Object.keys(struct).length === 0) delete object[name];
  else object[name] = struct;
}

const leaf = (value: Json, type: string): Json => (type === 'resource.Quantity' ? canonicalAmount(value) : value);
