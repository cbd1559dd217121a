import { parseGoDuration } from './go-text.ts';
import { isRealDate, type ParsedTime, parseTimestamp } from './time-text.ts';

/** `date` and `date-time` of schemas: RFC 3339, also without a time of day. */
export function parseSchemaTime(text: string): ParsedTime | undefined {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    return isRealDate(text) ? { nanos: BigInt(Date.parse(text)) * 1_000_000n, offset: 0 } : undefined;
  }
  return parseTimestamp(text.toUpperCase());
}

const DAY_NANOS = 86_400_000_000_000n;
const WORDS: readonly (readonly [RegExp, bigint])[] = [
  [/^(ns|nano)/, 1n],
  [/^(us|\u00b5s|micro)/, 1_000n],
  [/^(ms|milli)/, 1_000_000n],
  [/^(s$|sec)/, 1_000_000_000n],
  [/^(m$|min)/, 60_000_000_000n],
  [/^(h$|hr$|hour)/, 3_600_000_000_000n],
  [/^(d$|day)/, DAY_NANOS],
  [/^(w$|wk$|week)/, 7n * DAY_NANOS],
];

/** `duration` of schemas: what Go takes, and amounts in words such as `2 days`. */
export function parseSchemaDuration(text: string): bigint | undefined {
  const nanos = parseGoDuration(text);
  if (nanos !== undefined) return nanos;
  let total: bigint | undefined;
  for (const [, amount = '', word = ''] of text.matchAll(/(\d+)\s*([A-Za-z\u00b5]+)/g)) {
    const unit = WORDS.find(([pattern]) => pattern.test(word))?.[1];
    if (unit !== undefined) total = (total ?? 0n) + BigInt(amount) * unit;
  }
  return total;
}
