import { isJsonObject, type Json } from '../json.ts';
import { parseJson } from '../json-text.ts';
import { goQuote } from '../validation/go-text.ts';

/**
 * One step of a path, spelled as in fieldsV1: `f:<field>`, `k:<json of the key fields>`, `v:<json>` or `i:<index>`. The
 * spelling is canonical, so that two steps are the same exactly when their texts are.
 */
export type PathElement = string;

// Joining and hashing a name for every field of every object is a third of the work otherwise.
const fieldElements = new Map<string, PathElement>();

export function fieldElement(name: string): PathElement {
  const known = fieldElements.get(name);
  if (known !== undefined) return known;
  const element = `f:${name}`;
  if (fieldElements.size >= MAX_CACHED) fieldElements.clear();
  fieldElements.set(name, element);
  return element;
}

/** The keys of an object in the order of their field elements. */
export function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  for (let at = 1; at < keys.length; at++) {
    if ((keys[at - 1] ?? '') > (keys[at] ?? ''))
      return keys.some(hasSurrogate) ? keys.sort(compareText) : keys.sort();
  }
  return keys;
}

const hasSurrogate = (text: string): boolean => /[\ud800-\udfff]/.test(text);

export const isFieldElement = (element: PathElement): boolean => element.charCodeAt(0) === F;
export const isKeyElement = (element: PathElement): boolean => element.charCodeAt(0) === K;
export const fieldName = (element: PathElement): string => element.slice(2);

const F = 0x66;
const I = 0x69;
const K = 0x6b;
const V = 0x76;
const COLON = 0x3a;
const MAX_CACHED = 4096;

type KeyFields = readonly (readonly [name: string, value: Json])[];

// Keys of list items repeat from object to object (`k:{"name":"app"}`); all caches start anew when they are full.
const parsedValues = new Map<string, Json>();
const parsedKeys = new Map<string, KeyFields>();

function remembered<Parsed>(cache: Map<string, Parsed>, element: string, parse: (json: Json) => Parsed): Parsed {
  const known = cache.get(element);
  if (known !== undefined) return known;
  const parsed = parse(parseJson(element.slice(2)).value);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(element, parsed);
  return parsed;
}

const valueOf = (element: PathElement): Json => remembered(parsedValues, element, (json) => json);

const keyFieldsOf = (element: PathElement): KeyFields =>
  remembered(parsedKeys, element, (json) => {
    if (!isJsonObject(json)) throw new Error(`not an object: ${element}`);
    return Object.entries(json).sort(([a], [b]) => compareText(a, b));
  });

/**
 * The canonical spelling of a step that somebody else wrote; `undefined` for a kind of step that nobody knows yet, which
 * upstream drops. Throws for what is no step at all.
 */
export function canonicalElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new Error('key must be 2 characters long:');
  if (text.charCodeAt(1) !== COLON) throw new Error(`missing colon: ${text}`);
  switch (text.charCodeAt(0)) {
    case F:
      return text;
    case V:
      return valueElement(valueOf(text));
    case K:
      return keyElement(keyFieldsOf(text));
    case I:
      return indexElement(text);
    default:
      return undefined;
  }
}

export const valueElement = (value: Json): PathElement => `v:${keyJson(value)}`;

/** The fields must be sorted by name. */
export function keyElement(fields: KeyFields): PathElement {
  let text = 'k:{';
  for (const [name, value] of fields) text += `${text.length > 3 ? ',' : ''}${keyJson(name)}:${keyJson(value)}`;
  return `${text}}`;
}

function indexElement(text: string): PathElement {
  const digits = text.slice(2);
  if (!/^[+-]?\d+$/.test(digits)) throw new Error(`strconv.Atoi: parsing ${goQuote(digits)}: invalid syntax`);
  return `i:${BigInt(digits)}`;
}

/** JSON as Go prints it into a path: keys sorted, and what HTML or JavaScript would trip over escaped. */
export function keyJson(value: Json): string {
  if (typeof value === 'string') return escapedForGo(JSON.stringify(value));
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(keyJson).join(',')}]`;
  const entries = Object.entries(value).sort(([a], [b]) => compareText(a, b));
  return `{${entries.map(([key, item]) => `${keyJson(key)}:${keyJson(item)}`).join(',')}}`;
}

const ESCAPED = /[<>&\u2028\u2029]|\\[bf]/g;
const escapedForGo = (json: string): string =>
  json.search(ESCAPED) === -1 ? json : json.replace(ESCAPED, escaped);

function escaped(found: string): string {
  const code = found === '\\b' ? 8 : found === '\\f' ? 12 : found.charCodeAt(0);
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** The order of fieldsV1: fields by name, then list items by key, then set members by value, then positions. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const kind = a.charCodeAt(0);
  if (kind !== b.charCodeAt(0)) return RANKS.indexOf(kind) - RANKS.indexOf(b.charCodeAt(0));
  if (kind === F) return compareText(a, b);
  if (kind === K) return compareKeyFields(keyFieldsOf(a), keyFieldsOf(b));
  if (kind === V) return compareValues(valueOf(a), valueOf(b));
  return Number(a.slice(2)) - Number(b.slice(2));
}

const RANKS = [F, K, V, I];

/** By code point, which is the order of the bytes in UTF-8; JavaScript's own order differs beyond the basic plane. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right)
      return isSurrogate(left) === isSurrogate(right) ? left - right : isSurrogate(left) ? 1 : -1;
  }
  return a.length - b.length;
}

const isSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdfff;

function compareKeyFields(a: KeyFields, b: KeyFields): number {
  for (let at = 0; ; at++) {
    const [left, right] = [a[at], b[at]];
    if (left === undefined || right === undefined) return a.length - b.length;
    const order = compareText(left[0], right[0]) || compareValues(left[1], right[1]);
    if (order !== 0) return order;
  }
}

const KINDS = ['number', 'string', 'boolean', 'list', 'map', 'null'];

function kindOf(value: Json): string {
  if (value === null) return 'null';
  if (typeof value === 'object') return Array.isArray(value) ? 'list' : 'map';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

function compareValues(a: Json, b: Json): number {
  const [left, right] = [kindOf(a), kindOf(b)];
  if (left !== right) return KINDS.indexOf(left) - KINDS.indexOf(right);
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if (typeof a === 'boolean') return Number(a) - Number(b);
  // Lists and maps are no members of sets; any fixed order will do.
  return compareText(keyJson(a), keyJson(b));
}

const isNumber = (value: Json): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';

/** `.name`, `[port=80]`, `[="x"]`, `[3]`, as conflicts and type errors name it. */
export function elementText(element: PathElement): string {
  switch (element.charCodeAt(0)) {
    case F:
      return `.${element.slice(2)}`;
    case K:
      return `[${keyFieldsOf(element)
        .map(([name, value]) => `${name}=${valueText(value)}`)
        .join(',')}]`;
    case V:
      return `[=${valueText(valueOf(element))}]`;
    default:
      return `[${element.slice(2)}]`;
  }
}

function valueText(value: Json): string {
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[${value.map(valueText).join(',')}]`;
  if (!isJsonObject(value)) return String(value);
  return Object.entries(value)
    .map(([key, item]) => `${key}=${valueText(item)}`)
    .join('');
}
