import type { AuditedRequest } from '../../test/support/ccm-oracle-audit.ts';
import { median } from '../apiserver/load.ts';
import type { ComparisonFigures } from './comparison.ts';
import type { ContenderName } from './contenders.ts';
import type { RequestCounts } from './counted-requests.ts';
import type { InstallFigures } from './install.ts';

const MEBIBYTE = 1024 * 1024;

export const HEADER = ['what', 'upstream', 'slipway', 'ratio', 'target', ''];
export type Line = readonly string[];

/** By how many hosts. */
export type InstallResults = ReadonlyMap<number, readonly InstallFigures[]>;
export type ComparisonResults = ReadonlyMap<ContenderName, readonly ComparisonFigures[]>;

export function installLines(results: InstallResults): readonly Line[] {
  return [
    ...[...results].flatMap(([hosts, all]) => linesFor(hosts, all)),
    ...growthLine(results, 'wall time', ({ seconds }) => seconds),
    ...growthLine(results, 'processor time', ({ processorSeconds }) => processorSeconds),
  ];
}

function linesFor(hosts: number, all: readonly InstallFigures[]): readonly Line[] {
  const line = (name: string, of: (figures: InstallFigures) => number, unit = ''): Line => [
    name,
    '',
    `${shown(median(all.map(of)))} ${unit}`.trim(),
  ];
  return [
    line(`${hosts} hosts, virtual time: wall time`, ({ seconds }) => seconds, 's'),
    line('– processor', ({ processorSeconds }) => processorSeconds, 's'),
    line('– time that passed in it', ({ virtualSeconds }) => virtualSeconds / 60, 'min'),
    line('– requests a host', ({ requests }) => requests / hosts),
    line('– those of them that write', ({ writes }) => writes / hosts),
    line('– watches, in all', ({ watches }) => watches),
    line('– lists that compare caches, in all', ({ comparisons }) => comparisons),
    line('– peak memory of everything', ({ peakBytes }) => peakBytes / MEBIBYTE, 'MiB'),
  ];
}

const [FEW, MANY] = [50, 500];
const MOST_GROWTH = 1.5;

/** Whether ten times the hosts take ten times as long: the time for each of them, beside that of fewer. */
function growthLine(
  results: InstallResults,
  what: string,
  of: (figures: InstallFigures) => number,
): readonly Line[] {
  const [few, many] = [results.get(FEW), results.get(MANY)];
  if (few === undefined || many === undefined) return [];
  const ratio = median(many.map(of)) / MANY / (median(few.map(of)) / FEW);
  const name = `${what} a host, ${MANY} beside ${FEW}`;
  return [[name, '', shown(ratio), '', `≤ ${MOST_GROWTH}`, ratio <= MOST_GROWTH ? 'met' : 'MISSED']];
}

/** Something that a round says about a contender. */
interface Measurement {
  readonly name: string;
  readonly unit?: string;
  readonly of: (figures: ComparisonFigures) => number;
  /** Most that ours may be of upstream's. */
  readonly target?: number;
}

const WATCH = 'watch';
/** What the path is asked for that is no object: which kinds there are. */
const verbOf = ({ verb, resource }: AuditedRequest): string => (resource === '' ? 'discovery' : verb);
const both = ({ requests }: ComparisonFigures): readonly AuditedRequest[] => [
  ...requests.bootstrap,
  ...requests.controlPlane,
];
const unwatched = (requests: readonly AuditedRequest[]): number =>
  requests.filter(({ verb }) => verb !== WATCH).length;

export function comparisonLines(results: ComparisonResults): readonly Line[] {
  const verbs = new Set([...results.values()].flat().flatMap((figures) => both(figures).map(verbOf)));
  const measurements: readonly Measurement[] = [
    { name: '3 + 2 hosts, from apply to Available', unit: 's', of: (one) => one.availableSeconds, target: 1 },
    { name: '– until all Machines run', unit: 's', of: ({ seconds }) => seconds, target: 1 },
    { name: '– processor of both programs', unit: 's', of: ({ processorSeconds }) => processorSeconds },
    { name: 'requests for the cluster', of: (figures) => unwatched(both(figures)), target: 1 },
    { name: '– of the bootstrap provider', of: ({ requests }) => unwatched(requests.bootstrap) },
    { name: '– of the control-plane provider', of: ({ requests }) => unwatched(requests.controlPlane) },
    ...[...verbs]
      .filter((verb) => verb !== WATCH)
      .toSorted()
      .map((verb) => ({ name: `– ${verb}`, of: verbCount(verb) })),
    { name: 'watches that began meanwhile', of: verbCount(WATCH) },
    { name: 'peak memory of both programs', unit: 'MiB', of: ({ peakBytes }) => peakBytes / MEBIBYTE },
  ];
  return measurements.map((measurement) => lineOf(measurement, results));
}

const verbCount =
  (verb: string) =>
  (figures: ComparisonFigures): number =>
    both(figures).filter((request) => verbOf(request) === verb).length;

function lineOf({ name, unit = '', of, target }: Measurement, results: ComparisonResults): Line {
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
export const idleLines = ({ requests, writes, watches, comparisons }: RequestCounts): readonly Line[] => [
  ['10 idle minutes: writes', '', shown(writes), '', '0', writes === 0 ? 'met' : 'MISSED'],
  ['– requests other than those below', '', shown(requests)],
  ['– watches that begin again', '', shown(watches)],
  ['– lists that compare caches', '', shown(comparisons)],
];

const shown = (value: number): string =>
  Number.isInteger(value) || value >= 100
    ? Math.round(value).toLocaleString('en')
    : value.toFixed(value < 10 ? 2 : 1);
