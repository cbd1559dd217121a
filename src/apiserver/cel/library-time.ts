import { member, type Overload } from './function.ts';
import { splitNanos } from './time-text.ts';
import { DURATION, INT, STRING, TIMESTAMP } from './type.ts';
import { CelError, type Timestamp } from './value.ts';

const DAY_MS = 86_400_000;

/** What the calendar and the clock on the wall of a time zone show, as if that were UTC. */
function localDate(timestamp: Timestamp, zone: string): Date {
  const { date } = splitNanos(timestamp);
  return new Date(date.getTime() + offsetMs(date, zone));
}

function offsetMs(date: Date, zone: string): number {
  if (zone === 'UTC' || zone === '') return 0;
  const fixed = fixedOffsetMs(zone);
  if (fixed !== undefined) return fixed;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    const name = format.formatToParts(date).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    return fixedOffsetMs(name.replace('GMT', '')) ?? 0;
  } catch {
    throw new CelError(`unknown time zone ${zone}`);
  }
}

/** `+01:30`, `1:30`, `-08:00`. */
function fixedOffsetMs(zone: string): number | undefined {
  const match = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone);
  if (match === null) return undefined;
  const [, sign, hours, minutes] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

const dayOfYear = (date: Date): number => {
  const start = Date.UTC(date.getUTCFullYear(), 0, 1);
  return Math.floor((date.getTime() - start) / DAY_MS);
};

const GETTERS: Readonly<Record<string, (date: Date) => number>> = {
  getFullYear: (date) => date.getUTCFullYear(),
  getMonth: (date) => date.getUTCMonth(),
  getDate: (date) => date.getUTCDate(),
  getDayOfMonth: (date) => date.getUTCDate() - 1,
  getDayOfWeek: (date) => date.getUTCDay(),
  getDayOfYear: dayOfYear,
  getHours: (date) => date.getUTCHours(),
  getMinutes: (date) => date.getUTCMinutes(),
  getSeconds: (date) => date.getUTCSeconds(),
};

const milliseconds = (timestamp: Timestamp): bigint => splitNanos(timestamp).nanos / 1_000_000n;

const UNITS: Readonly<Record<string, bigint>> = {
  getHours: 3_600_000_000_000n,
  getMinutes: 60_000_000_000n,
  getSeconds: 1_000_000_000n,
  getMilliseconds: 1_000_000n,
};

export const times: readonly Overload[] = [
  ...Object.entries(GETTERS).flatMap(([name, get]) => [
    member(name, [TIMESTAMP], INT, { call: (timestamp) => BigInt(get(splitNanos(timestamp).date)) }),
    member(name, [TIMESTAMP, STRING], INT, { call: (timestamp, zone) => BigInt(get(localDate(timestamp, zone))) }),
  ]),
  member('getMilliseconds', [TIMESTAMP], INT, { call: milliseconds }),
  member('getMilliseconds', [TIMESTAMP, STRING], INT, { call: milliseconds }),
  ...Object.entries(UNITS).map(([name, unit]) =>
    member(name, [DURATION], INT, { call: ({ nanos }) => nanos / unit }),
  ),
];
