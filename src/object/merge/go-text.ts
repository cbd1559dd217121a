import { isJsonObject, type Json } from '../json.ts';
import { goQuote } from '../validation/go-text.ts';

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
