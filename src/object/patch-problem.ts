import type { Json } from './json.ts';

/**
 * Why a patch cannot be applied; the kind says which answer it is: `malformed` 400, `too-large` 413, `unprocessable`
 * 422 (upstream sends the client a general sentence, E24), `internal` 500 for what upstream does not expect.
 */
export type PatchProblemKind = 'malformed' | 'too-large' | 'unprocessable' | 'internal';

export class PatchProblem extends Error {
  readonly kind: PatchProblemKind;

  constructor(kind: PatchProblemKind, message: string) {
    super(message);
    this.name = 'PatchProblem';
    this.kind = kind;
  }
}

/** A value as Go prints it in messages: `map[a:1 b:[x y] c:<nil>]`. */
export function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (typeof value !== 'object') return String(value);
  const members = Object.keys(value).toSorted();
  return `map[${members.map((key) => `${key}:${goText(value[key] ?? null)}`).join(' ')}]`;
}

/** The Go type that upstream's decoder makes of a value. */
export function goType(value: Json | undefined): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'number') return Number.isInteger(value) ? 'int64' : 'float64';
  if (typeof value === 'bigint') return 'int64';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  return value === null || value === undefined ? '%!s(<nil>)' : 'map[string]interface {}';
}

/** The kind of a JSON value in the words of Go's decoder. */
export function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'number';
  return value === null ? 'null' : typeof value;
}
