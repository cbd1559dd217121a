import type { Schema } from '../../api/schema/structural.ts';
import type { Json } from '../json.ts';
import { isGoInteger } from './go-text.ts';
import { microTimeProblem, timeProblem } from './go-time.ts';
import { quantityProblem } from './quantity-check.ts';

interface LeafProblem {
  /** The Go type the value should have had, or the whole text. */
  readonly text: string;
  readonly isMismatch: boolean;
}

/** A type that is decoded in one piece. */
interface Leaf {
  readonly goType: string;
  readonly zero: Json;
  problemOf(value: NonNullable<Json>): LeafProblem | undefined;
}

const mismatch = (text: string): LeafProblem => ({ text, isMismatch: true });

const ofType = (goType: string, zero: Json, isValid: (value: NonNullable<Json>) => boolean): Leaf => ({
  goType,
  zero,
  problemOf: (value) => (isValid(value) ? undefined : mismatch(goType)),
});

const isString = (value: Json): boolean => typeof value === 'string';
const isInt32 = (value: Json): boolean => isGoInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;

/** A string that is looked at further; its own texts name no field. */
const text = (goType: string, problem: (text: string) => string | undefined): Leaf => ({
  goType,
  zero: null,
  problemOf: (value) => {
    if (typeof value !== 'string') return mismatch('string');
    const found = problem(value);
    return found === undefined ? undefined : { text: found, isMismatch: false };
  },
});

const ANY = ofType('runtime.RawExtension', null, () => true);
const STRING = ofType('string', '', isString);
const BOOLEAN = ofType('bool', false, (value) => typeof value === 'boolean');
const INT32 = ofType('int32', 0, isInt32);
const INT64 = ofType('int64', 0, isGoInteger);
const FLOAT = ofType('float64', 0, (value) => typeof value === 'number' || typeof value === 'bigint');
const INT_OR_STRING: Leaf = {
  goType: 'intstr.IntOrString',
  zero: 0,
  problemOf: (value) => (isString(value) || isInt32(value) ? undefined : mismatch('int32')),
};
const QUANTITY: Leaf = {
  goType: 'resource.Quantity',
  zero: '0',
  problemOf: (value) => {
    const found = quantityProblem(value);
    return found === undefined ? undefined : { text: found, isMismatch: false };
  },
};
const BYTES: Leaf = {
  goType: '[]uint8',
  zero: '',
  problemOf: (value) => {
    if (typeof value !== 'string') return mismatch('[]uint8');
    const at = badBase64At(value);
    return at < 0 ? undefined : { text: `illegal base64 data at input byte ${at}`, isMismatch: false };
  },
};

/** Types whose schema does not show what they are. */
const BY_NAME: Readonly<Record<string, Leaf>> = {
  'meta.v1.Time': text('v1.Time', timeProblem),
  'meta.v1.MicroTime': text('v1.MicroTime', microTimeProblem),
  'meta.v1.Duration': text('v1.Duration', () => undefined),
  'meta.v1.FieldsV1': ANY,
  'resource.Quantity': QUANTITY,
  'intstr.IntOrString': INT_OR_STRING,
  'runtime.RawExtension': ANY,
  'apiextensions.v1.JSON': ANY,
  'apiextensions.v1.JSONSchemaPropsOrArray': ANY,
  'apiextensions.v1.JSONSchemaPropsOrBool': ANY,
  'apiextensions.v1.JSONSchemaPropsOrStringArray': ANY,
};

/** The leaf type of a node, or undefined for structs, maps and lists. */
export function leafOf(schema: Schema, typeName: string | undefined): Leaf | undefined {
  if (typeName !== undefined && Object.hasOwn(BY_NAME, typeName)) return BY_NAME[typeName];
  if (schema['x-kubernetes-int-or-string'] === true || schema.format === 'int-or-string') return INT_OR_STRING;
  if (schema.type === 'string') return stringLeaf(schema.format);
  if (schema.type === 'boolean') return BOOLEAN;
  if (schema.type === 'integer') return schema.format === 'int32' ? INT32 : INT64;
  if (schema.type === 'number') return FLOAT;
  return schema.type !== 'array' && isOpen(schema) ? ANY : undefined;
}

function stringLeaf(format: string | undefined): Leaf {
  if (format === 'byte') return BYTES;
  if (format === 'date-time') return BY_NAME['meta.v1.Time'] ?? STRING;
  return STRING;
}

/** An object without any field of its own, or anything at all. */
const isOpen = (schema: Schema): boolean =>
  schema.properties === undefined && schema.items === undefined && typeof schema.additionalProperties !== 'object';

/** Where Go's decoder stops; line breaks are skipped. -1: nowhere. */
function badBase64At(value: string): number {
  const bad = value.search(/[^A-Za-z0-9+/=\r\n]/);
  if (bad >= 0) return bad;
  const padding = value.search(/=/);
  const end = padding < 0 ? value.length : padding;
  const digits = value.slice(0, end).replace(/[\r\n]/g, '').length;
  const pads = value.slice(end).replace(/[\r\n]/g, '');
  if (digits % 4 === 0) return pads === '' ? -1 : end;
  if (digits % 4 === 1) return pads === '' ? value.length - 1 : end;
  return pads === '='.repeat(4 - (digits % 4)) ? -1 : value.length;
}
