import { type Failure, type JourneyEvent, type Row, WHOLE_JOURNEY } from '../../api/journey.ts';
import { printable } from '../../app/journey/plain-text.ts';
import { rowAt } from '../../app/journey/rows.ts';
import type { JourneyState, PhaseState } from '../../app/journey/state.ts';
import { humanDuration } from '../../base/duration.ts';
import { nodeText } from './header.ts';
import { addressesOf, triesOf } from './summary.ts';
import { HEALTH_WORDS } from './symbols.ts';

const PERCENT_STEP = 25;

/** The event as sentences for a screen reader (experience X5): no symbols, no tables, nothing drawn twice. */
export function accessibleLines(
  event: JourneyEvent,
  after: JourneyState,
  before: JourneyState,
): readonly string[] {
  const phase = after.phases.find(({ id }) => id === event.phase);
  const texts = phase === undefined ? journeyTexts(event, after) : phaseTexts(event, phase, before, after);
  return texts.map(spoken);
}

/** Signs that a screen reader spells out or swallows, as words. */
const spoken = (text: string): string =>
  printable(text)
    .replaceAll(' · ', ', ')
    .replace(/ ?→ ?/g, ' to ')
    .replaceAll('…', '')
    .replace(/~(?=[\s,.]|$)/g, ', simulated');

function journeyTexts(event: JourneyEvent, after: JourneyState): readonly string[] {
  if (event.phase !== WHOLE_JOURNEY) return [event.detail];
  switch (event.kind) {
    case 'start':
      return event.plan === undefined
        ? []
        : [
            `Slipway ${event.plan.version}: the journey of a new provider. Running on ${nodeText(event.plan.node)}.`,
          ];
    case 'end':
      return [`Journey: ${event.detail}.`, ...summaryTexts(after)];
    case 'progress':
      return [`Journey: ${event.detail}.`];
    case 'warn':
      return [`Attention: ${event.detail}.`];
    case 'error':
      return [`Journey ${event.detail}.`];
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
      return progressTexts(event, phase, before).map((text) => `${label}, ${text}.`);
    case 'warn':
    case 'error':
      return [`${label}: attention. ${event.detail}.`];
    case 'end':
      return [`${label}: ${resultText(phase)}`, ...failureTexts(event.failure)];
  }
}

function progressTexts(event: JourneyEvent, phase: PhaseState, before: JourneyState): readonly string[] {
  const old = before.phases.find(({ id }) => id === phase.id);
  if (event.row !== undefined) {
    const [now, was] = [rowAt(phase.rows, event.row.path)?.row, rowAt(old?.rows ?? [], event.row.path)?.row];
    return now === undefined || !isNews(was, now) ? [] : [`${event.row.path.join(' ')}: ${rowText(now)}`];
  }
  if (event.waitingFor !== undefined || old?.detail === phase.detail) return [];
  return [`${phase.detail}${percentText(phase.percent)}`];
}

const isNews = (was: Row | undefined, now: Row): boolean =>
  was?.word !== now.word ||
  was.health !== now.health ||
  Math.floor((now.percent ?? 0) / PERCENT_STEP) > Math.floor((was.percent ?? 0) / PERCENT_STEP);

const rowText = ({ word, percent, note, simulated }: Row): string =>
  `${word}${percentText(percent)}${note === undefined ? '' : `, ${note}`}${simulated === true ? ', simulated' : ''}`;

const percentText = (percent: number | undefined): string =>
  percent === undefined ? '' : `, ${Math.round(percent)} percent`;

function resultText({ health, detail, durationMs }: PhaseState): string {
  if (health === 'skipped') return `skipped, ${detail}.`;
  const time = durationMs === undefined ? '' : ` in ${humanDuration(durationMs)}`;
  return `${HEALTH_WORDS[health]}${time}.${detail === '' ? '' : ` ${detail}.`}`;
}

const failureTexts = (failure: Failure | undefined): readonly string[] =>
  failure === undefined
    ? []
    : [
        `Failed: ${failure.what}`,
        `Cause: ${failure.cause}`,
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
      ({ label, value, note }) => `Address of ${label}: ${value}${note === undefined ? '' : ` (${note})`}`,
    ),
    ...triesOf(state).map(({ text }, at) => `To try, ${at + 1}: ${text}`),
  ];
}
