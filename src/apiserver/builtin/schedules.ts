const DESCRIPTORS = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface Field {
  readonly first: number;
  readonly last: number;
  readonly names: readonly string[];
}

/** The five fields: minute, hour, day of month, month, day of week. */
const FIELDS: readonly [Field, ...Field[]] = [
  { first: 0, last: 59, names: [] },
  { first: 0, last: 23, names: [] },
  { first: 1, last: 31, names: [] },
  { first: 1, last: 12, names: MONTHS },
  { first: 0, last: 6, names: DAYS },
];

/** What is wrong with a cron schedule; undefined when it can be followed. */
export function scheduleProblem(text: string): string | undefined {
  if (text.startsWith('@every '))
    return /^(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(text.slice(7)) ? undefined : failedToParse(text);
  if (text.startsWith('@')) return DESCRIPTORS.includes(text) ? undefined : `unrecognized descriptor: ${text}`;
  const fields = text.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) {
    return `expected exactly ${FIELDS.length} fields, found ${fields.length}: [${fields.join(' ')}]`;
  }
  return fields.flatMap((field, index) => field.split(',').map((part) => partProblem(part, index))).find(Boolean);
}

const failedToParse = (text: string): string => `failed to parse duration ${text}`;

function partProblem(part: string, index: number): string | undefined {
  const [range = '', step, ...rest] = part.split('/');
  if (rest.length > 0) return `too many slashes: ${part}`;
  if (step !== undefined && !/^\d+$/.test(step)) return `failed to parse int from ${step}`;
  if (step !== undefined && Number(step) === 0) return `step of range should be a positive number: ${part}`;
  return range === '*' || range === '?' ? undefined : rangeProblem(range, part, FIELDS[index] ?? FIELDS[0]);
}

function rangeProblem(range: string, part: string, { first, last, names }: Field): string | undefined {
  const ends = range.split('-');
  if (ends.length > 2) return `too many hyphens: ${part}`;
  const numbers = ends.map((end) => numberOf(end, names, first));
  const bad = ends.find((_, at) => Number.isNaN(numbers[at]));
  if (bad !== undefined) return `failed to parse int from ${bad}`;
  const [start = 0, end = start] = numbers;
  if (start < first) return `beginning of range (${start}) below minimum (${first}): ${part}`;
  if (end > last) return `end of range (${end}) above maximum (${last}): ${part}`;
  return start > end ? `beginning of range (${start}) beyond end of range (${end}): ${part}` : undefined;
}

function numberOf(text: string, names: readonly string[], first: number): number {
  const at = names.indexOf(text.toLowerCase());
  if (at >= 0) return at + first;
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
