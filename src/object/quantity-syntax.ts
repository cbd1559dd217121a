export interface QuantityParts {
  readonly isNegative: boolean;
  /** Without leading zeros, at least one digit. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
  /** False for a suffix alone. */
  readonly hasDigits: boolean;
}

const SHAPE = /^([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)$/;

/** The parts of a quantity; undefined when the text is none. A sign alone is zero, as upstream reads it. */
export function quantityParts(text: string): QuantityParts | undefined {
  const match = text === '' ? null : SHAPE.exec(text);
  if (match === null) return undefined;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  return {
    isNegative: sign === '-',
    whole: whole.replace(/^0+/, '') || '0',
    fraction,
    suffix,
    hasDigits: whole !== '' || fraction !== '',
  };
}

export interface Suffix {
  readonly base: 2 | 10;
  readonly exponent: number;
  readonly format: 'decimal' | 'binary' | 'exponent';
}

export const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
export const BINARY_SUFFIXES: readonly string[] = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

// Upstream takes any; a number with so many digits only serves to exhaust memory.
const LARGEST_EXPONENT = 4096;

export function suffixOf(text: string): Suffix | undefined {
  const decimal = DECIMAL_SUFFIXES.get(text);
  if (decimal !== undefined) return { base: 10, exponent: decimal, format: 'decimal' };
  const binary = BINARY_SUFFIXES.indexOf(text);
  if (binary > 0) return { base: 2, exponent: binary * 10, format: 'binary' };
  if (!/^[eE][-+]?[0-9]+$/.test(text)) return undefined;
  const exponent = Number(text.slice(1));
  return Math.abs(exponent) > LARGEST_EXPONENT ? undefined : { base: 10, exponent, format: 'exponent' };
}
