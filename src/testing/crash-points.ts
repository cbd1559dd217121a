import { CRASH_FAULTS, type CrashFault, isPossible } from './crash-faults.ts';
import { CrashRun, type CrashTarget } from './crash-run.ts';
import type { CrashScenario } from './crash-scenario.ts';
import { type World, worldDifferences } from './world.ts';

export interface CrashPointOptions {
  /** All unless told otherwise. */
  readonly faults?: readonly CrashFault[];
  /** Only some of the points: for a quick look, or to repeat a failure. */
  readonly points?: (point: string) => boolean;
  /** The first failure is enough. */
  readonly stopsAtFailure?: boolean;
  /** Same seed, same runs. */
  readonly seed?: number;
  /** Told of each run when it is over. */
  readonly onRun?: (line: string) => void;
}

export interface CrashFailure {
  readonly point: string;
  readonly fault: CrashFault;
  readonly problems: readonly string[];
}

/** `tried` runs: one for each write of the scenario and each fault that can strike it. */
export interface CrashReport {
  readonly scenario: string;
  /** Each write that the scenario makes when nothing goes wrong: `verb|resource|object|ordinal`. */
  readonly points: readonly string[];
  readonly faults: readonly CrashFault[];
  readonly tried: number;
  readonly failures: readonly CrashFailure[];
}

/**
 * Runs a scenario once undisturbed, then again for each of its writes and each fault, and compares how the worlds end
 * (reliability T1). A controller that passes may be killed anywhere. Rejects at once when the undisturbed run fails, with
 * its cause, and when the scenario writes nothing: a check of nothing proves nothing.
 */
export async function enumerateCrashPoints(
  scenario: CrashScenario,
  options: CrashPointOptions = {},
): Promise<CrashReport> {
  const { faults = CRASH_FAULTS, points: isWanted = () => true, seed = 1 } = options;
  const { name } = scenario;
  const baseline = await runOnce(scenario, seed);
  const causes = [...baseline.problems, ...baseline.failed];
  if (causes.length > 0) throw new Error(`scenario ${name} fails undisturbed: ${causes.join('; ')}`);
  const points = baseline.points.filter(isWanted);
  if (points.length === 0) throw new Error(`scenario ${name} makes no writes`);
  const targets = points.flatMap((point) => targetsAt(scenario, point, faults));
  const failures: CrashFailure[] = [];
  let tried = 0;
  for (const target of targets) {
    const problems = await problemsAt(scenario, { target, baseline, seed });
    tried++;
    if (problems.length > 0) failures.push({ ...target, problems });
    options.onRun?.(lineOf(name, target, problems));
    if (options.stopsAtFailure === true && failures.length > 0) break;
  }
  return { scenario: name, points, faults, tried, failures };
}

const targetsAt = (
  { outsideErrors = {} }: CrashScenario,
  point: string,
  faults: readonly CrashFault[],
): readonly CrashTarget[] =>
  faults
    .filter((fault) => isPossible(fault, point, outsideErrors[fault] !== undefined))
    .map((fault) => ({ point, fault }));

interface Attempt {
  readonly target: CrashTarget;
  readonly baseline: Outcome;
  readonly seed: number;
}

async function problemsAt(
  scenario: CrashScenario,
  { target, baseline, seed }: Attempt,
): Promise<readonly string[]> {
  const run = await runOnce(scenario, seed, target);
  return [...run.problems, ...differences(baseline, run)];
}

const lineOf = (name: string, { fault, point }: CrashTarget, problems: readonly string[]): string =>
  `${name}: ${fault} at ${point}: ${problems.length === 0 ? 'same world' : problems.join('; ')}`;

interface Outcome {
  readonly points: readonly string[];
  readonly warnings: number;
  readonly world: World;
  readonly inventory: string;
  readonly problems: readonly string[];
  readonly failed: readonly string[];
}

async function runOnce(scenario: CrashScenario, seed: number, target?: CrashTarget): Promise<Outcome> {
  await using run = await CrashRun.start(scenario, seed, target);
  const problems = await run.play();
  return {
    points: run.points,
    warnings: await run.warnings(),
    world: run.world(),
    inventory: run.inventory(),
    problems,
    failed: run.failed(),
  };
}

/** More than these say that somebody runs in circles. */
const MOST_WARNINGS_MORE = 3;
const mostWrites = (baseline: number): number => 2 * baseline + 10;

function differences(baseline: Outcome, run: Outcome): readonly string[] {
  const [few, many] = [baseline.points.length, run.points.length];
  return [
    ...worldDifferences(baseline.world, run.world),
    ...(run.inventory === baseline.inventory
      ? []
      : [`outside the cluster there is ${run.inventory}, not ${baseline.inventory}`]),
    ...(many > mostWrites(few) ? [`${many} writes, where ${few} are enough undisturbed`] : []),
    ...(run.warnings > baseline.warnings + MOST_WARNINGS_MORE
      ? [`${run.warnings} warnings, where there are ${baseline.warnings} undisturbed`]
      : []),
  ];
}
