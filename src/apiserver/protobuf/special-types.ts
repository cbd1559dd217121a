import type { Json } from '../../object/json.ts';
import { parseRawJson } from './raw-json.ts';
import { ProtobufProblem } from './wire.ts';

/** What the wire held for the fields of a message, by their position; undefined when absent. */
export type Slots = readonly (Json | undefined)[];

/** Go's zero time, 0001-01-01. */
const ZERO_SECONDS = -62_135_596_800;
/** 9999-12-31T23:59:59Z: later years have no RFC 3339 form. */
const LAST_SECONDS = 253_402_300_799;

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const rawJson = ([raw]: Slots): Json => (text(raw) === '' ? null : parseRawJson(text(raw)));

/** Types whose JSON is not an object with their fields. All have their fields in the order of their numbers. */
export const SPECIAL_TYPES: ReadonlyMap<string, (slots: Slots) => Json> = new Map<string, (slots: Slots) => Json>([
  ['meta.v1.Time', ([seconds]) => timeText(seconds, undefined, 0)],
  ['meta.v1.MicroTime', ([seconds, nanos]) => timeText(seconds, nanos, 6)],
  ['resource.Quantity', ([string]) => text(string) || '0'],
  ['intstr.IntOrString', ([type, number, string]) => (type === 1 ? text(string) : (number ?? 0))],
  ['runtime.RawExtension', rawJson],
  ['meta.v1.FieldsV1', rawJson],
  ['apiextensions.v1.JSON', rawJson],
  ['apiextensions.v1.JSONSchemaPropsOrArray', ([schema, list]) => list ?? schema ?? null],
  ['apiextensions.v1.JSONSchemaPropsOrBool', ([allows, schema]) => schema ?? allows ?? false],
  ['apiextensions.v1.JSONSchemaPropsOrStringArray', ([schema, list]) => list ?? schema ?? null],
]);

/** RFC 3339 in UTC; null for Go's zero time. Without any field on the wire it is that, too. */
function timeText(seconds: Json | undefined, nanos: Json | undefined, digits: number): Json {
  if (seconds === undefined && nanos === undefined) return null;
  const whole = inRange(seconds ?? 0, ZERO_SECONDS, LAST_SECONDS);
  const fraction = inRange(nanos ?? 0, 0, 999_999_999);
  if (whole === ZERO_SECONDS && fraction === 0) return null;
  const instant = new Date(whole * 1000).toISOString().slice(0, 'yyyy-mm-ddThh:mm:ss'.length);
  const micros = Math.trunc(fraction / 1000);
  return digits === 0 ? `${instant}Z` : `${instant}.${String(micros).padStart(digits, '0')}Z`;
}

function inRange(value: Json, least: number, most: number): number {
  if (typeof value === 'number' && value >= least && value <= most) return value;
  throw new ProtobufProblem('a time is out of range');
}
