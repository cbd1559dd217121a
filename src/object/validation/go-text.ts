import { isJsonObject, type Json, type JsonObject } from '../json.ts';

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Whether Go's decoder holds a number as int64. A JSON number that was written with a fraction of zero (`1.0`) counts as
 * an integer too, since JavaScript cannot tell them apart (embedded-apiserver X17).
 */
export const isGoInteger = (value: Json): value is number | bigint =>
  typeof value === 'bigint' ? value >= MIN_INT64 && value <= MAX_INT64 : Number.isSafeInteger(value);

const PLAIN = /^[ !#-[\]-~]*$/;
const NOT_PLAIN = /[^ !#-[\]-~]/gu;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

/** A string as Go's %q prints it. */
export function goQuote(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  return `"${text.replaceAll(NOT_PLAIN, (char) => ESCAPES[char] ?? quotedChar(char))}"`;
}

function quotedChar(char: string): string {
  if (char === ' ' || PRINTABLE.test(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** A float64 as Go's %v prints it: the fewest digits that tell it apart, an exponent from 1e6 on and below 1e-4. */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [digits = '', exponent = '0'] = value.toExponential().split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`;
}

const HTML = /[<>&\u2028\u2029]/g;

/** A value as Go's encoding/json writes it: keys sorted, HTML characters escaped. */
export function goJson(value: Json | undefined): string {
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'string') return goJsonString(value);
  if (typeof value === 'bigint') return isGoInteger(value) ? String(value) : String(Number(value));
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  if (isJsonObject(value)) return goJsonObject(value);
  return JSON.stringify(value);
}

const goJsonString = (text: string): string =>
  JSON.stringify(text).replace(HTML, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const goJsonObject = (value: JsonObject): string =>
  `{${Object.keys(value)
    .toSorted()
    .map((key) => `${goJsonString(key)}:${goJson(value[key])}`)
    .join(',')}}`;

/** A value as a field error of Kubernetes prints it. */
export function goValue(value: Json | undefined): string {
  if (typeof value === 'string') return goQuote(value);
  return typeof value === 'number' || typeof value === 'bigint' ? goNumber(value) : goJson(value);
}

const goNumber = (value: number | bigint): string => (isGoInteger(value) ? String(value) : goFloat(Number(value)));

/** A value as Go's %v prints what a JSON decoder made of it: `map[a:1 b:[x y] c:<nil>]`. */
export function goPlain(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (typeof value === 'number' || typeof value === 'bigint') return goNumber(value);
  if (!isJsonObject(value)) return String(value);
  const members = Object.keys(value).toSorted();
  return `map[${members.map((key) => `${key}:${goPlain(value[key] ?? null)}`).join(' ')}]`;
}

/** The same as Go source, %#v. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return goPlain(value);
  const members = Object.keys(value).toSorted();
  return `map[string]interface {}{${members.map((key) => `${goQuote(key)}:${goSyntax(value[key] ?? null)}`).join(', ')}}`;
}

/** The Go type that a JSON decoder makes of a value, %T. */
export function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return isGoInteger(value) ? 'int64' : 'float64';
}

/** The kind of a JSON value in the words of Go's decoder: `cannot unmarshal array into …`. */
export function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'number';
  return value === null ? 'null' : typeof value;
}
