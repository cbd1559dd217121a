import { goFloat, goQuote } from '../../object/validation/go-text.ts';
import { formatDuration, formatTimestamp } from './time-text.ts';
import {
  CelError,
  CelList,
  CelMap,
  Duration,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from './value.ts';

const DEFAULT_PRECISION = 6;
export const STRING_CLAUSE =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps';

/** `'%s has %d'.format([name, count])`. */
export function formatString(pattern: string, args: CelList): string {
  let result = '';
  let from = 0;
  for (const [index, clause] of formatClauses(pattern, args.size).entries()) {
    result += unescaped(pattern.slice(from, clause.start)) + formatted(clause, args.at(index));
    from = clause.end;
  }
  return result + unescaped(pattern.slice(from));
}

const unescaped = (text: string): string => text.replaceAll('%%', '%');

/** The clauses of a pattern; throws when one is wrong or there are more than arguments. */
export function formatClauses(pattern: string, count: number): readonly Clause[] {
  const clauses: Clause[] = [];
  for (let index = pattern.indexOf('%'); index >= 0; ) {
    if (pattern[index + 1] === '%') {
      index = pattern.indexOf('%', index + 2);
      continue;
    }
    if (clauses.length >= count) throw new CelError(`index ${clauses.length} out of range`);
    const clause = clauseAt(pattern, index);
    clauses.push(clause);
    index = pattern.indexOf('%', clause.end);
  }
  return clauses;
}

export interface Clause {
  readonly verb: string;
  readonly precision: number | undefined;
  /** Of the percent sign, and after the letter. */
  readonly start: number;
  readonly end: number;
}

function clauseAt(pattern: string, start: number): Clause {
  if (start + 1 >= pattern.length) throw new CelError('unexpected end of string');
  const precision = /^\.(\d*)/.exec(pattern.slice(start + 1));
  const at = start + 1 + (precision?.[0].length ?? 0);
  if (precision !== null) checkPrecision(precision[1] ?? '', at >= pattern.length);
  const verb = pattern[at] ?? '';
  if (!'sdfebxXo'.includes(verb)) {
    throw new CelError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`);
  }
  return { verb, precision: precision === null ? undefined : Number(precision[1]), start, end: at + 1 };
}

function checkPrecision(digits: string, isLast: boolean): void {
  const problem = 'could not parse formatting clause: error while parsing precision';
  if (isLast) throw new CelError(`${problem}: could not find end of precision specifier`);
  if (digits !== '') return;
  throw new CelError(
    `${problem}: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`,
  );
}

function formatted({ verb, precision }: Clause, value: Value): string {
  switch (verb) {
    case 's':
      return plainText(value);
    case 'd':
      return decimal(value);
    case 'f':
      return fixed(value, precision ?? DEFAULT_PRECISION);
    case 'e':
      return scientific(value, precision ?? DEFAULT_PRECISION);
    case 'b':
      return binary(value);
    case 'o':
      return integerText(value, 8, 'octal clause can only be used on integers');
    default:
      return hexadecimal(value, verb === 'X');
  }
}

const refused = (text: string, value: Value): CelError =>
  new CelError(`error during formatting: ${text}, was given ${typeNameOf(value)}`);

/** What %s gives at the top: strings bare. */
function plainText(value: Value): string {
  if (value instanceof CelList || value instanceof CelMap) return nested(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  return scalarText(value);
}

function scalarText(value: Value): string {
  if (typeof value === 'number') return goFloat(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString();
  throw refused(STRING_CLAUSE, value);
}

/** What lists and maps show of their elements: as CEL literals. */
function nested(value: Value): string {
  if (value instanceof CelList) return `[${value.values().map(nested).join(', ')}]`;
  if (value instanceof CelMap) return mapText(value);
  if (typeof value === 'string') return goQuote(value);
  if (value instanceof Uint8Array) return `b${goQuote(Buffer.from(value).toString())}`;
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  if (value instanceof Duration) return `duration("${formatDuration(value)}")`;
  if (typeof value === 'number')
    return Number.isFinite(value) ? value.toFixed(DEFAULT_PRECISION) : goQuote(infinite(value));
  return plainText(value);
}

const infinite = (value: number): string => goFloat(value);

function mapText(map: CelMap): string {
  const pairs = map.keys().map((key) => [nested(key), nested(map.find(key) ?? null)] as const);
  pairs.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return `{${pairs.map(([key, value]) => `${key}:${value}`).join(', ')}}`;
}

function decimal(value: Value): string {
  return integerText(value, 10, 'decimal clause can only be used on integers');
}

function integerText(value: Value, radix: number, problem: string): string {
  const number = value instanceof Uint ? value.value : value;
  if (typeof number !== 'bigint') throw refused(problem, value);
  return number.toString(radix);
}

function binary(value: Value): string {
  if (typeof value === 'boolean') return value ? '1' : '0';
  return integerText(value, 2, 'only integers and bools can be formatted as binary');
}

function hexadecimal(value: Value, isUpper: boolean): string {
  const text =
    typeof value === 'string' || value instanceof Uint8Array
      ? Buffer.from(value as Uint8Array).toString('hex')
      : integerText(value, 16, 'only integers, byte buffers, and strings can be formatted as hex');
  return isUpper ? text.toUpperCase() : text;
}

const SPECIAL: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity };

function floating(value: Value, clause: string): number {
  const number = typeof value === 'string' ? SPECIAL[value] : value;
  if (typeof number !== 'number') throw refused(`${clause} clause can only be used on doubles`, value);
  return number;
}

/** The locale of the printer is en_US: thousands get commas. */
function fixed(value: Value, precision: number): string {
  const number = floating(value, 'fixed-point');
  if (!Number.isFinite(number)) return localeInfinite(number);
  const [whole = '', fraction] = number.toFixed(precision).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const localeInfinite = (value: number): string => {
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '\u221e' : '-\u221e';
};

/** The same printer writes exponents as powers of ten. */
function scientific(value: Value, precision: number): string {
  const number = floating(value, 'scientific');
  if (!Number.isFinite(number)) return localeInfinite(number);
  const [mantissa = '0', exponent = '0'] = number.toExponential(precision).split('e');
  const power = Number(exponent);
  const sign = power < 0 ? '\u207b' : '';
  const digits = String(Math.abs(power))
    .padStart(2, '0')
    .replace(
      /\d/g,
      (digit) => '\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079'[Number(digit)] ?? '',
    );
  return `${mantissa}\u202f\u00d7\u202f10${sign}${digits}`;
}
