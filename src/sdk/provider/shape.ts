import { types } from 'node:util';
import { nearestWord } from '../../object/nearest-word.ts';
import { fieldPath, isPlain } from './plain-copy.ts';

/** Codes that any value can earn, whatever it is for. */
export const SHAPE_CODES = { unknown: 'SW2110', missing: 'SW2111', kind: 'SW2112', value: 'SW2113' } as const;

/** One thing that is wrong with a value. */
export interface Issue {
  /** `providerID.pattern`, `architectures[1]`; empty for the whole. */
  readonly path: string;
  readonly code: string;
  /** What is wrong, what was found and what is allowed. */
  readonly message: string;
  /** A way on. */
  readonly hint: string;
  readonly why?: string;
}

export type Note = (issue: Issue) => void;

/** What a value may be: notes everything that is wrong with it. The value must be a plain copy. */
export type Shape = (value: unknown, path: string, note: Note) => void;

export interface Field {
  readonly shape: Shape;
  readonly isRequired: boolean;
  /** What to write when it is missing. */
  readonly hint: string;
}

export const required = (shape: Shape, hint = ''): Field => ({ shape, isRequired: true, hint });
export const optional = (shape: Shape): Field => ({ shape, isRequired: false, hint: '' });

/** One field per field of the type: a new field of the type without a shape does not compile. */
export type Fields<Type> = { readonly [Key in keyof Required<Type>]: Field };

/** An object with these fields. Others are issues, unless the object comes from a cloud, which may say more. */
export function record<Type>(fields: Fields<Type>, others: 'refused' | 'ignored' = 'refused'): Shape {
  const table = Object.entries<Field>(fields);
  const known = table.map(([key]) => key);
  return (value, path, note) => {
    if (!isPlain(value)) return note(wrongKind(path, kindOfRecord(value), value));
    const { unknown, isMeant } = namesIn(Object.keys(value), known);
    for (const [key, { shape, isRequired, hint }] of table) {
      const place = fieldPath(path, key);
      if (Object.hasOwn(value, key)) shape(value[key], place, note);
      else if (isRequired && (others === 'ignored' || !isMeant(key))) note(missing(place, hint));
    }
    if (others === 'refused') for (const key of unknown) note(unknownName(path, key, known));
  };
}

/** An instance of a class is an object, too: then the word alone would not say what is wrong. */
const kindOfRecord = (value: unknown): string =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? 'a plain object' : 'an object';

/** The names that are not known, and which of the missing ones they stand for: one typo is one issue. */
export function namesIn(
  own: readonly string[],
  known: readonly string[],
): { readonly unknown: readonly string[]; readonly isMeant: (name: string) => boolean } {
  const unknown = own.filter((name) => !known.includes(name));
  const free = known.filter((name) => !own.includes(name));
  const meant = new Set(unknown.map((name) => nearestWord(name, free)));
  return { unknown, isMeant: (name) => meant.has(name) };
}

/** Text that a person can read: one line, not empty, without control characters. */
export const text: Shape = (value, path, note) => {
  if (typeof value !== 'string') return note(wrongKind(path, 'text', value));
  if (value.trim() === '') note(wrongValue(path, 'text that is not empty', value));
  else if (/\p{Cc}/u.test(value)) note(wrongValue(path, 'one line of text', value));
};

/** Text that matches; `what` completes "must be". */
export const matching =
  (pattern: RegExp, what: string, why?: string): Shape =>
  (value, path, note) => {
    if (typeof value !== 'string') return note(wrongKind(path, what, value));
    if (!pattern.test(value)) note({ ...wrongValue(path, what, value), ...(why !== undefined && { why }) });
  };

export const oneOf =
  (...allowed: readonly string[]): Shape =>
  (value, path, note) => {
    if (typeof value === 'string' && allowed.includes(value)) return;
    const near = typeof value === 'string' ? nearestWord(value, allowed) : undefined;
    const issue = wrongValue(path, allowed.length === 1 ? quoted(allowed) : `one of ${quoted(allowed)}`, value);
    note({ ...issue, hint: near === undefined ? 'choose one of these' : `did you mean '${near}'?` });
  };

/** Of one list, so many wrong entries are told: what is wrong with all of a long one is one mistake. */
const MOST_WRONG_ENTRIES = 20;

/** A list; `fewest` 1 where an empty one would say nothing. */
export const listOf =
  (item: Shape, { fewest = 0 }: { readonly fewest?: number } = {}): Shape =>
  (value, path, note) => {
    if (!Array.isArray(value)) return note(wrongKind(path, 'a list', value));
    if (value.length < fewest) note(wrongValue(path, 'a list with at least one entry', value));
    let wrong = 0;
    for (const [index, one] of value.entries()) {
      let isRight = true;
      item(one, `${path}[${index}]`, (issue) => {
        isRight = false;
        note(issue);
      });
      if (!isRight && ++wrong === MOST_WRONG_ENTRIES) return;
    }
  };

