import { daysIn } from './formats-time.ts';
import { goQuote } from './go-text.ts';

const TIME_LAYOUT = '2006-01-02T15:04:05Z07:00';
const MICRO_TIME_LAYOUT = '2006-01-02T15:04:05.000000Z07:00';

interface Step {
  /** The part of the layout, as errors name it. */
  readonly layout: string;
  readonly pattern: RegExp;
  readonly field?: string;
}

const step = (layout: string, pattern: RegExp, field?: string): Step =>
  field === undefined ? { layout, pattern } : { layout, pattern, field };

const CALENDAR: readonly Step[] = [
  step('2006', /^\d{4}/, 'year'),
  step('-', /^-/),
  step('01', /^\d{2}/, 'month'),
  step('-', /^-/),
  step('02', /^\d{2}/, 'day'),
  step('T', /^T/),
  step('15', /^\d{2}/, 'hour'),
  step(':', /^:/),
  step('04', /^\d{2}/, 'minute'),
  step(':', /^:/),
];
const ZONE = step('Z07:00', /^(?:Z|[+-]\d{2}:\d{2})/, 'zone');
/** A fraction after the seconds is accepted although the layout has none. */
const TIME_STEPS = [...CALENDAR, step('05', /^\d{2}(?:[.,]\d+)?/, 'second'), ZONE];
const MICRO_TIME_STEPS = [...CALENDAR, step('05', /^\d{2}/, 'second'), step('.000000', /^[.,]\d{6}/), ZONE];

/** What Go says about a text that is no Time (RFC 3339); undefined when it is one. */
export const timeProblem = (text: string): string | undefined => problemOf(text, TIME_LAYOUT, TIME_STEPS);

/** The same for a MicroTime, which has exactly six digits of fraction (embedded-apiserver G14). */
export const microTimeProblem = (text: string): string | undefined =>
  problemOf(text, MICRO_TIME_LAYOUT, MICRO_TIME_STEPS);

function problemOf(text: string, layout: string, steps: readonly Step[]): string | undefined {
  const fields = new Map<string, number>();
  let rest = text;
  for (const { layout: part, pattern, field } of steps) {
    const match = pattern.exec(rest)?.[0];
    if (match === undefined) {
      return `parsing time ${goQuote(text)} as ${goQuote(layout)}: cannot parse ${goQuote(rest)} as ${goQuote(part)}`;
    }
    if (field !== undefined) fields.set(field, Number.parseInt(match, 10));
    const outside = field === undefined ? undefined : rangeProblem(field, match);
    if (outside !== undefined) return `parsing time ${goQuote(text)}: ${outside}`;
    rest = rest.slice(match.length);
  }
  if (rest !== '') return `parsing time ${goQuote(text)}: extra text: ${goQuote(rest)}`;
  return dayProblem(text, fields);
}

const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  month: [1, 12],
  hour: [0, 23],
  minute: [0, 59],
  second: [0, 59],
};

function rangeProblem(field: string, text: string): string | undefined {
  if (field === 'zone')
    return text !== 'Z' && Number(text.slice(1, 3)) > 24 ? 'time zone offset hour out of range' : undefined;
  const [min, max] = LIMITS[field] ?? [0, Infinity];
  const value = Number.parseInt(text, 10);
  return value < min || value > max ? `${field} out of range` : undefined;
}

function dayProblem(text: string, fields: ReadonlyMap<string, number>): string | undefined {
  const day = fields.get('day') ?? 0;
  const last = daysIn(fields.get('year') ?? 0, fields.get('month') ?? 0);
  return day < 1 || day > last ? `parsing time ${goQuote(text)}: day out of range` : undefined;
}
