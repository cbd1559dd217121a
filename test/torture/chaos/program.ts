// One run, one line of JSON: `node --expose-gc test/torture/chaos/program.ts '{"seconds":600}'`.
import { scratchDirectory } from '../../support/scratch.ts';
import { type ChaosOptions, ChaosRun } from './chaos-run.ts';
import { FAULT_KINDS } from './storm.ts';
import { growth, heapSlope, LoopDelay, mib } from './vitals.ts';

/** Below so many seconds a run is too short for every kind of fault, and for that many objects. */
const LONG_SECONDS = 60;
/** Per virtual second, informer and controller (reliability T2.1); four informers, three controllers. */
const MOST_ATTEMPTS = 5 * 7;

const given: Partial<ChaosOptions> = JSON.parse(process.argv[2] ?? '{}');
const { seconds = 12 } = given;
const isLong = seconds >= LONG_SECONDS;
const defaults = {
  seconds,
  rounds: Math.max(1, Math.round(seconds / (isLong ? 20 : 6))),
  objects: isLong ? 5_000 : 600,
  speed: 20,
  patienceMs: 60_000,
  providerFailures: 0.05,
  seed: 4711,
};

const complaints: string[] = [];
process.on('unhandledRejection', (reason) => void complaints.push(`unhandled rejection: ${String(reason)}`));
process.on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') complaints.push(`${name}: ${message}`);
});

const startMs = performance.now();
await using directory = await scratchDirectory();
const options: ChaosOptions = { ...defaults, ...given, directory: directory.path };
using delay = new LoopDelay().start();
await using run = await ChaosRun.start(options);
await run.play();

const { samples, storm, overseer } = run;
// The first rounds fill what is bounded: pools, caches of code, metrics.
const settled = samples.slice(Math.min(1, samples.length - 2));
const struck = Object.fromEntries([...run.faults.struck].toSorted(([a], [b]) => (a < b ? -1 : 1)));
const missing = isLong
  ? FAULT_KINDS.filter((kind) => !Object.hasOwn(struck, kind) && options.without?.includes(kind) !== true)
  : [];
const outageRate = Math.max(0, ...storm.outageRates) / options.speed;
const problems = [
  ...run.problems,
  ...complaints,
  ...growth(settled),
  ...missing.map((kind) => `no ${kind} struck`),
  ...(outageRate > MOST_ATTEMPTS ? [`${outageRate} attempts per second without a server`] : []),
  // No watch can see that two events were swapped: the comparison has to find it (reliability T2), and nothing else.
  ...(run.divergences > 0 && !Object.hasOwn(struck, 'reorder')
    ? [`the cache diverged ${run.divergences} times`]
    : []),
];
const report = {
  programme: 'runtime-chaos',
  seed: options.seed,
  tried: options.rounds,
  survived: problems.length === 0 ? options.rounds : 0,
  problems,
  mutant: options.mutant,
  durationMs: Math.round(performance.now() - startMs),
  objects: run.objects,
  acts: run.acts,
  reconciles: overseer.reconciles,
  requests: run.attempts,
  faults: struck,
  blows: storm.blows,
  restarts: run.restarts,
  relists: run.relists,
  divergences: run.divergences,
  convergeMs: run.convergeMs,
  outageRatePerVirtualSecond: Math.round(outageRate * 10) / 10,
  heapMib: samples.map(({ heapBytes }) => mib(heapBytes)),
  heapSlopeKibPerMinute: Math.round(heapSlope(settled) / 1024),
  descriptors: samples.map(({ descriptors }) => descriptors),
  connections: samples.map(({ connections }) => connections),
  timers: samples.map(({ timers }) => timers),
  loopDelayP99Ms: delay.p99Ms,
  repetitions: run.provider.repetitions,
  logged: Object.fromEntries([...run.logged].toSorted(([, a], [, b]) => b - a).slice(0, 12)),
  worst: { metric: 'convergeMs', value: Math.max(0, ...run.convergeMs) },
};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
