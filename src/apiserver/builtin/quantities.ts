import type { Json } from '../../object/json.ts';
import {
  compareQuantities,
  parseQuantity,
  printQuantity,
  type Quantity,
  QuantityProblem,
} from '../../object/quantity.ts';

const ZERO = parseQuantity('0');

/** A quantity in an object, text or number; undefined for what is none. */
function quantityOf(value: Json | undefined): Quantity | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  try {
    return parseQuantity(String(value));
  } catch (error) {
    if (error instanceof QuantityProblem) return undefined;
    throw error;
  }
}

/** The form the server stores: `1024Mi` is `1Gi`, `0.5` is `500m`. What is no quantity stays as it is. */
export function canonicalAmount(value: Json): Json {
  const quantity = quantityOf(value);
  return quantity === undefined ? value : printQuantity(quantity);
}

/** Orders two amounts; what is missing or no quantity counts as nothing. */
export const compareAmounts = (a: Json | undefined, b: Json | undefined): -1 | 0 | 1 =>
  compareQuantities(quantityOf(a) ?? ZERO, quantityOf(b) ?? ZERO);

export const isAbove = (a: Json | undefined, b: Json | undefined): boolean => compareAmounts(a, b) > 0;
export const isNegative = (value: Json | undefined): boolean => compareAmounts(value, '0') < 0;
export const isPositive = (value: Json | undefined): boolean => compareAmounts(value, '0') > 0;
