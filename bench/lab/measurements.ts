/** What one run of a task says, by name. */
export type Figures = Readonly<Record<string, number>>;

/** One way to run bench/lab/program.mjs. */
export interface Task {
  readonly words: readonly string[];
  /** With kube-controller-manager instead of ours, at its own limits or without any. */
  readonly manager?: 'limited' | 'unlimited';
}

const start = (nodes: number): Task => ({ words: ['start', '--nodes', String(nodes)] });
const memory = (nodes: number): Task => ({ words: ['memory', '--nodes', String(nodes)] });
const ROLLOUT = ['rollout', '--nodes', '20', '--pods', '500'];

export const TASKS = {
  start0: start(0),
  start1: start(1),
  start5: start(5),
  oneChild: { words: ['child', '--nodes', '1', '--pods', '1'] },
  memory0: memory(0),
  memory50: memory(50),
  pods: { words: ['pods', '--nodes', '20', '--pods', '1000'] },
  children: { words: ['child', '--nodes', '5', '--pods', '50'] },
  hour: { words: ['hour', '--nodes', '20'] },
  rollout: { words: ROLLOUT },
  rolloutLimited: { words: ROLLOUT, manager: 'limited' },
  rolloutUnlimited: { words: ROLLOUT, manager: 'unlimited' },
} as const satisfies Readonly<Record<string, Task>>;
export type TaskName = keyof typeof TASKS;

/** The median of a figure of a task. */
export type Median = (task: TaskName, figure: string) => number;

/** One row of the table. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly tasks: readonly TaskName[];
  readonly ours: (median: Median) => number;
  /** The same by kube-controller-manager. */
  readonly theirs?: (median: Median) => number;
  /** Ours at most. */
  readonly limit?: number;
  /** Ours divided by theirs at most. */
  readonly ratio?: number;
}

const READY_MS = 300;
const END_MS = 500;
const CHILD_MS = 2000;

const figure =
  (task: TaskName, name: string) =>
  (median: Median): number =>
    median(task, name);

const starts = (task: 'start0' | 'start1' | 'start5', nodes: string): readonly Measurement[] => [
  {
    name: `start, ${nodes}, first lab, from the start of the process`,
    unit: 'ms',
    tasks: [task],
    ours: figure(task, 'readyMs'),
  },
  {
    name: `start, ${nodes}, first lab`,
    unit: 'ms',
    tasks: [task],
    ours: figure(task, 'firstMs'),
    limit: READY_MS,
  },
  { name: `start, ${nodes}, first lab, processor`, unit: 'ms', tasks: [task], ours: figure(task, 'firstCpuMs') },
  {
    name: `start, ${nodes}, later labs`,
    unit: 'ms',
    tasks: [task],
    ours: figure(task, 'laterMs'),
    limit: READY_MS,
  },
  { name: `start, ${nodes}, later labs, processor`, unit: 'ms', tasks: [task], ours: figure(task, 'laterCpuMs') },
  { name: `end, ${nodes}`, unit: 'ms', tasks: [task], ours: figure(task, 'endMs'), limit: END_MS },
];

const NODES = 50;
const perNodeKib =
  (name: string) =>
  (median: Median): number =>
    (median('memory50', name) - median('memory0', name)) / NODES / 1024;

const rollouts = (manager: 'rolloutLimited' | 'rolloutUnlimited', text: string): readonly Measurement[] => {
  const row = (name: string, figureName: string): Measurement => ({
    name: `500 pods, ${name}, beside kube-controller-manager ${text}`,
    unit: 's',
    tasks: ['rollout', manager],
    ours: figure('rollout', figureName),
    theirs: figure(manager, figureName),
    ratio: 1,
  });
  return [
    row('created', 'createSeconds'),
    row('created, processor of all', 'createCpuSeconds'),
    row('changed', 'changeSeconds'),
    row('changed, processor of all', 'changeCpuSeconds'),
  ];
};

/** Rows with the same task share its runs. Limits are those of the specification of the lab (A6, B1) and of its issue. */
export const MEASUREMENTS: readonly Measurement[] = [
  { name: 'loading its modules', unit: 'ms', tasks: ['start0'], ours: figure('start0', 'loadMs') },
  ...starts('start0', 'no nodes'),
  ...starts('start1', '1 node'),
  ...starts('start5', '5 nodes'),
  {
    name: 'start, 1 node, until one child is ready',
    unit: 'ms',
    tasks: ['oneChild'],
    ours: figure('oneChild', 'allMs'),
    limit: CHILD_MS,
  },
  {
    name: 'memory without nodes',
    unit: 'MiB',
    tasks: ['memory0'],
    ours: (median) => median('memory0', 'rssBytes') / 2 ** 20,
  },
  {
    name: 'memory per idle node',
    unit: 'KiB',
    tasks: ['memory0', 'memory50'],
    ours: perNodeKib('rssBytes'),
  },
  { name: 'heap per idle node', unit: 'KiB', tasks: ['memory0', 'memory50'], ours: perNodeKib('heapBytes') },
  { name: '1,000 simulated pods on 20 nodes', unit: 's', tasks: ['pods'], ours: figure('pods', 'seconds') },
  {
    name: '1,000 simulated pods on 20 nodes, processor',
    unit: 's',
    tasks: ['pods'],
    ours: figure('pods', 'cpuSeconds'),
  },
  {
    name: '50 children ready',
    unit: 's',
    tasks: ['children'],
    ours: (median) => median('children', 'podsMs') / 1000,
  },
  { name: 'an idle hour of 20 nodes', unit: 's', tasks: ['hour'], ours: figure('hour', 'seconds') },
  {
    name: 'an idle hour of 20 nodes, processor',
    unit: 's',
    tasks: ['hour'],
    ours: figure('hour', 'cpuSeconds'),
  },
  {
    name: 'writes of that hour besides heartbeats',
    unit: '',
    tasks: ['hour'],
    ours: figure('hour', 'otherWrites'),
    limit: 0,
  },
  { name: 'heartbeats of that hour', unit: '', tasks: ['hour'], ours: figure('hour', 'heartbeats'), limit: 7440 },
  ...rollouts('rolloutLimited', 'as it is delivered'),
  ...rollouts('rolloutUnlimited', 'without limits on its requests'),
];
