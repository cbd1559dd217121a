/** What an unquoted scalar means to upstream's YAML 1.1 reader: neither base 60 nor dates, which stay text. */
export function resolvePlain(text: string): null | boolean | number | bigint | string {
  if (!HINT.test(text)) return text;
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '');
  return integerOf(plain) ?? floatOf(plain) ?? text;
}

/** Whether a text must be quoted so that readers of YAML 1.1 take it for text. */
export const isAmbiguous = (text: string): boolean =>
  typeof resolvePlain(text) !== 'string' || BASE_60.test(text) || TIMESTAMP.test(text);

// Anything else that starts otherwise is text; the empty text is null.
const HINT = /^(?:$|[-+.0-9yYnNtTfFoO~])/;
const BASE_60 = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
const TIMESTAMP =
  /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})?)?$/;

const WORDS: ReadonlyMap<string, null | boolean | number> = new Map<string, null | boolean | number>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map(
    (word) => [word, true] as const,
  ),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map(
    (word) => [word, false] as const,
  ),
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['.nan', '.NaN', '.NAN'].map((word) => [word, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word) => [word, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((word) => [word, Number.NEGATIVE_INFINITY] as const),
]);

// A leading zero means octal, as in C.
const INTEGER = /^([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)$/;
const FLOAT = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const MOST_UINT64 = 2n ** 64n - 1n;
const MOST_INT64 = 2n ** 63n - 1n;

function integerOf(text: string): number | bigint | undefined {
  const match = INTEGER.exec(text);
  // No integer of 64 bits is longer than this; longer texts would only cost time.
  if (match === null || text.length > 70) return undefined;
  const [, sign = '', digits = ''] = match;
  const size = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits);
  if (sign === '-' ? size > MOST_INT64 + 1n : size > MOST_UINT64) return undefined;
  const value = sign === '-' ? -size : size;
  // Beyond 64 bits with a sign, upstream's objects hold a float.
  return value > MOST_INT64 || Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function floatOf(text: string): number | undefined {
  if (!FLOAT.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}
