import { execFile, execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { promisify } from 'node:util';
import { oracleFile } from '../../test/support/needs-oracle.ts';
import { median } from '../apiserver/load.ts';
import { columns } from '../apiserver/table.ts';
import {
  type Figures,
  MEASUREMENTS,
  type Measurement,
  type Median,
  TASKS,
  type Task,
  type TaskName,
} from './measurements.ts';

const ROUNDS = 3;
/** Longer than any task takes on two busy cores. */
const LONGEST_MS = 600_000;
const NODE = 'node_modules/.bin/node';
/** As the installed command starts it. */
const { NODE_ARGS }: { readonly NODE_ARGS: readonly string[] } = createRequire(import.meta.url)(
  '../../bin/own-node.cjs',
);
const HEADER = ['what', 'slipway', 'kube-controller-manager', 'ratio', 'target', ''];

export interface LabBenchOptions {
  readonly only: string | undefined;
  /** Without kube-controller-manager, which takes minutes at its own limits. */
  readonly isQuick: boolean;
  /** Where every figure of every round is written to. */
  readonly json?: string | undefined;
}

type Rounds = ReadonlyMap<TaskName, readonly Figures[]>;

/** The lab in the form users install, each task in a process of its own; each figure is the median of alternating rounds. */
export async function benchLab({ only, isQuick, json }: LabBenchOptions): Promise<void> {
  execFileSync(NODE, ['scripts/build.ts'], { stdio: 'ignore' });
  const wanted = MEASUREMENTS.filter(
    ({ name, theirs }) => (only === undefined || name.includes(only)) && !(isQuick && theirs !== undefined),
  );
  const rounds = await measure([...new Set(wanted.flatMap(({ tasks }) => tasks))]);
  const rows = wanted.map((measurement) => rowOf(measurement, rounds));
  const machine = `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}`;
  process.stdout.write(`\nthe lab, ${machine}; median of ${ROUNDS} alternating rounds\n\n`);
  process.stdout.write(`${columns([HEADER, ...rows.map(cellsOf)])}\n`);
  if (json !== undefined)
    await writeFile(
      json,
      `${JSON.stringify({ machine, rows, rounds: Object.fromEntries(rounds) }, undefined, 1)}\n`,
    );
}

async function measure(tasks: readonly TaskName[]): Promise<Rounds> {
  const rounds = new Map<TaskName, Figures[]>(tasks.map((task) => [task, []]));
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [name, figures] of rounds) {
      const found = await run(TASKS[name]);
      figures.push(found);
      const text = Object.entries(found).map(([figure, value]) => `${figure} ${shown(value)}`);
      process.stderr.write(
        `round ${round}, ${TASKS[name].words.join(' ')}${managerText(TASKS[name])}: ${text.join(', ')}\n`,
      );
    }
  }
  return rounds;
}

const managerText = ({ manager }: Task): string =>
  manager === undefined ? '' : ` with kube-controller-manager (${manager})`;

async function run({ words, manager }: Task): Promise<Figures> {
  const flags =
    manager === undefined
      ? []
      : [
          '--manager',
          oracleFile('kube-controller-manager', process.env),
          ...(manager === 'unlimited' ? ['--unlimited'] : []),
        ];
  const program = [...NODE_ARGS, '--expose-gc', 'bench/lab/program.mjs', ...words, ...flags];
  const { stdout } = await promisify(execFile)(NODE, program, { timeout: LONGEST_MS });
  return JSON.parse(stdout);
}

interface Row {
  readonly name: string;
  readonly unit: string;
  readonly ours: number;
  readonly theirs?: number;
  readonly ratio?: number;
  readonly target?: string;
  readonly isMet?: boolean;
}

function rowOf({ name, unit, ours, theirs, limit, ratio: wanted }: Measurement, rounds: Rounds): Row {
  const middle: Median = (task, figure) =>
    median((rounds.get(task) ?? []).map((figures) => figures[figure] ?? NaN));
  const own = ours(middle);
  if (theirs !== undefined) {
    const other = theirs(middle);
    const ratio = own / other;
    return {
      name,
      unit,
      ours: own,
      theirs: other,
      ratio,
      ...(wanted !== undefined && { target: `≤ ${wanted}`, isMet: ratio <= wanted }),
    };
  }
  return {
    name,
    unit,
    ours: own,
    ...(limit !== undefined && { target: `≤ ${limit} ${unit}`.trim(), isMet: own <= limit }),
  };
}

const cellsOf = ({ name, unit, ours, theirs, ratio, target = '', isMet }: Row): readonly string[] => [
  name,
  `${shown(ours)} ${unit}`.trim(),
  theirs === undefined ? '' : `${shown(theirs)} ${unit}`,
  ratio === undefined ? '' : ratio.toFixed(2),
  target,
  isMet === undefined ? '' : isMet ? 'met' : 'MISSED',
];

const shown = (value: number): string =>
  Number.isInteger(value) || value >= 100
    ? Math.round(value).toLocaleString('en')
    : value.toFixed(value < 10 ? 2 : 1);
