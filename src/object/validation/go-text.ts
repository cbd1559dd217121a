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
  let quoted = '"';
  for (const char of text) quoted += ESCAPES[char] ?? quotedChar(char);
  return `${quoted}"`;
}

function quotedChar(char: string): string {
  if (char === ' ' || PRINTABLE.test(char)) return char;
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** A float64 as Go's %v prints it: an exponent from 1e6 on and below 1e-4. */
export function goFloat(value: number): string {
  if (value === 0) return '0';
  const exponent = Number(value.toExponential().split('e')[1]);
  if (exponent >= -4 && exponent < 6) return String(value);
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const sign = power.startsWith('-') ? '-' : '+';
  return `${digits}e${sign}${power.replace(/^[+-]/, '').padStart(2, '0')}`;
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
  if (typeof value === 'number' || typeof value === 'bigint') {
    return isGoInteger(value) ? String(value) : goFloat(Number(value));
  }
  return goJson(value);
}
