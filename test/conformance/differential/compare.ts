import { removeAt, valuesAt } from './answer-path.ts';
import type { Comparison } from './case-file.ts';
import { type Recorded, unmet } from './recorded-answer.ts';

/** One place where the two answers are not the same. */
export interface Difference {
  readonly path: string;
  readonly upstream: unknown;
  readonly ours: unknown;
}

export type Verdict =
  | { readonly kind: 'same' }
  | { readonly kind: 'deliberate'; readonly id: string }
  | { readonly kind: 'different'; readonly differences: readonly Difference[] };

/**
 * Compares two masked answers to one step. A step that lists a deviation must differ, and exactly as it says, unless
 * both servers are of one make (`isControl`).
 */
export function verdictOn(upstream: Recorded, ours: Recorded, isControl: boolean): Verdict {
  const differences = [...failures(upstream, ours), ...differencesOf(comparable(upstream), comparable(ours), '')];
  const { deviation } = ours.step;
  if (deviation === undefined || isControl) return different(differences);
  if (differences.length === 0 && deviation.optional === true) return { kind: 'same' };
  if (differences.length === 0) {
    return different([
      { path: '', upstream: 'the same', ours: `deviation ${deviation.id} is not there any more` },
    ]);
  }
  const wrong = unmet(ours, deviation.ours);
  if (wrong.length === 0 && ours.failure === undefined) return { kind: 'deliberate', id: deviation.id };
  return different([{ path: `deviation ${deviation.id}`, upstream: deviation.ours, ours: wrong }]);
}

const different = (differences: readonly Difference[]): Verdict =>
  differences.length === 0 ? { kind: 'same' } : { kind: 'different', differences };

/** Also when both failed alike: a case that cannot be played, or whose facts are wrong, proves nothing. */
const failures = (upstream: Recorded, ours: Recorded): readonly Difference[] =>
  upstream.failure === undefined && ours.failure === undefined
    ? []
    : [{ path: 'failure', upstream: upstream.failure, ours: ours.failure }];

function comparable(answer: Recorded): unknown {
  const { compare = {} } = answer.step;
  return {
    status: answer.status,
    ...(compare.headers !== false && { headers: answer.headers }),
    ...(compare.body !== false && { body: comparableBody(answer.body, compare) }),
  };
}

/** What of a body counts. */
export function comparableBody(original: unknown, { ignore = [], unordered = [], only }: Comparison): unknown {
  const body = structuredClone(original);
  normaliseStatus(body);
  for (const path of ignore) removeAt(body, path);
  for (const list of unordered.flatMap((path) => valuesAt(body, path))) sortList(list);
  return chosen(body, only);
}

const chosen = (body: unknown, only: readonly string[] | undefined): unknown =>
  only === undefined ? body : Object.fromEntries(only.map((path) => [path, valuesAt(body, path)]));

function sortList(list: unknown): void {
  if (Array.isArray(list)) list.sort((a, b) => compareText(JSON.stringify(a), JSON.stringify(b)));
}

const compareText = (a: string, b: string): number => {
  if (a === b) return 0;
  return a < b ? -1 : 1;
};

interface Cause {
  readonly field?: string;
  readonly message?: string;
}

/** Upstream collects errors in the order of Go maps: causes, and the message that lists them, are sets. */
function normaliseStatus(body: unknown): void {
  const status = body as { kind?: string; message?: string; details?: { causes?: Cause[] } } | null | undefined;
  const causes = status?.kind === 'Status' ? status.details?.causes : undefined;
  if (status?.message === undefined || causes === undefined || causes.length < 2) return;
  const texts = causes.map(({ field, message }) => `${field}: ${message}`);
  texts.sort((a, b) => b.length - a.length);
  status.message = texts.reduce((message, text) => message.replace(text, '<cause>'), status.message);
  sortList(causes);
}

/** Every leaf that differs; a key that one side lacks is shown as `undefined`. */
function differencesOf(upstream: unknown, ours: unknown, path: string): readonly Difference[] {
  if (Object.is(upstream, ours)) return [];
  if (!isContainer(upstream) || !isContainer(ours) || Array.isArray(upstream) !== Array.isArray(ours)) {
    return [{ path, upstream, ours }];
  }
  const keys = new Set([...Object.keys(upstream), ...Object.keys(ours)]);
  return [...keys].flatMap((key) => differencesOf(upstream[key], ours[key], pathOf(path, key)));
}

const isContainer = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

function pathOf(path: string, key: string): string {
  if (/^\d+$/.test(key)) return `${path}[${key}]`;
  if (!/^[\w-]+$/.test(key)) return `${path}["${key}"]`;
  return path === '' ? key : `${path}.${key}`;
}
