const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

interface Step {
  /** Durations below this many seconds are printed this way. */
  readonly below: number;
  readonly unit: number;
  readonly letter: string;
  readonly rest?: { readonly unit: number; readonly letter: string };
}

const STEPS: readonly Step[] = [
  { below: 2 * MINUTE, unit: 1, letter: 's' },
  { below: 10 * MINUTE, unit: MINUTE, letter: 'm', rest: { unit: 1, letter: 's' } },
  { below: 3 * HOUR, unit: MINUTE, letter: 'm' },
  { below: 8 * HOUR, unit: HOUR, letter: 'h', rest: { unit: MINUTE, letter: 'm' } },
  { below: 2 * DAY, unit: HOUR, letter: 'h' },
  { below: 8 * DAY, unit: DAY, letter: 'd', rest: { unit: HOUR, letter: 'h' } },
  { below: 2 * YEAR, unit: DAY, letter: 'd' },
  { below: 8 * YEAR, unit: YEAR, letter: 'y', rest: { unit: DAY, letter: 'd' } },
  { below: Number.POSITIVE_INFINITY, unit: YEAR, letter: 'y' },
];

/** A duration with two or three digits that matter, as the AGE columns of kubectl show it: `5m30s`, `3d4h`. */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  // Clocks of two machines may differ by a little.
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const step = STEPS.find(({ below }) => seconds < below);
  if (step === undefined) return '<unknown>';
  const { unit, letter, rest } = step;
  const whole = `${Math.floor(seconds / unit)}${letter}`;
  const left = rest === undefined ? 0 : Math.floor((seconds % unit) / rest.unit);
  return left === 0 ? whole : `${whole}${left}${rest?.letter}`;
}
