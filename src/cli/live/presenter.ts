import { WHOLE_JOURNEY } from '../../api/journey.ts';
import type { Environment } from '../../app/config.ts';
import type { ClusterBoard } from '../../app/describe/board.ts';
import type { JourneyListener } from '../../app/journey/event-stream.ts';
import type { Journey } from '../../app/journey/journey.ts';
import { logLines, timeOfDay } from '../../app/journey/log-lines.ts';
import { printable } from '../../app/journey/plain-text.ts';
import type { JourneyState } from '../../app/journey/state.ts';
import type { Clock } from '../../base/clock.ts';
import { humanDuration } from '../../base/duration.ts';
import { accessibleLines } from './accessible-lines.ts';
import { showCluster } from './cluster-screen.ts';
import { ACCESSIBLE_BEATS, Heartbeat, LOG_BEATS } from './heartbeat.ts';
import { jsonLine } from './json-lines.ts';
import { type Look, lookFor, painted } from './line.ts';
import { LiveScreen } from './live-screen.ts';
import { chooseMode, doesReflow, hasColour, isAscii, type LookSettings, type Mode } from './mode.ts';
import { summaryLines } from './summary.ts';
import { ASCII, UNICODE } from './symbols.ts';
import type { Terminal } from './terminal.ts';
import { inWorkflowGroup } from './workflow-commands.ts';

export { processTerminal } from './terminal.ts';

export interface PresenterOptions {
  readonly settings: LookSettings;
  readonly env: Environment;
  readonly clock: Clock;
  readonly terminal: Terminal;
}

/** Shows a journey or a cluster in the way the user, the environment and the terminal ask for (`Output.show`). */
export const createPresenter =
  (options: PresenterOptions) =>
  (subject: Journey | ClusterBoard): Disposable =>
    'publish' in subject ? showCluster(subject, options) : shown(subject, options);

function shown(journey: Journey, options: PresenterOptions): Disposable {
  const { settings, env, clock, terminal } = options;
  const mode = chooseMode(settings, env, terminal.isTTY);
  const glyphs = isAscii(settings, env) ? ASCII : UNICODE;
  const isColoured = hasColour(mode, settings, env);
  if (mode !== 'live') return appended(journey, mode, options);
  const screen = new LiveScreen({ journey, terminal, clock, glyphs, isColoured, doesReflow: doesReflow(env) });
  screen.start();
  return screen;
}

/** Modes that only ever add lines. */
function appended(journey: Journey, mode: Exclude<Mode, 'live'>, options: PresenterOptions): Disposable {
  const { clock, terminal } = options;
  const lines = lineRenderer(mode, options);
  const write = (texts: readonly string[]) => {
    if (texts.length > 0) terminal.write(`${texts.join('\n')}\n`);
  };
  const schedule = mode === 'accessible' ? ACCESSIBLE_BEATS : LOG_BEATS;
  const heartbeat = new Heartbeat(clock, schedule, (quietMs) =>
    write(quietLines(journey.state, mode, quietMs, clock)),
  );
  const subscription = journey.subscribe((event, after, before) => {
    const texts = lines(event, after, before);
    write(texts);
    if (!after.phases.some(({ health }) => health === 'working')) heartbeat.stop();
    else if (texts.length > 0) heartbeat.restart();
  });
  return {
    [Symbol.dispose]: () => {
      subscription[Symbol.dispose]();
      heartbeat.stop();
    },
  };
}

type LineRenderer = (...heard: Parameters<JourneyListener>) => readonly string[];

/** Where there is no terminal nobody knows how wide the reader's window is. */
const USUAL_COLUMNS = 100;

function lineRenderer(mode: Exclude<Mode, 'live'>, { settings, env, terminal }: PresenterOptions): LineRenderer {
  switch (mode) {
    case 'json':
      return (event) => [jsonLine(event)];
    case 'accessible':
      return accessibleLines;
    case 'log': {
      const look = lookFor(terminal.columns() ?? USUAL_COLUMNS, isAscii(settings, env) ? ASCII : UNICODE);
      const isWorkflow = env['GITHUB_ACTIONS'] === 'true';
      return logRenderer(look, hasColour(mode, settings, env), isWorkflow);
    }
  }
}

/** Log lines, and the same summary as on a terminal. */
export function logRenderer(look: Look, isColoured: boolean, isWorkflow: boolean): LineRenderer {
  return (event, after, before) => {
    const lines = logLines(event, after, before).map(look.glyphs.text);
    const isEnd = event.phase === WHOLE_JOURNEY && event.kind === 'end';
    const summary = isEnd ? summaryLines(after, look).map((line) => painted(line, isColoured)) : [];
    return [...(isWorkflow ? inWorkflowGroup(lines, event, after) : lines), ...summary];
  };
}

/** The sign of life after a long silence: what is waited for, and for how long. */
function quietLines(state: JourneyState, mode: Mode, quietMs: number, clock: Clock): readonly string[] {
  const phase = state.phases.find(({ health }) => health === 'working');
  if (phase === undefined || mode === 'json') return [];
  const what = printable(phase.waitingFor ?? `${phase.title} to end`);
  if (mode === 'accessible') return [`Still waiting for ${what}, ${humanDuration(quietMs)}.`];
  const subject = `phase ${phase.number} ${phase.title}`;
  return [
    `${timeOfDay(clock.now().toISOString())} ${subject}: still waiting: ${what} (${humanDuration(quietMs)})`,
  ];
}
