import { type Failure, type JourneyEvent, WHOLE_JOURNEY } from '../../api/journey.ts';
import { humanDuration } from '../../base/duration.ts';
import { printable } from './plain-text.ts';
import { hasPassedStep, rowNews } from './rows.ts';
import type { JourneyState, PhaseState } from './state.ts';

/** `09:14:02.113Z` of an RFC 3339 time in UTC. */
export const timeOfDay = (ts: string): string => ts.slice(ts.indexOf('T') + 1);

/** The event as lines for a file or a build log (experience X4, 4.3): no line when nothing worth reading changed. */
export function logLines(event: JourneyEvent, after: JourneyState, before: JourneyState): readonly string[] {
  const phase = after.phases.find(({ id }) => id === event.phase);
  const subject = phase === undefined ? event.phase : `phase ${phase.number} ${phase.title}`;
  const texts = phase === undefined ? journeyTexts(event) : phaseTexts(event, phase, before);
  return texts.map((text) => `${timeOfDay(event.ts)} ${subject}: ${printable(text)}`);
}

function journeyTexts({ phase, kind, detail, plan }: JourneyEvent): readonly string[] {
  if (phase !== WHOLE_JOURNEY) return [detail];
  if (kind === 'start' && plan !== undefined) {
    return [`start, slipway ${plan.version}, node ${plan.node.using}, ${plan.phases.length} phases`];
  }
  return kind === 'warn' ? [`attention: ${detail}`] : [detail];
}

function phaseTexts(event: JourneyEvent, phase: PhaseState, before: JourneyState): readonly string[] {
  switch (event.kind) {
    case 'start':
      return ['start'];
    case 'progress':
      return progressTexts(event, phase, before);
    case 'warn':
      return [`attention: ${event.detail}`];
    case 'error':
      return [`failed: ${event.detail}`, ...failureTexts(event.failure)];
    case 'end':
      return [endText(phase), ...failureTexts(event.failure)];
  }
}

function progressTexts(event: JourneyEvent, phase: PhaseState, before: JourneyState): readonly string[] {
  const old = before.phases.find(({ id }) => id === phase.id);
  if (event.row !== undefined) return rowTexts(event.row.path, phase, old);
  if (event.removedRow !== undefined) return [event.detail];
  // What it waits for is told when it takes long (`still waiting`), not whenever a counter in it moves.
  if (event.waitingFor !== undefined) return [];
  const isNews = old?.detail !== phase.detail || hasPassedStep(old?.percent, phase.percent);
  return isNews ? [`${phase.detail}${percentText(phase.percent)}`] : [];
}

function rowTexts(path: readonly string[], phase: PhaseState, old: PhaseState | undefined): readonly string[] {
  const now = rowNews(path, phase.rows, old?.rows ?? []);
  if (now === undefined) return [];
  const note = now.note === undefined ? '' : `, ${now.note}`;
  const simulated = now.simulated === true ? ', simulated' : '';
  return [`${path.join(' ')}: ${now.word}${percentText(now.percent)}${note}${simulated}`];
}

const percentText = (percent: number | undefined): string =>
  percent === undefined ? '' : ` (${Math.round(percent)} %)`;

function endText({ health, detail, durationMs }: PhaseState): string {
  if (health === 'skipped') return `skipped (${detail})`;
  const time = durationMs === undefined ? '' : ` in ${humanDuration(durationMs)}`;
  return `${health}${time}${detail === '' ? '' : ` (${detail})`}`;
}

function failureTexts(failure: Failure | undefined): readonly string[] {
  if (failure === undefined) return [];
  return [
    `what: ${failure.what}`,
    `cause: ${failure.cause}`,
    ...failure.look.map((place) => `look: ${place}`),
    ...failure.next.map((command) => `next: ${command}`),
    `code: ${failure.code}, explained by: npx slipway explain ${failure.code}`,
  ];
}
