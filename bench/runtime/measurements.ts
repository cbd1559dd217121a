import type { ContenderName, Figures, Task } from './contender.ts';

/** One row of the table: what is compared, and with whom. */
export interface Measurement {
  readonly name: string;
  readonly unit: string;
  readonly task: Task;
  readonly figure: (figures: Figures) => number;
  /** Smaller is better. */
  readonly isCost: boolean;
  /** Ours divided by that contender's figure; a cost must stay below, anything else above. */
  readonly targets: Partial<Record<ContenderName, number>>;
  /** Ours alone must stay within (section 18; 120 MB are 114 MiB). */
  readonly limit?: number;
  readonly contenders: readonly ContenderName[];
  /** Writes marks meanwhile, so many per second. */
  readonly marksPerSecond?: number;
  readonly server: 'kubernetes' | 'slipway';
}

export const READ = 'bench-read';
export const READ_OBJECTS = 1000;
export const SMALL = 'bench-10k';
export const LARGE = 'bench-100k';

const ALL: readonly ContenderName[] = ['slipway', 'controller-runtime', 'client-node', 'fluent-client'];
const WITH_GO: readonly ContenderName[] = ['slipway', 'controller-runtime'];

const perSecond = ({ count, seconds }: Figures): number => count / seconds;
const cpuMicros = ({ count, cpuSeconds }: Figures): number => (cpuSeconds / count) * 1e6;
const heapKib = ({ heapBytes = 0, count }: Figures): number => heapBytes / count / 1024;
const mib = (bytes = 0): number => bytes / 2 ** 20;

const onReads = (clients: number): Task => ({
  name: 'requests',
  namespace: READ,
  count: READ_OBJECTS,
  clients,
  seconds: 3,
});

const requests = (clients: number): readonly Measurement[] => [
  {
    name: `get, ${clients} at once`,
    unit: '/s',
    task: onReads(clients),
    figure: perSecond,
    isCost: false,
    targets: { 'client-node': 3, 'fluent-client': 3 },
    contenders: ALL,
    server: 'kubernetes',
  },
  {
    name: `processor time per get, ${clients} at once`,
    unit: 'µs',
    task: onReads(clients),
    figure: cpuMicros,
    isCost: true,
    targets: { 'client-node': 1 },
    contenders: ALL,
    server: 'kubernetes',
  },
];

const sync = (namespace: string, count: number): readonly Measurement[] => {
  const task: Task = { name: 'sync', namespace, count };
  const objects = count.toLocaleString('en');
  const shared = { task, isCost: true, contenders: ALL, server: 'kubernetes' } as const;
  return [
    {
      ...shared,
      name: `sync of ${objects} objects`,
      unit: 's',
      figure: ({ seconds }) => seconds,
      targets: { 'controller-runtime': 1.5 },
      ...(count > 10_000 && { limit: 6 }),
    },
    {
      ...shared,
      name: `heap per object at ${objects}`,
      unit: 'KiB',
      figure: heapKib,
      targets: { 'client-node': 1 },
    },
  ];
};

const latency = (server: Measurement['server'], marksPerSecond: number): readonly Measurement[] => {
  const shared = {
    unit: 'ms',
    task: { name: 'latency', namespace: READ, count: READ_OBJECTS, seconds: 5 },
    isCost: true,
    targets: { 'controller-runtime': 1.5 },
    contenders: ALL,
    marksPerSecond,
    server,
  } as const;
  const load = `at ${marksPerSecond.toLocaleString('en')} events/s (${server})`;
  return [
    { ...shared, name: `write to reconcile ${load}, p50`, figure: ({ fromWrite }) => fromWrite?.p50Ms ?? 0 },
    { ...shared, name: `write to reconcile ${load}, p99`, figure: ({ fromWrite }) => fromWrite?.p99Ms ?? 0 },
    {
      ...shared,
      name: `event to reconcile ${load}, p99`,
      figure: ({ fromAnswer }) => fromAnswer?.p99Ms ?? 0,
      ...(server === 'slipway' && { limit: 20 }),
    },
  ];
};

/** Rows with the same task and server share their runs. */
export const MEASUREMENTS: readonly Measurement[] = [
  ...requests(1),
  ...requests(16),
  ...sync(SMALL, 10_000),
  ...sync(LARGE, 100_000),
  ...latency('kubernetes', 400),
  ...latency('slipway', 2000),
  {
    name: 'reconciles without work',
    unit: '/s',
    task: { name: 'noop', namespace: READ, count: 100_000 },
    figure: perSecond,
    isCost: false,
    targets: {},
    limit: 10_000,
    contenders: WITH_GO,
    server: 'slipway',
  },
  {
    name: '20 idle informers, processor',
    unit: '%',
    task: { name: 'idle', namespace: READ, count: 20, seconds: 15 },
    figure: ({ cpuSeconds, seconds }) => (cpuSeconds / seconds) * 100,
    isCost: true,
    targets: {},
    limit: 1,
    contenders: WITH_GO,
    server: 'slipway',
  },
  {
    name: '20 idle informers, memory',
    unit: 'MiB',
    task: { name: 'idle', namespace: READ, count: 20, seconds: 15 },
    figure: ({ rssBytes }) => mib(rssBytes),
    isCost: true,
    targets: {},
    limit: 114,
    contenders: WITH_GO,
    server: 'slipway',
  },
];
