import type { Quantity } from './quantity.ts';
import { BINARY_SUFFIXES, DECIMAL_SUFFIXES } from './quantity-syntax.ts';

const letters = new Map([...DECIMAL_SUFFIXES].map(([suffix, exponent]) => [exponent, suffix]));

export const powerOfTen = (exponent: number): bigint => 10n ** BigInt(exponent);

/** Digits without a fraction and the largest suffix that needs none. */
export function canonicalText({ digits, exponent, format }: Quantity): string {
  if (digits === 0n) return '0';
  const whole = format === 'binary' ? wholeNumber(digits, exponent) : undefined;
  // Below 1024 there is no binary suffix to show, and a fraction has none either.
  if (whole !== undefined && (whole <= -1024n || whole >= 1024n)) return binaryText(whole);
  return decimalText(digits, exponent, format === 'exponent');
}

function wholeNumber(digits: bigint, exponent: number): bigint | undefined {
  if (exponent >= 0) return digits * powerOfTen(exponent);
  const divisor = powerOfTen(-exponent);
  return digits % divisor === 0n ? digits / divisor : undefined;
}

function binaryText(whole: bigint): string {
  let value = whole;
  let power = 0;
  while (value % 1024n === 0n) {
    value /= 1024n;
    power++;
  }
  return `${value}${BINARY_SUFFIXES[power] ?? ''}`;
}

function decimalText(digits: bigint, exponent: number, hasExponent: boolean): string {
  let value = digits;
  let power = exponent;
  while (value % 10n === 0n) {
    value /= 10n;
    power++;
  }
  while (power % 3 !== 0) {
    value *= 10n;
    power--;
  }
  if (hasExponent) return power === 0 ? `${value}` : `${value}e${power}`;
  return `${value}${letters.get(power) ?? ''}`;
}
