export const isControl = (letter: string): boolean => {
  const code = letter.codePointAt(0) ?? 0;
  return code < 0x20 || code === 0x7f;
};

/** What Go's strings.TrimSpace takes for space. */
const SPACE =
  /^[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+|[\t\n\v\f\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+$/g;
export const trimSpace = (text: string): string => text.replace(SPACE, '');

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  '\u00b5s': 1_000n,
  '\u03bcs': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Go's time.ParseDuration in nanoseconds; `undefined` when it is none. */
export function parseGoDuration(text: string): bigint | undefined {
  const sign = text.startsWith('-') ? -1n : 1n;
  const rest = text.replace(/^[+-]/, '');
  if (rest === '0') return 0n;
  if (!/^((\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/.test(rest)) return undefined;
  let total = 0n;
  for (const [, whole = '', fraction = '', unit = ''] of rest.matchAll(/(\d*)\.?(\d*)([a-z\u00b5\u03bc]+)/g)) {
    const nanos = UNIT_NANOS[unit] ?? 0n;
    total += BigInt(whole) * nanos + (BigInt(fraction) * nanos) / 10n ** BigInt(fraction.length);
  }
  return sign * total;
}
