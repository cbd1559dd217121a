import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { median, type Rate } from './load.ts';
import { FILLED, fill, fillNames, MEASUREMENTS, makeNamespaces, prepare } from './measure.ts';
import { type BenchServer, startSlipway, startUpstream } from './servers.ts';
import { type Row, table } from './table.ts';

const ROUNDS = 3;
const START_ROUNDS = 5;
const FILLS = [10_000, 100_000];

export interface BenchOptions {
  readonly only: string | undefined;
  /** Without the 100,000 objects, which take minutes. */
  readonly isQuick: boolean;
}

/** Both servers, durable, over HTTPS, in one run; each figure is the median of alternating rounds. */
export async function benchApiServer({ only, isQuick }: BenchOptions): Promise<void> {
  const say = (text: string) => void process.stderr.write(`${text}\n`);
  execFileSync('node_modules/.bin/node', ['scripts/build.ts'], { stdio: 'ignore' });
  const isWanted = (name: string) => only === undefined || name.includes(only);
  const rows: Row[] = [];
  if (isWanted('cold start')) rows.push(await coldStart(say));
  const measured = MEASUREMENTS.filter(({ name }) => isWanted(name));
  if (measured.length > 0) rows.push(...(await throughput(measured, say)));
  if (isWanted('memory')) rows.push(...(await memory(isQuick ? FILLS.slice(0, 1) : FILLS, say)));
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  process.stdout.write(`\nslipway apiserver against kube-apiserver + etcd, both durable, HTTPS, ${machine}\n`);
  process.stdout.write(`median of ${ROUNDS} alternating rounds (cold start: ${START_ROUNDS})\n\n${table(rows)}\n`);
}

async function coldStart(say: (text: string) => void): Promise<Row> {
  const times = { kubernetes: [] as number[], slipway: [] as number[] };
  for (let round = 0; round < START_ROUNDS; round++) {
    for (const start of [startUpstream, startSlipway]) {
      await using server = await start();
      times[server.name].push(server.startMs);
      say(`cold start: ${server.name} ${Math.round(server.startMs)} ms`);
    }
  }
  return costRow('cold start', 'ms', {
    upstream: median(times.kubernetes),
    ours: median(times.slipway),
    target: 0.05,
  });
}

type Wanted = typeof MEASUREMENTS;

async function throughput(measured: Wanted, say: (text: string) => void): Promise<readonly Row[]> {
  await using upstream = await startUpstream();
  await using ours = await startSlipway();
  say('filling both servers');
  await prepare(upstream);
  await prepare(ours);
  const rows: Row[] = [];
  for (const measurement of measured) {
    const results = { kubernetes: [] as Rate[], slipway: [] as Rate[] };
    for (let round = 0; round < ROUNDS; round++) {
      for (const server of [upstream, ours]) {
        const rate = await measurement.run(server, round);
        results[server.name].push(rate);
        say(`${measurement.name}: ${server.name} ${Math.round(rate.perSecond)} ${measurement.unit}`);
      }
    }
    rows.push(rateRow(measurement, results.kubernetes, results.slipway));
  }
  return rows;
}

function rateRow({ name, unit, target }: Wanted[number], upstream: readonly Rate[], ours: readonly Rate[]): Row {
  const rates = [upstream, ours].map((list) => median(list.map(({ perSecond }) => perSecond)));
  const [theirs = 0, own = 0] = rates;
  const delays = (list: readonly Rate[]) =>
    `${median(list.map(({ p50Ms }) => p50Ms)).toFixed(1)} / ${median(list.map(({ p99Ms }) => p99Ms)).toFixed(1)}`;
  return {
    name,
    unit,
    upstream: theirs,
    ours: own,
    ratio: own / theirs,
    target: `≥ ${target}`,
    isMet: own / theirs >= target,
    delays: [delays(upstream), delays(ours)],
  };
}

interface Costs {
  readonly upstream: number;
  readonly ours: number;
  readonly target: number;
}

const costRow = (name: string, unit: string, { upstream, ours, target }: Costs): Row => ({
  name,
  unit,
  upstream,
  ours,
  ratio: ours / upstream,
  target: `≤ ${target}`,
  isMet: ours / upstream <= target,
  delays: ['', ''],
});

async function memory(counts: readonly number[], say: (text: string) => void): Promise<readonly Row[]> {
  const sizes = { kubernetes: [] as number[], slipway: [] as number[] };
  for (const start of [startUpstream, startSlipway]) {
    await using server: BenchServer = await start();
    await makeNamespaces(server);
    let from = 0;
    for (const to of counts) {
      await fill(server, FILLED, fillNames(from, to));
      from = to;
      sizes[server.name].push(server.memory() / 2 ** 20);
      say(`memory at ${to} objects: ${server.name} ${Math.round(sizes[server.name].at(-1) ?? 0)} MiB`);
    }
  }
  return counts.map((count, at) =>
    costRow(`memory at ${count.toLocaleString('en')} objects`, 'MiB', {
      upstream: sizes.kubernetes[at] ?? 0,
      ours: sizes.slipway[at] ?? 0,
      target: 0.5,
    }),
  );
}
