import type { Duration, Timestamp } from './value.ts';

const NANOS = 1_000_000_000n;
const MILLI = 1_000_000n;

export interface ParsedTime {
  /** Since 1970. */
  readonly nanos: bigint;
  /** Minutes east of UTC. */
  readonly offset: number;
}

/** RFC 3339; `undefined` when it is none. */
export function parseTimestamp(text: string): ParsedTime | undefined {
  const match = /^(\d{4}-\d{2}-\d{2})T((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/.exec(
    text,
  );
  if (match === null) return undefined;
  const [, date = '', time = '', fraction = '', zone = ''] = match;
  const millis = Date.parse(`${date}T${time}${zone}`);
  if (Number.isNaN(millis) || !isRealDate(date)) return undefined;
  const nanos = BigInt(millis) * MILLI + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  return { nanos, offset: zone === 'Z' ? 0 : minutesOf(zone) };
}

const minutesOf = (zone: string): number =>
  (zone.startsWith('-') ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4)));

/** JavaScript takes the 30th of February for a day in March. */
export function isRealDate(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}

/** Milliseconds and the nanoseconds below them; the second is never negative. */
export function splitNanos({ nanos }: Timestamp): { readonly date: Date; readonly nanos: bigint } {
  const rest = ((nanos % NANOS) + NANOS) % NANOS;
  return { date: new Date(Number((nanos - rest) / MILLI)), nanos: rest };
}

export function formatTimestamp(timestamp: Timestamp): string {
  const { date, nanos } = splitNanos(timestamp);
  const { offset } = timestamp;
  const local = new Date(date.getTime() + offset * 60_000);
  const fraction = String(nanos).padStart(9, '0').replace(/0+$/, '');
  return `${local.toISOString().slice(0, 19)}${fraction === '' ? '' : `.${fraction}`}${zoneText(offset)}`;
}

function zoneText(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(offset);
  const pad = (part: number): string => String(part).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** Seconds with as many decimals as needed: `1.5s`. */
export function formatDuration({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % NANOS)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${nanos < 0n ? '-' : ''}${size / NANOS}${fraction === '' ? '' : `.${fraction}`}s`;
}
