import type { Schema } from '../../api/schema/structural.ts';
import type { FieldError } from '../field-error.ts';
import { getKey, type Json, type JsonObject, jsonEqual } from '../json.ts';
import { goJson, isGoInteger } from './go-text.ts';
import { type Node, nodeOf } from './node.ts';
import { Correlation } from './ratchet.ts';
import { Report } from './report.ts';
import { checkNumber, isAlmostInteger } from './validate-number.ts';

interface ValidateOptions {
  /** The path of the value in its object; undefined: it is a whole object. Only fields show it, texts do not. */
  readonly base?: string;
  /** The stored value; what did not change since is not blamed (X21). */
  readonly old?: Json;
}

/**
 * Checks a value against a schema, with the texts of upstream (embedded-apiserver 15.4). Order and number of findings
 * are upstream's too, except that upstream takes fields in random order.
 */
export function validateSchema(value: Json, schema: Schema, options: ValidateOptions = {}): readonly FieldError[] {
  const node = nodeOf(schema);
  const report = new Report();
  const correlation = options.old === undefined ? undefined : new Correlation(value, options.old, node);
  validateRatcheting(value, node, '', { report, correlation });
  return report.isValid ? [] : report.fieldErrors(options.base);
}

/** Where findings go and, on update, the old value. One serves a whole create. */
interface Run {
  readonly report: Report;
  readonly correlation: Correlation | undefined;
}

function validateRatcheting(value: Json, node: Node, path: string, run: Run): void {
  const { report } = run;
  const before = report.count;
  validateNode(value, node, path, run);
  if (report.count > before && run.correlation?.isUnchanged === true) report.cutTo(before);
}

function validateNode(value: Json, node: Node, path: string, run: Run): void {
  const { report } = run;
  if (value === null) {
    validateNull(node, path, report);
    return;
  }
  if (node.types.length > 0 || node.format !== '') {
    if (hasType(value, node, path, report)) report.passed += 1;
    report.passed += 1;
  }
  if (node.hasQuantifiers) validateQuantifiers(value, node, path, report);
  report.passed += 2;
  validateByKind(value, node, path, run);
  if (node.enum.length > 0) validateEnum(value, node, path, report);
  report.passed += 2;
}

function validateByKind(value: NonNullable<Json>, node: Node, path: string, run: Run): void {
  const { report } = run;
  if (typeof value === 'string') {
    validateString(value, node, path, report);
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    checkNumber(value, node, path, report);
    report.passed += 2;
  } else if (Array.isArray(value)) {
    validateList(value, node, path, run);
    report.passed += 2;
  } else if (typeof value === 'object') {
    validateObject(value, node, path, run);
    report.passed += 1;
  }
}

function validateNull(node: Node, path: string, report: Report): void {
  if (node.types.length > 0 && !node.isNullable) report.typeInvalid(path, node.types.join(','), 'null');
  else report.passed += 1;
  if (node.enum.length > 0) validateEnum(null, node, path, report);
}

function typeOf(value: NonNullable<Json>): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'object') return Array.isArray(value) ? 'array' : 'object';
  return isGoInteger(value) ? 'integer' : 'number';
}

/** The formats that Go's types of numbers stand for. */
const FORMAT_OF: Readonly<Record<string, string>> = { integer: 'int64', number: 'float64' };

/** Integers are numbers, and floats without a fraction are integers. */
function isNumberOf(type: string, value: NonNullable<Json>, types: readonly string[]): boolean {
  if (type === 'integer') return types.includes('number');
  return type === 'number' && types.includes('integer') && isAlmostInteger(Number(value));
}

function hasType(value: NonNullable<Json>, node: Node, path: string, report: Report): boolean {
  const type = typeOf(value);
  const { types } = node;
  if (types.includes(type) || isNumberOf(type, value, types)) return true;
  const mismatch = node.format === '' ? undefined : formatMismatch(type, node);
  if (mismatch === 'none') return true;
  if (mismatch === undefined) report.typeInvalid(path, types.join(','), type);
  else report.typeInvalid(path, node.format, FORMAT_OF[type] ?? '');
  return false;
}

/** With a format set, upstream looks at the format first and lets any list pass for a string. */
function formatMismatch(type: string, { types, format }: Node): 'none' | 'format' | undefined {
  if (type !== 'string' && type !== 'array') return FORMAT_OF[type] === format ? undefined : 'format';
  return types.includes('number') || types.includes('integer') ? undefined : 'none';
}

function validateString(text: string, node: Node, path: string, report: Report): void {
  const { minLength, maxLength } = node.schema;
  if (maxLength !== undefined && isLongerThan(text, maxLength)) {
    report.tooLong(path, maxLength);
  } else if (minLength !== undefined && !isLongerThan(text, minLength - 1)) {
    report.invalid(path, text, `${path} in body should be at least ${minLength} chars long`);
  } else if (node.pattern !== undefined && !node.pattern.matches(text)) {
    report.invalid(path, text, `${path} in body should match '${node.pattern.source}'`);
  }
  report.passed += 1;
  if (node.formatCheck === undefined) return;
  if (!node.formatCheck(text)) report.typeInvalid(path, node.format, text);
  report.passed += 1;
}

/** Counts code points, but only when the number of UTF-16 units leaves it open. */
function isLongerThan(text: string, limit: number): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit + 1) return true;
  let count = 0;
  for (const _ of text) count += 1;
  return count > limit;
}

