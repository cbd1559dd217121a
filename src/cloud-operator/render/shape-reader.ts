import { getKey, isJsonObject, type Json, type JsonObject, setKey } from '../../object/json.ts';
import { nearestWord } from '../../object/nearest-word.ts';
import { FIELD_SHAPES } from './generated/field-shapes.ts';

/** Why a manifest is refused. */
export interface ManifestProblem {
  readonly problem: 'syntax' | 'duplicate-key' | 'unknown-field' | 'wrong-type' | 'unsupported-kind';
  /** `spec.template.spec.containers[0].env[1]`; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/**
 * Something sloppy that is put right as the typed decoder of upstream does it (R24): the name of a field in another case, a null,
 * a number or boolean where text belongs, another apiVersion than that of the kind.
 */
export interface ManifestNote {
  readonly coercion: 'case' | 'null' | 'text' | 'apiVersion';
  readonly path: string;
  readonly message: string;
}

/** Reads values by their shape, see `generated/field-shapes.ts`; notes what it changes and what it cannot take. */
export class ShapeReader {
  readonly problems: ManifestProblem[] = [];
  readonly notes: ManifestNote[] = [];

  /** A copy of the value in its shape; undefined where there is a problem. */
  value(value: Json, shape: string, path: string): Json | undefined {
    if (shape.startsWith('[]')) return this.#list(value, shape.slice(2), path);
    if (shape.startsWith('{}')) return this.#map(value, shape.slice(2), path);
    const fields = FIELD_SHAPES[shape];
    return fields === undefined ? this.#scalar(value, shape, path) : this.#object(value, fields, path);
  }

  problem(problem: ManifestProblem['problem'], path: string, message: string): undefined {
    this.problems.push({ problem, path, message });
  }

  note(coercion: ManifestNote['coercion'], path: string, message: string): void {
    this.notes.push({ coercion, path, message });
  }

  #list(value: Json, shape: string, path: string): Json | undefined {
    if (!Array.isArray(value)) return this.#mismatch('a list', value, path);
    return value.flatMap((item, index) => this.value(item, shape, `${path}[${index}]`) ?? []);
  }

  #map(value: Json, shape: string, path: string): Json | undefined {
    if (!isJsonObject(value)) return this.#mismatch('an object', value, path);
    const result: JsonObject = {};
    for (const [key, item] of Object.entries(value)) {
      const place = `${path}[${key}]`;
      // Under its key, a null of a map stays as the empty text; fields without a value are not there.
      const isEmptyText = item === null && shape === 'string';
      if (isEmptyText) this.note('null', place, 'null is taken for the empty text');
      const read = isEmptyText ? '' : this.value(item, shape, place);
      if (read !== undefined) setKey(result, key, read);
    }
    return result;
  }

  #object(value: Json, fields: Readonly<Record<string, string>>, path: string): Json | undefined {
    if (!isJsonObject(value)) return this.#mismatch('an object', value, path);
    const result: JsonObject = {};
    const seen = new Set<string>();
    for (const [key, item] of Object.entries(value)) {
      const field = this.#fieldOf(key, fields, path);
      if (field === undefined) continue;
      const place = path === '' ? field : `${path}.${field}`;
      if (seen.has(field)) {
        this.problem('duplicate-key', place, `the field is there more than once, also as ${key}`);
      } else if (item === null) {
        this.note('null', place, 'null is left out');
      } else {
        const read = this.value(item, fields[field] ?? 'any', place);
        if (read !== undefined) setKey(result, field, read);
      }
      seen.add(field);
    }
    return result;
  }

  #fieldOf(key: string, fields: Readonly<Record<string, string>>, path: string): string | undefined {
    if (Object.hasOwn(fields, key)) return key;
    const names = Object.keys(fields);
    const field = names.find((name) => name.toLowerCase() === key.toLowerCase());
    const place = path === '' ? key : `${path}.${key}`;
    if (field !== undefined) {
      this.note('case', place, `the field is spelled ${field}`);
      return field;
    }
    const nearest = nearestWord(key, names);
    const hint = nearest === undefined ? '' : `, did you mean ${nearest}?`;
    return this.problem('unknown-field', place, `unknown field${hint}`);
  }

  #scalar(value: Json, shape: string, path: string): Json | undefined {
    if (shape === 'any' || isOfShape(value, shape)) return value;
    if (isTextual(value) && shape === 'quantity') return String(value);
    if (!isTextual(value) || shape !== 'string') return this.#mismatch(SHAPE_WORDS[shape] ?? shape, value, path);
    this.note('text', path, `${String(value)} is not a text; quote it`);
    return String(value);
  }

  #mismatch(expected: string, value: Json, path: string): undefined {
    return this.problem('wrong-type', path, `expected ${expected}, found ${wordFor(value)}`);
  }
}

const SHAPE_WORDS: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  integer: 'an integer',
  'int-or-string': 'an integer or a text',
  quantity: 'a quantity',
};

/** Scalars that have a text, so that they can become one. */
const isTextual = (value: Json): value is number | bigint | boolean =>
  typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean';

function isOfShape(value: Json, shape: string): boolean {
  const isInteger = typeof value === 'bigint' || Number.isInteger(value);
  if (shape === 'boolean') return typeof value === 'boolean';
  if (shape === 'integer') return isInteger;
  return typeof value === 'string' || (shape === 'int-or-string' && isInteger);
}

function wordFor(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (isJsonObject(value)) return 'an object';
  return typeof value === 'string' ? `the text ${JSON.stringify(value)}` : String(value);
}

/** The value of a key, in whatever case it is written. */
export function keyInAnyCase(value: JsonObject, name: string): Json | undefined {
  const key = Object.hasOwn(value, name)
    ? name
    : Object.keys(value).find((one) => one.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : getKey(value, key);
}
