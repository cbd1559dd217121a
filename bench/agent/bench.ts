import { cpus, loadavg } from 'node:os';
import { columns } from '../apiserver/table.ts';
import { publishedCommand } from '../published.ts';
import { type ComparisonFigures, compared } from './comparison.ts';
import { type ContenderName, type Programs, UPSTREAM_FOLDER, upstreamFolder } from './contenders.ts';
import { idleFigures } from './idle.ts';
import { type InstallFigures, installFigures } from './install.ts';
import {
  type ComparisonResults,
  comparisonLines,
  HEADER,
  type InstallResults,
  idleLines,
  installLines,
  type Line,
} from './table.ts';

const ROUNDS = 3;
const HOSTS: readonly number[] = [5, 50, 500];
const QUICK_HOSTS: readonly number[] = [5];

export interface AgentBenchOptions {
  readonly only: string | undefined;
  /** One round with few hosts: shows that it works, and not how fast. */
  readonly isQuick: boolean;
  /** On how many clusters are installed; 5, 50 and 500 unless told otherwise. */
  readonly hosts?: readonly number[];
}

/** The Agent providers: clusters of many hosts on virtual time, beside upstream's on a real API server, and idle. */
export async function benchAgent({ only = '', isQuick, hosts }: AgentBenchOptions): Promise<void> {
  const count = isQuick ? 1 : ROUNDS;
  const programs = { slipway: publishedCommand(!isQuick), upstream: upstreamFolder(process.env) };
  const lines: Line[] = [];
  if ('install'.includes(only))
    lines.push(...installLines(await installations(hosts ?? (isQuick ? QUICK_HOSTS : HOSTS), count)));
  if ('compare'.includes(only)) lines.push(...comparisonLines(await comparisons(programs, count)));
  if ('idle'.includes(only)) lines.push(...idleLines(await idleFigures()));
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  process.stdout.write(
    `\nthe Agent providers, ${machine}; ours ${programs.slipway.form} beside upstream's, from sources on virtual time; ` +
      `medians of ${count === 1 ? 'one round' : `${count} alternating rounds`}; load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  if (programs.upstream === undefined) {
    process.stdout.write(
      `no comparison: upstream's programs are in no package registry, and ${UPSTREAM_FOLDER} names no folder with them\n`,
    );
  }
  process.stdout.write(`\n${columns([HEADER, ...lines])}\n`);
}

async function installations(sizes: readonly number[], count: number): Promise<InstallResults> {
  const results = new Map<number, InstallFigures[]>(sizes.map((hosts) => [hosts, []]));
  for (let round = 1; round <= count; round++) {
    for (const [hosts, all] of results) {
      const figures = await installFigures(hosts);
      all.push(figures);
      progress(round, `${hosts} hosts`, figures, figures.requests);
    }
  }
  return results;
}

async function comparisons(programs: Programs, count: number): Promise<ComparisonResults> {
  const results = new Map<ContenderName, ComparisonFigures[]>([['slipway', []]]);
  if (programs.upstream !== undefined) results.set('upstream', []);
  for (let round = 1; round <= count; round++) {
    for (const [name, all] of results) {
      const figures = await compared(name, programs);
      all.push(figures);
      progress(round, name, figures, Object.values(figures.requests).flat().length);
    }
  }
  return results;
}

type Progress = Pick<InstallFigures, 'seconds' | 'processorSeconds' | 'peakBytes'>;

function progress(round: number, what: string, figures: Progress, requests: number): void {
  const { seconds, processorSeconds, peakBytes } = figures;
  process.stderr.write(
    `round ${round}, ${what}: ${seconds.toFixed(2)} s, processor ${processorSeconds.toFixed(2)} s, ` +
      `${requests} requests, ${Math.round(peakBytes / 2 ** 20)} MiB, load ${loadavg()[0]?.toFixed(1)}\n`,
  );
}
