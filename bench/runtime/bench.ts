import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { median } from '../apiserver/load.ts';
import { fill, makeNamespace } from '../apiserver/measure.ts';
import { type BenchServer, startSlipway, startUpstream } from '../apiserver/servers.ts';
import { columns } from '../apiserver/table.ts';
import { type ContenderName, contend, type Figures } from './contender.ts';
import { delaysOf, type WrittenMarks, writeMarks } from './marks.ts';
import { LARGE, MEASUREMENTS, type Measurement, READ, READ_OBJECTS, SMALL } from './measurements.ts';

const ROUNDS = 3;
const WRITERS = 32;

export interface RuntimeBenchOptions {
  readonly only: string | undefined;
  /** Without the 100,000 objects, which take minutes to make. */
  readonly isQuick: boolean;
}

type Say = (text: string) => void;

/** Our runtime beside others against the same servers; each figure is the median of alternating rounds. */
export async function benchRuntime({ only, isQuick }: RuntimeBenchOptions): Promise<void> {
  const say: Say = (text) => void process.stderr.write(`${text}\n`);
  installContenders(say);
  execFileSync('node_modules/.bin/node', ['scripts/build.ts'], { stdio: 'ignore' });
  const wanted = MEASUREMENTS.filter(
    ({ name, task }) => (only === undefined || name.includes(only)) && !(isQuick && task.namespace === LARGE),
  );
  const lines: (readonly string[])[] = [];
  for (const server of ['kubernetes', 'slipway'] as const) {
    const here = wanted.filter((measurement) => measurement.server === server);
    if (here.length === 0) continue;
    await using running = await (server === 'kubernetes' ? startUpstream() : startSlipway());
    say(`filling ${server}`);
    await prepare(running, here);
    lines.push(...(await measureAll(running, here, say)));
  }
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  process.stdout.write(
    `\nslipway/kube beside others, HTTPS, ${machine}; median of ${ROUNDS} alternating rounds\n\n`,
  );
  process.stdout.write(`${columns([HEADER, ...lines])}\n`);
}

const HEADER = ['what', 'slipway', 'controller-runtime', 'client-node', 'fluent-client', 'ratios', 'targets', ''];

/** Other clients have a lock file of their own, so that nobody installs them who does not measure. */
function installContenders(say: Say): void {
  if (existsSync('bench/contenders/node_modules')) return;
  say('installing the other clients');
  execFileSync('npm', ['ci', '--prefix', 'bench/contenders', '--no-audit', '--no-fund'], { stdio: 'ignore' });
}

async function prepare(server: BenchServer, measurements: readonly Measurement[]): Promise<void> {
  const counts = new Map([
    [READ, READ_OBJECTS],
    [SMALL, 10_000],
    [LARGE, 100_000],
  ]);
  for (const [namespace, count] of counts) {
    if (!measurements.some(({ task }) => task.namespace === namespace)) continue;
    await makeNamespace(server, namespace);
    const names = Array.from({ length: count }, (_, at) => `read-${at}`);
    await fill(server, `/api/v1/namespaces/${namespace}/configmaps`, names);
  }
}

/** Measurements of one task share its runs. */
async function measureAll(server: BenchServer, measurements: readonly Measurement[], say: Say) {
  const byTask = Map.groupBy(measurements, ({ task, marksPerSecond }) => JSON.stringify([task, marksPerSecond]));
  const lines: (readonly string[])[] = [];
  for (const group of byTask.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const results = await rounds(server, first, say);
    lines.push(...group.map((measurement) => lineOf(measurement, results)));
  }
  return lines;
}

type Results = ReadonlyMap<ContenderName, readonly Figures[]>;

async function rounds(server: BenchServer, measurement: Measurement, say: Say): Promise<Results> {
  const { task, contenders, name } = measurement;
  const results = new Map<ContenderName, Figures[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const contender of contenders) {
      let answers: WrittenMarks['answers'] = new Map();
      const raw = await contend(contender, task, server.kubeconfig, async () => {
        ({ answers } = await marks(server, measurement, say));
      });
      if (raw === undefined) continue;
      const figures = delaysOf(raw, answers);
      results.get(contender)?.push(figures);
      say(`${name}: ${contender} ${shown(measurement.figure(figures))} ${measurement.unit} (${figures.count})`);
    }
  }
  return results;
}

async function marks(
  { credentials }: BenchServer,
  { task, marksPerSecond = 0 }: Measurement,
  say: Say,
): Promise<WrittenMarks> {
  const { namespace, count, seconds = 5 } = task;
  const load = { namespace, objects: count, perSecond: marksPerSecond, seconds, connections: WRITERS };
  const written = await writeMarks(credentials, load);
  const { perSecond } = written;
  if (perSecond < marksPerSecond * 0.95)
    say(`only ${Math.round(perSecond)} of ${marksPerSecond} writes per second`);
  // The last events are still under way.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return written;
}

function lineOf(measurement: Measurement, results: Results): readonly string[] {
  const { name, unit, figure, targets, isCost, limit } = measurement;
  const values = new Map([...results].map(([contender, list]) => [contender, median(list.map(figure))]));
  const ours = values.get('slipway') ?? 0;
  const cell = (contender: ContenderName): string => {
    const value = values.get(contender);
    return value === undefined || results.get(contender)?.length === 0 ? '–' : `${shown(value)} ${unit}`;
  };
  const others = [...values].filter(([contender, value]) => contender !== 'slipway' && value > 0);
  const ratios = others.map(([contender, value]) => `${SHORT[contender]} ${(ours / value).toFixed(2)}`);
  const sign = isCost ? '≤' : '≥';
  const wanted = Object.entries(targets).map(([contender, target]) => `${SHORT[contender]} ${sign} ${target}`);
  const missed = others.some(([contender, value]) => !isMet(ours / value, targets[contender], isCost));
  return [
    name,
    ...(['slipway', 'controller-runtime', 'client-node', 'fluent-client'] as const).map(cell),
    ratios.join(', '),
    [...wanted, ...(limit === undefined ? [] : [`${sign} ${limit} ${unit}`])].join(', '),
    missed || !isMet(ours, limit, isCost) ? 'MISSED' : wanted.length > 0 || limit !== undefined ? 'met' : '',
  ];
}

const SHORT: Readonly<Record<string, string>> = {
  'controller-runtime': 'Go',
  'client-node': 'client-node',
  'fluent-client': 'fluent',
};

const isMet = (value: number, target: number | undefined, isCost: boolean): boolean =>
  target === undefined || (isCost ? value <= target : value >= target);

const shown = (value: number): string =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
