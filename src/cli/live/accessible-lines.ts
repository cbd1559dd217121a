import { type Failure, type JourneyEvent, type ProgressRow, WHOLE_JOURNEY } from '../../api/journey.ts';
import { printable } from '../../app/journey/plain-text.ts';
import { rowNews } from '../../app/journey/rows.ts';
import type { JourneyState, PhaseState } from '../../app/journey/state.ts';
import { humanDuration } from '../../base/duration.ts';
import { nodeText } from './header.ts';
import { addressesOf, triesOf } from './summary.ts';
import { HEALTH_WORDS } from './symbols.ts';

/** The event as sentences for a screen reader (experience X5): no symbols, no tables, nothing drawn twice. */
export function accessibleLines(
  event: JourneyEvent,
  after: JourneyState,
  before: JourneyState,
): readonly string[] {
  const phase = after.phases.find(({ id }) => id === event.phase);
  const texts = phase === undefined ? journeyTexts(event, after) : phaseTexts(event, phase, before, after);
  return texts.map(printable);
}

/** Signs that a screen reader spells out or swallows, as words. For prose only: a command or a path must stay what it is. */
const spoken = (text: string): string =>
  text
    .replaceAll(' · ', ', ')
    .replace(/ ?→ ?/g, ' to ')
    .replaceAll('…', '')
    .replace(/~(?=[\s,.]|$)/g, ', simulated');

function journeyTexts(event: JourneyEvent, after: JourneyState): readonly string[] {
  const detail = spoken(event.detail);
  if (event.phase !== WHOLE_JOURNEY) return [detail];
  switch (event.kind) {
    case 'start':
      return event.plan === undefined
        ? []
        : [
            `Slipway ${event.plan.version}: the journey of a new provider. Running on ${nodeText(event.plan.node)}.`,
          ];
    case 'end':
      return [`Journey: ${detail}.`, ...summaryTexts(after)];
    case 'progress':
      return [`Journey: ${detail}.`];
    case 'warn':
      return [`Attention: ${detail}.`];
    case 'error':
      return [`Journey ${detail}.`];
  }
}

function phaseTexts(
  event: JourneyEvent,
  phase: PhaseState,
  before: JourneyState,
  after: JourneyState,
): readonly string[] {
  const label = `Phase ${phase.number} of ${after.phases.length}, ${phase.title}`;
  switch (event.kind) {
    case 'start':
      return [`${label}: started.`];
    case 'progress':
      return progressTexts(event, phase, before).map((text) => `${label}, ${spoken(text)}.`);
    case 'warn':
      return [`${label}: attention. ${spoken(event.detail)}.`];
    case 'error':
      return [`${label}: failed. ${spoken(event.detail)}.`, ...failureTexts(event.failure)];
    case 'end':
      return [`${label}: ${resultText(phase)}`, ...failureTexts(event.failure)];
  }
}

function progressTexts(event: JourneyEvent, phase: PhaseState, before: JourneyState): readonly string[] {
  const old = before.phases.find(({ id }) => id === phase.id);
  if (event.row !== undefined) {
    const news = rowNews(event.row.path, phase.rows, old?.rows ?? []);
    return news === undefined ? [] : [`${event.row.path.join(' ')}: ${rowText(news)}`];
  }
  if (event.removedRow !== undefined) return [event.detail];
  if (event.waitingFor !== undefined || old?.detail === phase.detail) return [];
  return [`${phase.detail}${percentText(phase.percent)}`];
}

const rowText = ({ word, percent, note, simulated }: ProgressRow): string =>
  `${word}${percentText(percent)}${note === undefined ? '' : `, ${note}`}${simulated === true ? ', simulated' : ''}`;

const percentText = (percent: number | undefined): string =>
  percent === undefined ? '' : `, ${Math.round(percent)} percent`;

function resultText({ health, detail, durationMs }: PhaseState): string {
  if (health === 'skipped') return `skipped, ${spoken(detail)}.`;
  const time = durationMs === undefined ? '' : ` in ${humanDuration(durationMs)}`;
  return `${HEALTH_WORDS[health]}${time}.${detail === '' ? '' : ` ${spoken(detail)}.`}`;
}

const failureTexts = (failure: Failure | undefined): readonly string[] =>
  failure === undefined
    ? []
    : [
        `Failed: ${spoken(failure.what)}`,
        `Cause: ${spoken(failure.cause)}`,
        ...failure.look.map((place) => `Look at: ${place}`),
        ...failure.next.map((command) => `Next: ${command}`),
        `Code: ${failure.code}. To have it explained: npx slipway explain ${failure.code}`,
      ];

function summaryTexts(state: JourneyState): readonly string[] {
  const typical =
    state.plan?.typicalMs === undefined ? [] : [`Typical here: ${humanDuration(state.plan.typicalMs)}`];
  const isEmpty = state.phases.every(({ isRegistered }) => !isRegistered);
  const commands = isEmpty ? (state.plan?.commands ?? []) : [];
  return [
    ...typical,
    ...commands.map(({ command, does }) => `Works today: ${command} ${does}`),
    ...state.phases.map(
      (phase) =>
        `Result of phase ${phase.number}, ${phase.title}: ${resultText(phase)}${isEmpty ? ` ${phase.promise}` : ''}`,
    ),
    ...addressesOf(state).map(
      ({ label, value, note }) => `Address of ${label}: ${value}${note === undefined ? '' : ` (${spoken(note)})`}`,
    ),
    ...(state.plan === undefined ? [] : [`Log: ${state.plan.log}`]),
    ...triesOf(state).map(
      ({ kind, text }, at) => `To try, ${at + 1}: ${kind === 'command' ? text : spoken(text)}`,
    ),
  ];
}
