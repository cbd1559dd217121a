import {
  addQuantities,
  compareQuantities,
  parseQuantity,
  type Quantity,
  QuantityProblem,
  quantityFloat,
  quantityInteger,
  quantitySign,
  subQuantities,
} from '../../object/quantity.ts';
import { OpaqueValue } from './equality.ts';
import { global, member, type Overload } from './function.ts';
import { bySize } from './library-operators.ts';
import { BOOL, DOUBLE, INT, objectType, STRING } from './type.ts';
import { CelError, MAX_INT, MIN_INT } from './value.ts';

const NAME = 'kubernetes.Quantity';

class QuantityValue extends OpaqueValue {
  readonly typeName = NAME;
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }

  equals(other: this): boolean {
    return compareQuantities(this.quantity, other.quantity) === 0;
  }
}

const QUANTITY = objectType<QuantityValue>(NAME);

function parse(text: string): QuantityValue {
  try {
    return new QuantityValue(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityProblem) throw new CelError(error.message);
    throw error;
  }
}

function isQuantity(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch (error) {
    if (error instanceof CelError) return false;
    throw error;
  }
}

/** Upstream looks at how the number is held, not at its value: `1000m` is no integer. */
function asInteger({ quantity }: QuantityValue): bigint | undefined {
  if (quantity.exponent < 0) return undefined;
  const value = quantityInteger(quantity);
  // What was too large for a binary quantity was cut, and is no integer to upstream either.
  if (quantity.format === 'binary' && value === MAX_INT) return undefined;
  return value > MAX_INT || value < MIN_INT ? undefined : value;
}

const whole = (value: bigint): Quantity => ({ digits: value, exponent: 0, format: 'exponent' });
const order = (a: QuantityValue, b: QuantityValue): number => compareQuantities(a.quantity, b.quantity);
const sign = { call: ({ quantity }: QuantityValue) => BigInt(quantitySign(quantity)) };

export const quantities: readonly Overload[] = [
  global('quantity', [STRING], QUANTITY, { call: parse, cost: bySize() }),
  global('isQuantity', [STRING], BOOL, { call: isQuantity, cost: bySize() }),
  global('sign', [QUANTITY], INT, sign),
  member('isGreaterThan', [QUANTITY, QUANTITY], BOOL, { call: (a, b) => order(a, b) > 0 }),
  member('isLessThan', [QUANTITY, QUANTITY], BOOL, { call: (a, b) => order(a, b) < 0 }),
  member('compareTo', [QUANTITY, QUANTITY], INT, { call: (a, b) => BigInt(order(a, b)) }),
  member('asApproximateFloat', [QUANTITY], DOUBLE, { call: ({ quantity }) => quantityFloat(quantity) }),
  member('isInteger', [QUANTITY], BOOL, { call: (quantity) => asInteger(quantity) !== undefined }),
  member('asInteger', [QUANTITY], INT, {
    call: (quantity) => {
      const value = asInteger(quantity);
      if (value === undefined) throw new CelError('cannot convert value to integer');
      return value;
    },
  }),
  ...(
    [
      ['add', addQuantities],
      ['sub', subQuantities],
    ] as const
  ).flatMap(([name, combine]) => [
    member(name, [QUANTITY, QUANTITY], QUANTITY, {
      call: (a, b) => new QuantityValue(combine(a.quantity, b.quantity)),
    }),
    member(name, [QUANTITY, INT], QUANTITY, { call: (a, b) => new QuantityValue(combine(a.quantity, whole(b))) }),
  ]),
];
