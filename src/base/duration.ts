import { userError } from './errors.ts';

const UNIT_NANOSECONDS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const NANOSECONDS_PER_MS = 1_000_000n;
/** Go's own limit, about 292 years. */
const LONGEST_NANOSECONDS = 2n ** 63n - 1n;
const PART = /(?=\.?\d)(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds of a duration in Go's notation (`1h30m`, `1.5s`, `-2m`, `0`), because users bring upstream's flags. */
export function parseDuration(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0;
  // Whole nanoseconds, as in Go: sums of binary fractions would drift.
  let total = 0n;
  PART.lastIndex = 0;
  while (PART.lastIndex < body.length) {
    const [, whole = '', fraction = '', unit = ''] = PART.exec(body) ?? [];
    const size = UNIT_NANOSECONDS.get(unit);
    if (size === undefined) throw badDuration(text);
    total += (BigInt(`0${whole}${fraction}`) * size) / 10n ** BigInt(fraction.length);
  }
  if (body === '' || total > LONGEST_NANOSECONDS) throw badDuration(text);
  return sign * (Number(total / NANOSECONDS_PER_MS) + Number(total % NANOSECONDS_PER_MS) / 1e6);
}

const badDuration = (text: string) =>
  userError(
    'InvalidDuration',
    `"${text}" is not a duration; write a number with a unit, such as 300ms, 15s or 1h30m`,
  );

/** Go's notation: `parseDuration(goDuration(ms)) === ms` for whole milliseconds. */
export function goDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 0) return `-${goDuration(-ms)}`;
  if (ms < 1000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${(ms % 60_000) / 1000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** For people: `0.4 s`, `12.3 s`, `2 m 05 s`, `1 h 02 m` (experience X9). */
export function humanDuration(ms: number): string {
  const tenths = Math.round(Math.max(0, ms) / 100) / 10;
  if (tenths < 60) return `${tenths.toFixed(1)} s`;
  const seconds = Math.round(Math.max(0, ms) / 1000);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${pad(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
}

const pad = (value: number): string => String(value).padStart(2, '0');
