import { isJsonObject, type Json } from '../json.ts';

/** A string as Go's `%q` prints it. */
export function goQuote(text: string): string {
  // Nearly always nothing needs escaping.
  if (!/["\\\p{C}\p{Z}]/u.test(text.replaceAll(' ', ''))) return `"${text}"`;
  let quoted = '"';
  for (const symbol of text) quoted += quotedSymbol(symbol);
  return `${quoted}"`;
}

const SHORT: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\u0007', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
]);

function quotedSymbol(symbol: string): string {
  const short = SHORT.get(symbol);
  if (short !== undefined) return short;
  const code = symbol.codePointAt(0) ?? 0;
  if (symbol === ' ' || !/[\p{C}\p{Z}]/u.test(symbol)) return symbol;
  if (code < 0x80) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code < 0x1_00_00
    ? `\\u${code.toString(16).padStart(4, '0')}`
    : `\\U${code.toString(16).padStart(8, '0')}`;
}

/** A value as Go's `%v` prints what a JSON decoder made of it. */
export function goPlain(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`;
  if (!isJsonObject(value)) return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, item]) => `${key}:${goPlain(item)}`).join(' ')}]`;
}

/** The same as Go source, `%#v`. */
export function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]interface {}{${entries.map(([key, item]) => `${goQuote(key)}:${goSyntax(item)}`).join(', ')}}`;
}

/** The name of the Go type a JSON decoder chooses. */
export function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isJsonObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number' && !Number.isInteger(value)) return 'float64';
  return typeof value === 'string' ? 'string' : 'int64';
}
