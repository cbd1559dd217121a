import { cpus } from 'node:os';
import type { KubeClient } from '../../src/kube/client/kube-client.ts';
import { adminClient } from '../../test/support/admin-client.ts';
import { median } from '../apiserver/load.ts';
import { type BenchServer, startUpstream } from '../apiserver/servers.ts';
import { columns } from '../apiserver/table.ts';
import { type Published, publishedCommand } from '../published.ts';
import { answeredRequests, quietServer, removeAll } from './cluster.ts';
import { CONTENDERS, type ContenderName, contend, type Outcome } from './contenders.ts';
import { MEASUREMENTS, type Measurement, QUICK } from './measurements.ts';

const ROUNDS = 3;
const MEBIBYTE = 1024 * 1024;

export interface CloudBenchOptions {
  readonly only: string | undefined;
  /** One round with few objects: shows that it works, and not how fast. */
  readonly isQuick: boolean;
}

interface Figures extends Outcome {
  /** Requests about nodes, Services and events, until there were no more. */
  readonly requests: number;
}

type Results = ReadonlyMap<ContenderName, readonly Figures[]>;

interface Stage {
  readonly server: BenchServer;
  readonly client: KubeClient;
  readonly slipway: Published;
}

/** Our cloud controller manager beside the framework in Go, each a process of its own, on the same real API server. */
export async function benchCloud({ only, isQuick }: CloudBenchOptions): Promise<void> {
  const slipway = publishedCommand(!isQuick);
  const all = isQuick ? QUICK : MEASUREMENTS;
  const wanted = all.filter(({ name }) => only === undefined || name.includes(only));
  await using parts = new AsyncDisposableStack();
  const server = parts.use(await startUpstream());
  const stage = { server, slipway, client: await adminClient(parts, server.kubeconfig) };
  const lines: (readonly string[])[] = [];
  const perObject = new Map<string, number>();
  for (const measurement of wanted) {
    const results = await rounds(stage, measurement, isQuick ? 1 : ROUNDS);
    lines.push(...linesOf(measurement, results));
    perObject.set(measurement.name, middle(results, 'slipway', 'seconds') / measurement.count);
  }
  lines.push(...growth(perObject));
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  process.stdout.write(
    `\ncloud controller managers on one kube-apiserver, ${machine}; ours ${slipway.form}; ` +
      `medians of ${isQuick ? 'one round' : `${ROUNDS} alternating rounds`} (* one round)\n\n`,
  );
  process.stdout.write(`${columns([HEADER, ...lines])}\n`);
}

const HEADER = ['what', 'slipway', 'Go', 'Go, tuned', 'ours / Go', 'ours / Go, tuned', 'targets', ''];

async function rounds(stage: Stage, measurement: Measurement, count: number): Promise<Results> {
  const results = new Map<ContenderName, Figures[]>(CONTENDERS.map((name) => [name, []]));
  for (let round = 0; round < count; round++) {
    for (const name of CONTENDERS) {
      if (round > 0 && measurement.onceFor.includes(name)) continue;
      const figures = await run(stage, measurement, name);
      results.get(name)?.push(figures);
      process.stderr.write(
        `${measurement.name}: ${name} ${shown(figures.seconds)} s, ${figures.requests} requests, ` +
          `${shown(figures.peakBytes / MEBIBYTE)} MiB\n`,
      );
    }
  }
  await removeAll(stage.server, stage.client);
  return results;
}

async function run({ server, client, slipway }: Stage, measurement: Measurement, name: ContenderName) {
  await measurement.prepare(server, client);
  const before = await answeredRequests(server);
  const { delayMs, until } = measurement;
  const outcome = await contend(name, {
    kubeconfig: server.kubeconfig,
    slipway,
    delayMs,
    until: (signal) => until(client, signal),
    afterwards: () => quietServer(server),
  });
  return { ...outcome, requests: (await answeredRequests(server)) - before };
}

function linesOf(measurement: Measurement, results: Results): readonly (readonly string[])[] {
  const { name, targets, onceFor, count } = measurement;
  const of = (contender: ContenderName, figure: keyof Figures) => middle(results, contender, figure);
  const line = (what: string, unit: string, value: (contender: ContenderName) => number) => {
    const ours = value('slipway');
    const cells = CONTENDERS.map((one) => `${shown(value(one))} ${unit}${onceFor.includes(one) ? '*' : ''}`);
    return [what, ...cells, (ours / value('go')).toFixed(2), (ours / value('go, tuned')).toFixed(2)];
  };
  const wanted = Object.entries(targets) as [ContenderName, number][];
  const isMet = wanted.every(([other, most]) => of('slipway', 'seconds') / of(other, 'seconds') <= most);
  const verdict = wanted.length === 0 ? '' : isMet ? 'met' : 'MISSED';
  const told = wanted.map(([other, most]) => `${other} ≤ ${most}`).join('; ');
  return [
    [...line(name, 's', (one) => of(one, 'seconds')), told, verdict],
    line('– requests an object', '', (one) => of(one, 'requests') / count),
    line('– peak memory', 'MiB', (one) => of(one, 'peakBytes') / MEBIBYTE),
  ];
}

const MOST_GROWTH = 1.5;

/** Whether five times the nodes take five times as long: the time for each of them, beside that of fewer. */
function growth(perObject: ReadonlyMap<string, number>): readonly (readonly string[])[] {
  const [few, many] = [perObject.get('1,000 nodes'), perObject.get('5,000 nodes')];
  if (few === undefined || many === undefined) return [];
  const ratio = many / few;
  const verdict = ratio <= MOST_GROWTH ? 'met' : 'MISSED';
  const what = 'time a node, 5,000 beside 1,000';
  return [[what, ratio.toFixed(2), '', '', '', '', `≤ ${MOST_GROWTH}`, verdict]];
}

const middle = (results: Results, contender: ContenderName, figure: keyof Figures): number =>
  median((results.get(contender) ?? []).map((figures) => figures[figure]));

const shown = (value: number): string =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