/** The same without repetitions: for lists of choices. */
export const setOf =
  (item: Shape, bounds: { readonly fewest?: number } = {}): Shape =>
  (value, path, note) => {
    listOf(item, bounds)(value, path, note);
    if (!Array.isArray(value)) return;
    const repeated = repeatedText(value);
    if (repeated === undefined) return;
    note({
      path,
      code: SHAPE_CODES.value,
      message: `${path} lists ${found(repeated)} twice`,
      hint: 'leave the second one out',
    });
  };

/** The first text that stands in a list for the second time. */
export function repeatedText(list: readonly unknown[]): string | undefined {
  const seen = new Set<unknown>();
  return list.find((one): one is string => typeof one === 'string' && (seen.has(one) || !seen.add(one)));
}

/** A whole number from `min` to `max`. */
export const whole =
  (min: number, max = Number.MAX_SAFE_INTEGER): Shape =>
  (value, path, note) => {
    const range = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
    if (typeof value !== 'number') return note(wrongKind(path, `a whole number ${range}`, value));
    if (!Number.isSafeInteger(value) || value < min || value > max) {
      note(wrongValue(path, `a whole number ${range}`, value));
    }
  };

/** A number of at least 0, fractions allowed. */
export const amount: Shape = (value, path, note) => {
  if (typeof value !== 'number') return note(wrongKind(path, 'a number of at least 0', value));
  if (!Number.isFinite(value) || value < 0) note(wrongValue(path, 'a number of at least 0', value));
};

/** A size: bigint, so that no volume is too large for it. */
export const bytes =
  (min: bigint): Shape =>
  (value, path, note) => {
    if (typeof value !== 'bigint') {
      const hint = typeof value === 'number' ? `write ${Math.trunc(value)}n` : 'write a bigint such as 1024n';
      return note({ ...wrongKind(path, `a bigint of at least ${min}n`, value), hint });
    }
    if (value < min) note(wrongValue(path, `a bigint of at least ${min}n`, value));
  };

export const flag: Shape = (value, path, note) => {
  if (typeof value !== 'boolean') note(wrongKind(path, 'true or false', value));
};

export const textMap: Shape = (value, path, note) => {
  if (!isPlain(value)) return note(wrongKind(path, 'an object of texts', value));
  for (const [key, one] of Object.entries(value)) {
    if (typeof one !== 'string') note(wrongKind(fieldPath(path, key), 'text', one));
  }
};

export const callable: Shape = (value, path, note) => {
  if (typeof value !== 'function') note(wrongKind(path, 'a function', value));
};

/** A pattern that answers the same whenever it is asked: `g` and `y` remember where they were. */
export const regexp: Shape = (value, path, note) => {
  if (!types.isRegExp(value)) return note(wrongKind(path, 'a regular expression', value));
  if (!value.global && !value.sticky) return;
  note({
    path,
    code: SHAPE_CODES.value,
    message: `${path} must be a regular expression without the flags g and y, not ${found(value)}`,
    hint: `write /${value.source}/${value.flags.replace(/[gy]/g, '')}`,
    why: 'with these flags a pattern remembers where it stopped, and its next answer is wrong',
  });
};

/** With the nearest name that is known, or all of them. */
export function unknownName(path: string, name: string, known: readonly string[]): Issue {
  const place = fieldPath(path, name);
  const near = nearestWord(name, known);
  return {
    path: place,
    code: SHAPE_CODES.unknown,
    message: `${place} is unknown`,
    hint: near === undefined ? `leave it out; known: ${known.join(', ')}` : `did you mean ${near}?`,
  };
}

export const missing = (path: string, hint = ''): Issue => ({
  path,
  code: SHAPE_CODES.missing,
  message: `${path} is missing`,
  hint: hint === '' ? 'add it' : hint,
});

export const wrongKind = (path: string, what: string, value: unknown): Issue => ({
  path,
  code: SHAPE_CODES.kind,
  message: `${path === '' ? 'it' : path} must be ${what}, not ${found(value)}`,
  hint: value === null ? 'leave it out instead of null' : `write ${what}`,
});

export const wrongValue = (path: string, what: string, value: unknown): Issue => ({
  path,
  code: SHAPE_CODES.value,
  message: `${path === '' ? 'it' : path} must be ${what}, not ${found(value)}`,
  hint: `write ${what}`,
});

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(', ');

/** What was found, short enough for one line. */
export function found(value: unknown): string {
  if (typeof value === 'string') {
    return value.length > 60 ? `text of ${value.length} characters` : JSON.stringify(value);
  }
  if (typeof value === 'object' && value !== null) return foundObject(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (value === undefined) return 'nothing';
  const isSimple = value === null || typeof value === 'number' || typeof value === 'boolean';
  return isSimple ? String(value) : `a ${typeof value}`;
}

function foundObject(value: object): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (types.isRegExp(value)) return String(value);
  if (types.isPromise(value)) return 'a promise';
  const name = isPlain(value) ? undefined : classNameOf(value);
  return name === undefined ? 'an object' : `an instance of ${name}`;
}

/** Undefined when it has none that can be read. */
function classNameOf(value: object): string | undefined {
  try {
    const name: unknown = Reflect.get(Object(Reflect.get(value, 'constructor')), 'name');
    return typeof name === 'string' && /^[\p{ID_Start}$_][\p{ID_Continue}$]{0,59}$/u.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
