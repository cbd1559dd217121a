import type { AuditedRequest } from '../../test/support/ccm-oracle-audit.ts';
import { median } from '../apiserver/load.ts';
import type { ContenderName, Outcome } from './contenders.ts';
import type { IdleFigures } from './idle.ts';

const MEBIBYTE = 1024 * 1024;

export interface RoundFigures extends Outcome {
  /** Of both programs, in the order in which the server answered. */
  readonly requests: readonly AuditedRequest[];
}

export type Results = ReadonlyMap<ContenderName, readonly RoundFigures[]>;

export const HEADER = ['what', 'upstream', 'slipway', 'ratio', 'target', ''];

/** Something that a round says about a contender. */
interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly of: (figures: RoundFigures) => number;
  /** Most that ours may be of upstream's. */
  readonly target?: number;
}

/** What the path is asked for that is no object: which kinds there are. */
const DISCOVERY = 'discovery';
const WATCH = 'watch';
const verbOf = ({ verb, resource }: AuditedRequest): string => (resource === '' ? DISCOVERY : verb);

const requests = (name: string, isCounted: (verb: string) => boolean, target?: number): Measurement => ({
  name,
  unit: '',
  of: (figures) => figures.requests.filter((request) => isCounted(verbOf(request))).length,
  ...(target !== undefined && { target }),
});

const TIME: Measurement = {
  name: 'from the start of both programs to Available',
  unit: 's',
  of: ({ seconds }) => seconds,
  target: 1,
};

/** One line for each figure, with every verb that anybody used. */
export function roundLines(results: Results): readonly (readonly string[])[] {
  const verbs = new Set([...results.values()].flat().flatMap(({ requests: all }) => all.map(verbOf)));
  const measurements: readonly Measurement[] = [
    TIME,
    { name: '– processor of both', unit: 's', of: ({ processorSeconds }) => processorSeconds },
    requests('requests, watches not counted', (verb) => verb !== WATCH, 1),
    ...[...verbs]
      .filter((verb) => verb !== WATCH)
      .toSorted()
      .map((verb) => requests(`– ${verb}`, (one) => one === verb)),
    requests('watches', (verb) => verb === WATCH),
    { name: 'peak memory of both', unit: 'MiB', of: ({ peakBytes }) => peakBytes / MEBIBYTE },
  ];
  return measurements.map((measurement) => lineOf(measurement, results));
}

function lineOf({ name, unit, of, target }: Measurement, results: Results): readonly string[] {
  const middle = (contender: ContenderName): number => median((results.get(contender) ?? []).map(of));
  const ours = middle('slipway');
  const cell = (value: number): string => `${shown(value)} ${unit}`.trim();
  if (!results.has('upstream')) return [name, '', cell(ours)];
  const theirs = middle('upstream');
  const ratio = theirs === 0 ? '' : (ours / theirs).toFixed(2);
  if (target === undefined) return [name, cell(theirs), cell(ours), ratio];
  return [name, cell(theirs), cell(ours), ratio, `≤ ${target}`, ours / theirs <= target ? 'met' : 'MISSED'];
}

/** Upstream has no clock that could be told to hurry. */
export function idleLines(figures: IdleFigures): readonly (readonly string[])[] {
  const none = (what: string, count: number) => [what, '', shown(count), '', '0', count === 0 ? 'met' : 'MISSED'];
  return [
    none('10 idle minutes: writes', figures.writes),
    none('– requests other than those below', figures.others),
    ['– watches that begin again', '', shown(figures.watches)],
    ['– lists that compare caches', '', shown(figures.comparisons)],
  ];
}

const shown = (value: number): string => {
  if (Number.isInteger(value) || value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value < 10 ? 2 : 1);
};
