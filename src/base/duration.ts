import { userError } from './errors.ts';

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/** Milliseconds of a duration in Go's notation (`1h30m`, `1.5s`, `-2m`, `0`), because users bring upstream's flags. */
export function parseDuration(text: string): number {
  const sign = text.startsWith('-') ? -1 : 1;
  const body = text.replace(/^[+-]/, '');
  if (body === '0') return 0;
  let totalMs = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < body.length) {
    const [, amount, unit] = PART.exec(body) ?? [];
    if (amount === undefined || unit === undefined) throw badDuration(text);
    totalMs += Number(amount) * (UNIT_MS[unit] ?? Number.NaN);
  }
  if (body === '') throw badDuration(text);
  return sign * totalMs;
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
