import { resolve } from 'node:path';
import { type Address, WHOLE_JOURNEY } from '../../api/journey.ts';
import type { Component } from '../components.ts';
import { usageError } from '../failures.ts';
import { suggestion } from '../nearest.ts';
import { requirePort } from '../port.ts';
import { releaseVersion } from '../release.ts';
import { type SettingValues, shown } from '../settings.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import { UP_SETTINGS } from '../verbs/up.ts';
import { parseBootstrap } from './bootstrap.ts';
import type { JourneyListener } from './event-stream.ts';
import { pastRun, typicalTimes } from './history.ts';
import { appendRun, readHistory } from './history-file.ts';
import { Journey } from './journey.ts';
import { JourneyLog, logFile } from './journey-log.ts';
import { PHASE_IDS, type Phase, type PhaseId } from './phase.ts';
import { shellWord, shownPath } from './plain-text.ts';
import { journeyPlan, phasesLeftOut } from './plan.ts';
import { acquireRunLock, type RunLock } from './run-lock.ts';
import { failedPhases } from './state.ts';

type UpSettings = SettingValues<typeof UP_SETTINGS>;

/** Runs the phases of `components` and shows them; everything it started is stopped when it returns. */
export async function runUp(
  components: readonly Component[],
  context: VerbContext,
  settings: UpSettings,
): Promise<ExitCode> {
  const phases = components.flatMap((component) => component.phases);
  const from = phaseNamed(settings.from, phases);
  if (settings.port !== undefined) await requirePort(settings.port);
  const data = resolve(context.folder, settings.data);
  using lock = acquireRunLock({ folder: context.folder, data, now: () => context.clock.now() });
  using log = new JourneyLog(data, (sentence) => journey.warn(sentence));
  const journey: Journey = new Journey({
    plan: planOf(phases, context, settings),
    phases,
    leftOut: phasesLeftOut(phases, from),
    from,
    clock: context.clock,
    folder: context.folder,
    data,
    port: settings.port,
    continueCommand: (phase) => continueCommand(phase, settings),
    recordError: (subject, thrown) => log.recordError(subject, thrown),
  });
  journey.subscribe(log.listener);
  journey.subscribe(bookkeeping(journey, lock, data));
  using _shown = context.output.show(journey);
  const { wasInterrupted, stillRunning } = await journey.run(context.signal);
  const hasFailed = settings.once && failedPhases(journey.state).length > 0;
  if (wasInterrupted) return 130;
  return hasFailed || stillRunning.length > 0 ? 1 : 0;
}

function planOf(phases: readonly Phase[], { env, folder }: VerbContext, settings: UpSettings) {
  const ids = phases.map(({ id }) => id);
  const data = resolve(folder, settings.data);
  return journeyPlan(phases, {
    version: releaseVersion(),
    bootstrap: parseBootstrap(env['SLIPWAY_BOOTSTRAP'], process.versions.node),
    typical: typicalTimes(readHistory(data), ids),
    isOnce: settings.once,
    log: shownPath(folder, logFile(data)),
  });
}

/** The same command again, from the phase on. */
function continueCommand(phase: PhaseId, { once, data, port, provider, scenario }: UpSettings): string {
  const flags = [
    `--from ${phase}`,
    once ? '--once' : '',
    data === UP_SETTINGS.data.default ? '' : `--data ${shellWord(data)}`,
    port === undefined ? '' : `--port ${port}`,
    provider === undefined ? '' : `--provider ${shellWord(provider)}`,
    scenario === undefined ? '' : `--scenario ${shellWord(scenario)}`,
  ];
  return ['npx slipway up', ...flags.filter((flag) => flag !== '')].join(' ');
}

/** By its name, or by the title that the journey shows for now. */
function phaseNamed(name: string | undefined, phases: readonly Phase[]): PhaseId | undefined {
  if (name === undefined) return undefined;
  const shownAs = phases.find(({ provisional }) => provisional?.title === name);
  const id = PHASE_IDS.find((candidate) => candidate === name) ?? shownAs?.id;
  if (id !== undefined) return id;
  const hint = suggestion(name, PHASE_IDS) || `. The phases are ${PHASE_IDS.join(', ')}`;
  throw usageError(`--from must name a phase, not "${shown(name)}"${hint}`);
}

/** What is remembered of a journey: the address for a second start, the times for the next run. */
function bookkeeping(journey: Journey, lock: RunLock, data: string): JourneyListener {
  let isRecorded = false;
  const warn = (problem: string | undefined) => {
    if (problem !== undefined) journey.warn(problem);
  };
  return ({ phase, kind, addresses = [] }, after) => {
    const page = addresses.find(isPage);
    warn(page === undefined ? undefined : lock.announce(page.value));
    // Later ends are those of repetitions, which ran only what had failed.
    if (phase !== WHOLE_JOURNEY || kind !== 'end' || isRecorded) return;
    isRecorded = true;
    const run = pastRun(after);
    warn(run === undefined ? undefined : appendRun(data, run));
  };
}

const isPage = ({ value }: Address): boolean => /^https?:/.test(value);
