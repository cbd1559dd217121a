import { isIP } from 'node:net';
import {
  childPath,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  keyPath,
  notSupported,
  required,
} from '../../object/field-error.ts';
import { type Json, type JsonObject, jsonEqual } from '../../object/json.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../object/names.ts';
import { has, numberAt, textAt } from './fields.ts';
import { portNumberProblems } from './name-rules.ts';

// Checks many kinds share. Each answers with the errors it found.

export type Rule = (text: string) => readonly string[];

export const checkRule = (path: string, value: string, rule: Rule): readonly FieldError[] =>
  rule(value).map((problem) => invalid(path, value, problem));

/** A name that must be given and follow a rule. */
export const checkName = (path: string, value: string, rule: Rule): readonly FieldError[] =>
  value === '' ? [required(path)] : checkRule(path, value, rule);

/** A choice of a few words; absent is fine. */
export function checkChoice(
  object: JsonObject,
  key: string,
  path: string,
  choices: readonly string[],
): readonly FieldError[] {
  if (!has(object, key)) return [];
  const value = textAt(object, key);
  return choices.includes(value) ? [] : [notSupported(childPath(path, key), value, choices)];
}

export const NOT_NEGATIVE = 'must be greater than or equal to 0';

export function checkNotNegative(object: JsonObject, key: string, path: string): readonly FieldError[] {
  const value = numberAt(object, key);
  return value === undefined || value >= 0 ? [] : [invalid(childPath(path, key), value, NOT_NEGATIVE)];
}

export const checkPortNumber = (path: string, port: number): readonly FieldError[] =>
  portNumberProblems(port).map((problem) => invalid(path, port, problem));

/** Labels, selectors of services and nodes: every error is reported on the map. */
export function checkLabels(labels: JsonObject, path: string): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...checkRule(path, key, qualifiedNameProblems),
    ...checkRule(path, typeof value === 'string' ? value : '', labelValueProblems),
  ]);
}

export const IMMUTABLE = 'field is immutable';

/** A field that may not change; the new value is shown. */
export function checkImmutable(
  object: JsonObject,
  old: JsonObject,
  key: string,
  path = '',
): readonly FieldError[] {
  if (jsonEqual(object[key], old[key])) return [];
  return [invalid(childPath(path, key), object[key] ?? null, IMMUTABLE)];
}

export const checkIp = (path: string, value: string): readonly FieldError[] =>
  isIP(value) === 0 ? [invalid(path, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')] : [];

/** Reports every value of a list that was there before. */
export function checkUnique(values: readonly string[], pathOf: (index: number) => string): readonly FieldError[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    const isSeen = value !== '' && seen.has(value);
    seen.add(value);
    return isSeen ? [duplicate(pathOf(index), value)] : [];
  });
}

const PERCENT = /^[0-9]+%$/;
const PERCENT_TEXT =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A number of pods or a percentage of them. */
export function checkCount(value: Json | undefined, path: string): readonly FieldError[] {
  if (typeof value === 'number') return value < 0 ? [invalid(path, value, NOT_NEGATIVE)] : [];
  if (typeof value !== 'string') return [];
  return PERCENT.test(value) ? [] : [invalid(path, value, PERCENT_TEXT)];
}

export const checkAtMostAll = (value: Json | undefined, path: string): readonly FieldError[] =>
  percentOf(value) > 100 ? [invalid(path, value ?? null, 'must not be greater than 100%')] : [];

const percentOf = (value: Json | undefined): number =>
  typeof value === 'string' && PERCENT.test(value) ? Number(value.slice(0, -1)) : 0;

export const isZeroCount = (value: Json | undefined): boolean =>
  value === 0 || (typeof value === 'string' && PERCENT.test(value) && percentOf(value) === 0);

/** Fields that only one choice of another field allows. */
export const checkForbidden = (
  object: JsonObject,
  key: string,
  path: string,
  why: string,
): readonly FieldError[] => (has(object, key) ? [forbidden(childPath(path, key), why)] : []);

/** Runs a check on every object of a list with its path: `spec.ports[0]`. */
export const checkEach = (
  items: readonly JsonObject[],
  path: string,
  check: (item: JsonObject, path: string, index: number) => readonly FieldError[],
): readonly FieldError[] => items.flatMap((item, index) => check(item, keyPath(path, index), index));