function validateList(list: readonly Json[], node: Node, path: string, run: Run): void {
  const { items } = node;
  const { report, correlation } = run;
  if (items !== undefined) {
    for (const [index, item] of list.entries()) {
      const itemRun = correlation === undefined ? run : { report, correlation: correlation.item(index) };
      validateRatcheting(item, items, `${path}[${index}]`, itemRun);
    }
  }
  const { minItems, maxItems } = node.schema;
  const { length } = list;
  if (minItems !== undefined && length < minItems) {
    report.invalid(path, length, `${path} in body should have at least ${minItems} items`);
  }
  if (maxItems !== undefined && length > maxItems) report.tooMany(path, length, maxItems, 'items');
}

function validateObject(object: JsonObject, node: Node, path: string, run: Run): void {
  const keys = Object.keys(object);
  validateCount(keys.length, node, path, run.report);
  for (const key of keys) validateField(object, key, { node, path }, run);
  const { required } = node.schema;
  if (required === undefined) return;
  for (const key of required) if (!Object.hasOwn(object, key)) run.report.required(`${path}.${key}`);
}

function validateCount(count: number, { schema }: Node, path: string, report: Report): void {
  const { minProperties, maxProperties } = schema;
  if (minProperties !== undefined && count < minProperties) {
    report.invalid(path, count, `${path} in body should have at least ${minProperties} properties`);
  }
  if (maxProperties !== undefined && count > maxProperties)
    report.tooMany(path, count, maxProperties, 'properties');
}

function validateField(object: JsonObject, key: string, parent: { node: Node; path: string }, run: Run): void {
  const { node, path } = parent;
  const property = node.properties.get(key);
  const child = property ?? node.additional;
  if (child !== undefined) {
    const childPath = path === '' && property !== undefined ? key : `${path}.${key}`;
    validateRatcheting(getKey(object, key) ?? null, child, childPath, fieldRun(key, path, run));
  } else if (node.schema.additionalProperties === false) {
    run.report.invalid(path, key, `${path}.${key} in body is a forbidden property`);
  }
}

function fieldRun(key: string, path: string, run: Run): Run {
  const { report, correlation } = run;
  if (correlation === undefined) return run;
  // Both objects were converted to the requested version, so a changed apiVersion cannot be seen.
  const isTypeMeta = path === '' && (key === 'apiVersion' || key === 'kind');
  return { report, correlation: isTypeMeta ? undefined : correlation.field(key) };
}

function validateEnum(value: Json, node: Node, path: string, report: Report): void {
  if (value !== null && node.enum.some((allowed) => allowed !== null && isEnumMatch(value, allowed))) return;
  const allowed = node.enum.map((item) => (typeof item === 'string' ? item : goJson(item)));
  report.notSupported(path, value, allowed);
}

/** Upstream converts the value to the type of the enum's member: a fraction is cut, a number becomes a character. */
function isEnumMatch(value: NonNullable<Json>, allowed: NonNullable<Json>): boolean {
  if (typeof value === 'number' && typeof allowed === 'number') {
    return value === allowed || (Number.isInteger(allowed) && Math.trunc(value) === allowed);
  }
  if (typeof value === 'number' && typeof allowed === 'string') {
    return isGoInteger(value) && value >= 0 && value <= 0x10ffff && String.fromCodePoint(value) === allowed;
  }
  return jsonEqual(value, allowed);
}

const quoted = (path: string): string => JSON.stringify(path);

function validateQuantifiers(value: Json, node: Node, path: string, report: Report): void {
  if (node.anyOf.length > 0) validateAnyOf(value, node, path, report);
  if (node.oneOf.length > 0) validateOneOf(value, node, path, report);
  if (node.allOf.length > 0) validateAllOf(value, node, path, report);
  if (node.not !== undefined && branch(value, node.not, path).isValid) {
    report.composite(`${quoted(path)} must not validate the schema (not)`);
  }
}

/** Nothing inside a branch is forgiven for being unchanged (X21). */
function branch(value: Json, node: Node, path: string): Report {
  const report = new Report();
  validateNode(value, node, path, { report, correlation: undefined });
  return report;
}

const bestOf = (best: Report | undefined, result: Report): Report =>
  best === undefined || result.passed > best.passed ? result : best;

function validateAnyOf(value: Json, { anyOf }: Node, path: string, report: Report): void {
  let best: Report | undefined;
  for (const node of anyOf) {
    const result = branch(value, node, path);
    if (result.isValid) {
      report.merge(result);
      return;
    }
    best = bestOf(best, result);
  }
  report.composite(`${quoted(path)} must validate at least one schema (anyOf)`);
  if (best !== undefined) report.merge(best);
}

function validateOneOf(value: Json, { oneOf }: Node, path: string, report: Report): void {
  let best: Report | undefined;
  let first: Report | undefined;
  let valid = 0;
  for (const node of oneOf) {
    const result = branch(value, node, path);
    if (result.isValid) {
      valid += 1;
      first ??= result;
    } else if (valid === 0) {
      best = bestOf(best, result);
    }
  }
  if (valid === 1) {
    if (first !== undefined) report.merge(first);
    return;
  }
  const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
  report.composite(`${quoted(path)} must validate one and only one schema (oneOf). ${found}`);
  if (valid === 0 && best !== undefined) report.merge(best);
}

function validateAllOf(value: Json, { allOf }: Node, path: string, report: Report): void {
  const results = allOf.map((node) => branch(value, node, path));
  const valid = results.filter(({ isValid }) => isValid).length;
  for (const result of results) report.merge(result);
  if (valid === results.length) return;
  report.composite(
    `${quoted(path)} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`,
  );
}
