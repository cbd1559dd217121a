import type { Json } from '../json.ts';
import { goFloat, goValue, isGoInteger } from './go-text.ts';
import type { Node } from './node.ts';
import type { Report } from './report.ts';

const MAX_INT32 = 2 ** 31 - 1;
const MIN_INT32 = -(2 ** 31);
const MAX_FLOAT32 = 3.4028235677973366e38;

/** The type and format that limit a number; only an unambiguous type does. */
function rangeOf({ types, format }: Node): { readonly type: string; readonly format: string } {
  const type = types.length === 1 ? (types[0] ?? '') : '';
  return type === 'integer' || type === 'number' ? { type, format } : { type: '', format: '' };
}

function isInRange(value: number | bigint, { type, format }: { type: string; format: string }): boolean {
  if (type === 'integer') {
    if (!isGoInteger(value)) return false;
    return format !== 'int32' || (value >= MIN_INT32 && value <= MAX_INT32);
  }
  return format !== 'float' || Math.abs(Number(value)) < MAX_FLOAT32;
}

/**
 * Bounds as upstream applies them: an integer is compared with the bound cut to an integer, even where that allows more
 * than the bound says, and a bound that does not fit the type is a finding of its own.
 */
export function checkNumber(value: number | bigint, node: Node, path: string, report: Report): void {
  const range = rangeOf(node);
  if (!isInRange(value, range)) report.composite(rangeText('Checked', range, path));
  const { multipleOf, minimum, maximum, exclusiveMinimum, exclusiveMaximum } = node.schema;
  const isInteger = isGoInteger(value);
  const place = { path, report };
  const bound = (limit: number, name: string): number => {
    if (isInRange(limit, range)) return isInteger ? Math.trunc(limit) : limit;
    report.composite(rangeText(name, range, path));
    return limit;
  };
  if (multipleOf !== undefined) checkMultiple(value, bound(Number(multipleOf), 'MultipleOf'), place);
  if (minimum !== undefined) {
    const limit = bound(Number(minimum), 'Minimum boundary');
    if (exclusiveMinimum === true ? value <= limit : value < limit) {
      outside(value, { word: 'greater than', limit, isExclusive: exclusiveMinimum === true }, place);
    }
  }
  if (maximum !== undefined) {
    const limit = bound(Number(maximum), 'Maximum boundary');
    if (exclusiveMaximum === true ? value >= limit : value > limit) {
      outside(value, { word: 'less than', limit, isExclusive: exclusiveMaximum === true }, place);
    }
  }
}

interface Place {
  readonly path: string;
  readonly report: Report;
}

const rangeText = (name: string, { type, format }: { type: string; format: string }, path: string): string =>
  format === ''
    ? `${name} value must be of type ${type} (default format) in ${path}`
    : `${name} value must be of type ${type} with format ${format} in ${path}`;

function outside(
  value: Json,
  { word, limit, isExclusive }: { word: string; limit: number; isExclusive: boolean },
  { path, report }: Place,
): void {
  report.invalid(
    path,
    value,
    `${path} in body should be ${word}${isExclusive ? '' : ' or equal to'} ${limitText(value, limit)}`,
  );
}

/** A bound is printed in the type it was compared in. */
const limitText = (value: Json, limit: number): string =>
  isGoInteger(value) && Number.isInteger(limit) ? goValue(limit) : goFloat(limit);

function checkMultiple(value: number | bigint, factor: number, { path, report }: Place): void {
  if (factor <= 0) {
    report.invalid(path, factor, `factor MultipleOf declared for ${path} must be positive: ${goValue(factor)}`);
    return;
  }
  if (!isMultiple(value, factor)) {
    report.invalid(path, value, `${path} in body should be a multiple of ${limitText(value, factor)}`);
  }
}

function isMultiple(value: number | bigint, factor: number): boolean {
  if (isGoInteger(value) && Number.isInteger(factor)) return BigInt(value) % BigInt(factor) === 0n;
  const quotient = factor < 1 ? (1 / factor) * Number(value) : Number(value) / factor;
  return isAlmostInteger(quotient);
}

/** Upstream forgives a relative error of 1e-9 when it asks whether a float is an integer. */
export function isAlmostInteger(value: number): boolean {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(value);
  if (value === whole) return true;
  return whole !== 0 && Math.abs(value - whole) / (Math.abs(value) + Math.abs(whole)) < 1e-9;
}
