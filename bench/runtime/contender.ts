import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { oracleFile } from '../../test/support/needs-oracle.ts';

/** What a contender says about one task; the same for all, whatever they are written in. */
export interface Figures {
  readonly count: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly rssBytes?: number;
  readonly heapBytes?: number;
  /** When each mark arrived, in Unix microseconds. */
  readonly arrivals?: Readonly<Record<string, number>>;
  /** From the start of a write until its reconcile. */
  readonly fromWrite?: Percentiles;
  /** From the answer to a write, which is when its event is sent, until its reconcile. */
  readonly fromAnswer?: Percentiles;
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Task {
  readonly name: 'requests' | 'sync' | 'latency' | 'noop' | 'idle';
  readonly namespace: string;
  readonly count: number;
  readonly clients?: number;
  readonly seconds?: number;
}

export type ContenderName = 'slipway' | 'controller-runtime' | 'client-node' | 'fluent-client';

const NODE = 'node_modules/.bin/node';
const PROGRAMS: Readonly<Record<ContenderName, (task: Task) => readonly string[]>> = {
  slipway: (task) => [NODE, '--expose-gc', 'bench/runtime/slipway.mjs', task.name, ...nodeFlags(task)],
  'client-node': (task) => onNode('client-node', task),
  'fluent-client': (task) => onNode('fluent-client', task),
  'controller-runtime': (task) => [
    oracleFile('controller-runtime', process.env),
    `bench-${task.name}`,
    ...flags(task),
    '--duration',
    `${task.seconds ?? 3}s`,
  ],
};

const onNode = (name: string, task: Task) => [
  NODE,
  '--expose-gc',
  `bench/contenders/${name}.mjs`,
  task.name,
  ...nodeFlags(task),
];

const flags = ({ namespace, count, clients = 1 }: Task) => [
  '--namespace',
  namespace,
  '--count',
  String(count),
  '--clients',
  String(clients),
];

const nodeFlags = (task: Task) => [...flags(task), '--seconds', String(task.seconds ?? 3)];

const LONGEST_MS = 180_000;

/**
 * Runs one contender on one task. `whileReady` runs when it says that it is ready; then its input is closed and it sums
 * up. Undefined: it cannot do this task.
 */
export async function contend(
  name: ContenderName,
  task: Task,
  kubeconfig: string,
  whileReady?: () => Promise<void>,
): Promise<Figures | undefined> {
  const [file = '', ...rest] = PROGRAMS[name](task);
  const child = spawn(file, rest, { env: { ...process.env, KUBECONFIG: kubeconfig } });
  const limit = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  try {
    return await figuresOf(child, whileReady);
  } finally {
    clearTimeout(limit);
    child.kill('SIGKILL');
  }
}

async function figuresOf(child: ChildProcessWithoutNullStreams, whileReady: (() => Promise<void>) | undefined) {
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  for await (const line of createInterface({ input: child.stdout })) {
    const said: unknown = JSON.parse(line);
    if (said === 'cannot') return undefined;
    if (said !== 'ready') return said as Figures;
    await whileReady?.();
    child.stdin.end();
  }
  throw new Error(`${child.spawnfile} said nothing: ${Buffer.concat(errors).toString('utf8').slice(-500)}`);
}
