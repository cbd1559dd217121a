import { type QuantityParts, quantityParts, suffixOf } from './quantity-syntax.ts';
import { canonicalText, powerOfTen } from './quantity-text.ts';

/** `2Ki` is binary, `2k` decimal, `2e3` exponent: a sum is printed in the form of its first summand. */
export type QuantityFormat = 'decimal' | 'binary' | 'exponent';

/** A number of units, `digits * 10^exponent`, exact. */
export interface Quantity {
  readonly digits: bigint;
  readonly exponent: number;
  readonly format: QuantityFormat;
  /** Upstream keeps the text it has read when it looks canonical, a plus sign included. */
  readonly text?: string;
}

export class QuantityProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'QuantityProblem';
  }
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const SMALLEST_EXPONENT = -9;
const MOST_INT64 = 2n ** 63n - 1n;

/** Reads `500m`, `1.5Gi`, `2e3`. What is smaller than a billionth is rounded away from zero to one. */
export function parseQuantity(text: string): Quantity {
  const parts = quantityParts(text);
  if (parts === undefined) throw new QuantityProblem(WRONG_FORMAT);
  const suffix = suffixOf(parts.suffix);
  if (suffix === undefined) throw new QuantityProblem("unable to parse quantity's suffix");
  const { whole, fraction, isNegative } = parts;
  const amount = BigInt(whole + fraction) * (isNegative ? -1n : 1n);
  const { format } = suffix;
  if (suffix.base === 2) return binaryQuantity(text, parts, amount, suffix.exponent);
  const exponent = suffix.exponent - fraction.length;
  if (whole.length + fraction.length > 18 || exponent < SMALLEST_EXPONENT) {
    return { ...roundedUp(parts, amount, exponent), format };
  }
  const isCanonical =
    exponent % 3 === 0 && !(whole + fraction).endsWith('000') && !(whole + fraction).startsWith('0');
  return { digits: amount, exponent, format, ...(isCanonical && { text }) };
}

function binaryQuantity(text: string, parts: QuantityParts, count: bigint, bits: number): Quantity {
  const { whole, fraction } = parts;
  const exponent = -fraction.length;
  const amount = count * 2n ** BigInt(bits);
  // Upstream's estimate of what 64 bits hold for sure.
  if (fraction === '' && 15 - whole.length - Math.trunc((bits * 3) / 10) - 1 >= 0) {
    const isCanonical = BigInt(whole) % 8n !== 0n;
    return { digits: amount, exponent, format: 'binary', ...(isCanonical && { text }) };
  }
  const rounded = roundedUp(parts, amount, exponent);
  const unit = 10n ** 9n;
  const size = rounded.digits < 0n ? -rounded.digits : rounded.digits;
  if (size > MOST_INT64 * unit) {
    return { digits: (rounded.digits < 0n ? -1n : 1n) * MOST_INT64, exponent: 0, format: 'binary' };
  }
  return { ...rounded, format: size > 0n && size < unit ? 'decimal' : 'binary' };
}

/** As billionths, rounded away from zero. Only here does upstream miss the digits of a suffix that stands alone. */
function roundedUp(parts: QuantityParts, digits: bigint, exponent: number): { digits: bigint; exponent: number } {
  if (!parts.hasDigits) throw new QuantityProblem('unable to parse numeric part of quantity');
  if (digits === 0n) return { digits, exponent: 0 };
  const shift = exponent - SMALLEST_EXPONENT;
  if (shift >= 0) return { digits: digits * powerOfTen(shift), exponent: SMALLEST_EXPONENT };
  return { digits: dividedUp(digits, powerOfTen(-shift)), exponent: SMALLEST_EXPONENT };
}

function dividedUp(digits: bigint, divisor: bigint): bigint {
  const quotient = digits / divisor;
  if (digits % divisor === 0n) return quotient;
  return digits < 0n ? quotient - 1n : quotient + 1n;
}

/** The one way upstream writes a quantity: no fraction, the largest suffix that needs none. */
export const printQuantity = (quantity: Quantity): string => quantity.text ?? canonicalText(quantity);

function aligned(a: Quantity, b: Quantity): { a: bigint; b: bigint; exponent: number } {
  const exponent = Math.min(a.exponent, b.exponent);
  return {
    a: a.digits * powerOfTen(a.exponent - exponent),
    b: b.digits * powerOfTen(b.exponent - exponent),
    exponent,
  };
}

/** Negative, zero or positive, as `a - b`. */
export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const values = aligned(a, b);
  if (values.a === values.b) return 0;
  return values.a < values.b ? -1 : 1;
}

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  const values = aligned(a, b);
  return { digits: values.a + values.b, exponent: values.exponent, format: sharedFormat(a, b) };
}

export function subQuantities(a: Quantity, b: Quantity): Quantity {
  const values = aligned(a, b);
  return { digits: values.a - values.b, exponent: values.exponent, format: sharedFormat(a, b) };
}

/** Zero has no format of its own. */
const sharedFormat = (a: Quantity, b: Quantity): QuantityFormat => (a.digits === 0n ? b.format : a.format);

export const quantitySign = ({ digits }: Quantity): -1 | 0 | 1 => (digits === 0n ? 0 : digits < 0n ? -1 : 1);

/** The whole number of units, of thousandths with scale -3, rounded away from zero. */
export function quantityInteger({ digits, exponent }: Quantity, scale = 0): bigint {
  const shift = exponent - scale;
  return shift >= 0 ? digits * powerOfTen(shift) : dividedUp(digits, powerOfTen(-shift));
}

/** Near enough for comparisons by people and metrics. */
export const quantityFloat = ({ digits, exponent }: Quantity): number =>
  exponent < 0 ? Number(digits) / Number(`1e${-exponent}`) : Number(digits) * Number(`1e${exponent}`);
