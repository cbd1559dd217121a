/** Checks of dates and durations as Go's time package and upstream's formats decide them. */

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function daysIn(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

export function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const month = Number(match[2]);
  const day = Number(match[3]);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(Number(match[1]), month);
}

/** The offset's range is not looked at and any character may stand before the fraction, as upstream. */
const TIME_OF_DAY = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})$/;

const PLAIN = '0000-00-00T00:00:00Z';
/** Where a number of two digits is, and its bounds; days that every month has. */
const PLAIN_BOUNDS = [
  [5, 1, 12],
  [8, 1, 28],
  [11, 0, 23],
  [14, 0, 59],
  [17, 0, 59],
] as const;

/** The form Kubernetes writes, `2024-01-28T23:59:59Z`; anything else is looked at more closely. */
function isPlainDateTime(text: string): boolean {
  if (text.length !== PLAIN.length) return false;
  for (let index = 0; index < PLAIN.length; index += 1) {
    const code = text.charCodeAt(index);
    const wanted = PLAIN.charCodeAt(index);
    if (wanted === 48 ? code < 48 || code > 57 : code !== wanted) return false;
  }
  return PLAIN_BOUNDS.every(([at, min, max]) => {
    const value = text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528;
    return value >= min && value <= max;
  });
}

export function isDateTime(text: string): boolean {
  if (isPlainDateTime(text)) return true;
  const [date = '', time = ''] = text.toLowerCase().split('t');
  const match = TIME_OF_DAY.exec(time);
  if (!isDate(date) || match === null) return false;
  return Number(match[1]) <= 23 && Number(match[2]) <= 59 && Number(match[3]) <= 59;
}

const GO_UNITS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 6e10,
  h: 3.6e12,
};
const MAX_NANOSECONDS = 2 ** 63;

function isGoDuration(text: string): boolean {
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return true;
  if (rest === '') return false;
  let total = 0;
  while (rest !== '') {
    const match = /^(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/.exec(rest);
    if (match === null) return false;
    total += Number(match[1]) * (GO_UNITS[match[2] ?? ''] ?? 0);
    rest = rest.slice(match[0].length);
  }
  return total <= MAX_NANOSECONDS;
}

/** Short names match whole, the long name of each unit matches as a prefix (`3 seconds`, `2weeks`). */
const SHORT_UNITS = new Set(['ns', 'us', 'µs', 'ms', 's', 'm', 'h', 'hr', 'd', 'w', 'wk']);
const LONG_UNITS = ['nano', 'micro', 'milli', 'sec', 'min', 'hour', 'day', 'week'];

const isDigit = (code: number): boolean => code >= 48 && code <= 57;
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13 && code !== 11);
const isUnitLetter = (code: number): boolean =>
  (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 0xb5;

/** The end of a run of characters. */
function skip(text: string, start: number, isWanted: (code: number) => boolean): number {
  let end = start;
  while (end < text.length && isWanted(text.charCodeAt(end))) end += 1;
  return end;
}

/** Go durations and, anywhere in the text, amounts such as `3 weeks`. Reads every character once. */
export function isDuration(text: string): boolean {
  if (isGoDuration(text)) return true;
  let isKnown = false;
  let at = 0;
  while (at < text.length) {
    const start = skip(text, at, (code) => !isDigit(code));
    const digitsEnd = skip(text, start, isDigit);
    const unitStart = skip(text, digitsEnd, isSpace);
    at = skip(text, unitStart, isUnitLetter);
    if (at === unitStart) continue;
    if (digitsEnd - start > 18 && BigInt(text.slice(start, digitsEnd).slice(0, 400)) >= 2n ** 63n) return false;
    const unit = text.slice(unitStart, at).toLowerCase();
    isKnown ||= SHORT_UNITS.has(unit) || LONG_UNITS.some((long) => unit.startsWith(long));
  }
  return isKnown;
}
