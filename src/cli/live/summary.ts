import type { Address, Health, JourneyPlan, Suggestion } from '../../api/journey.ts';
import { printable } from '../../app/journey/plain-text.ts';
import { leaves } from '../../app/journey/rows.ts';
import {
  failedPhases,
  hasNothingRegistered,
  type JourneyState,
  type PhaseState,
} from '../../app/journey/state.ts';
import { humanDuration } from '../../base/duration.ts';
import { EMPTY_LINE, type Line, type Look, lineWidth, span, spread, symbol } from './line.ts';
import { HEALTH_TONES, HEALTH_WORDS } from './symbols.ts';
import { padEnd, padStart, textWidth, wrap, wrapCommand } from './text-width.ts';

/** What is printed when the last phase has ended, however it ended (experience 4.1, X30). */
export function summaryLines(state: JourneyState, look: Look): readonly Line[] {
  if (hasNothingRegistered(state) && state.plan !== undefined) return emptyJourneyLines(state, state.plan, look);
  const simulated = leaves(state.phases.flatMap(({ rows }) => rows)).some(({ row }) => row?.simulated === true);
  return [
    EMPTY_LINE,
    ...verdictLines(state, look),
    EMPTY_LINE,
    ...tableLines(state.phases, look),
    ...(simulated ? [[span(`  ${look.glyphs.simulated.trim()} simulated on this machine`, 'quiet')]] : []),
    ...section([...addressesOf(state), ...logAddress(state)].flatMap((address) => addressLines(address, look))),
    ...section(tryLines(triesOf(state), look)),
    EMPTY_LINE,
  ];
}

const section = (lines: readonly Line[]): readonly Line[] => (lines.length === 0 ? [] : [EMPTY_LINE, ...lines]);

/** Nothing from a phase that did not work: its advice would fail too (experience X29). */
const worked = ({ phases }: JourneyState): readonly PhaseState[] =>
  phases.filter(({ health }) => health === 'done' || health === 'attention');

/** With `--once` everything is stopped by the time anybody reads this, so only what lasts is of use. */
const isOffered =
  ({ plan }: JourneyState) =>
  ({ isLasting }: Address | Suggestion): boolean =>
    plan?.isOnce !== true || isLasting === true;

export const addressesOf = (state: JourneyState): readonly Address[] =>
  worked(state)
    .flatMap(({ addresses }) => addresses)
    .filter(isOffered(state));

const logAddress = ({ plan }: JourneyState): readonly Address[] =>
  plan === undefined ? [] : [{ label: 'log', value: plan.log }];

const MOST_TRIES = 3;

/** The newest phases first: what they offer builds on all before. */
export const triesOf = (state: JourneyState): readonly Suggestion[] =>
  worked(state)
    .toReversed()
    .flatMap(({ tries }) => tries)
    .filter(isOffered(state))
    .slice(0, MOST_TRIES);

function verdictLines(state: JourneyState, look: Look): readonly Line[] {
  const sign = symbol(verdict(state), look);
  const time = state.durationMs === undefined ? '' : ` in ${humanDuration(state.durationMs)}`;
  const failed = failedPhases(state).map(({ title }) => title);
  const text = `journey finished${time}${failed.length === 0 ? '' : `, failed: ${failed.join(', ')}`}`;
  const column = 3 + textWidth(sign.text);
  const lines: readonly Line[] = wrap(look.glyphs.text(text), Math.max(1, look.width - column)).map((part, at) =>
    at === 0 ? [span('  '), sign, span(` ${part}`, 'strong')] : [span(' '.repeat(column)), span(part, 'strong')],
  );
  const typicalMs = state.plan?.typicalMs;
  if (typicalMs === undefined) return lines;
  const right = [span(`typical here: ${humanDuration(typicalMs)}`, 'quiet')];
  const last = lines.at(-1) ?? [];
  const isTooLong = lineWidth(last) + lineWidth(right) + 2 > look.width;
  return isTooLong
    ? [...lines, [span(' '.repeat(column)), ...right]]
    : lines.with(-1, spread(last, right, look.width));
}

function verdict({ phases }: JourneyState): Health {
  const has = (health: Health) => phases.some((phase) => phase.health === health);
  if (has('failed')) return 'failed';
  return has('attention') ? 'attention' : 'done';
}

/** The longest symbol and word of a state, and a gap. */
const resultWidth = ({ glyphs }: Look): number => textWidth(`${glyphs.health.attention} attention  `);

function tableLines(phases: readonly PhaseState[], look: Look): readonly Line[] {
  if (look.layout === 'narrow' || look.layout === 'list')
    return phases.flatMap((phase) => entryLines(phase, look));
  const titles = Math.max(...phases.map(({ title }) => textWidth(title))) + 6;
  const heading = spread(
    [span(padEnd('  phase', titles), 'quiet'), span(padEnd('result', resultWidth(look)), 'quiet')],
    [span('time', 'quiet')],
    look.width,
  );
  return [heading, ...phases.flatMap((phase) => rowLines(phase, titles, look))];
}

/** The detail may hold an address, so it is never cut. */
function rowLines(phase: PhaseState, titles: number, look: Look): readonly Line[] {
  const { glyphs, width } = look;
  const title = span(padEnd(`  ${phase.number} ${glyphs.text(phase.title)}`, titles));
  const result = [symbol(phase.health, look), span(` ${HEALTH_WORDS[phase.health]}`, HEALTH_TONES[phase.health])];
  const left = [title, ...result, span(padEnd('', resultWidth(look) - lineWidth(result)))];
  const time = span(timeText(phase), 'quiet');
  const detail = glyphs.text(phase.detail);
  const room = Math.max(1, width - lineWidth(left) - TIME_WIDTH - 2);
  // An address that would have to be broken gets lines of its own.
  const isBeside = detail.split(' ').every((word) => textWidth(word) <= room);
  const column = isBeside ? lineWidth(left) : 4;
  const lines = wrap(detail, isBeside ? room : Math.max(1, width - column));
  const [first, others] = isBeside ? [lines[0] ?? '', lines.slice(1)] : ['', lines];
  return [
    spread([...left, span(first)], [time], width),
    ...others.map((text) => [span(' '.repeat(column)), span(text)]),
  ];
}

/** Two or three lines for a phase where a table does not fit. */
function entryLines(phase: PhaseState, look: Look): readonly Line[] {
  const { glyphs, width } = look;
  const time = span(timeText(phase).trim(), 'quiet');
  const title = span(` ${phase.number} ${glyphs.text(phase.title)}`);
  const result = [symbol(phase.health, look), span(` ${HEALTH_WORDS[phase.health]}`, HEALTH_TONES[phase.health])];
  const detail = phase.detail === '' ? [] : wrap(glyphs.text(phase.detail), Math.max(1, width - 3));
  const isOneLine = lineWidth([title, ...result, time]) + 3 <= width;
  const head = isOneLine
    ? [spread([title, span(' '), ...result], [time], width)]
    : [spread([title], [time], width), [span('   '), ...result]];
  return [...head, ...detail.map((text) => [span('   '), span(text, 'quiet')])];
}

const timeText = ({ durationMs }: PhaseState): string =>
  durationMs === undefined ? '' : padStart(humanDuration(durationMs), TIME_WIDTH);

/** `12 h 05 m`. */
const TIME_WIDTH = 9;

/** `➜ hub  export KUBECONFIG=…`; an address is never cut, and stands on a line of its own where it is narrow. */
function addressLines({ label, value, note }: Address, look: Look): readonly Line[] {
  const { glyphs, width, layout } = look;
  const text = `${printable(value)}${note === undefined ? '' : `   (${glyphs.text(note)})`}`;
  const head = [span(`  ${glyphs.arrow} `, 'good'), span(padEnd(glyphs.text(label), 11), 'strong'), span(' ')];
  const isNarrow = layout === 'narrow' || layout === 'list';
  const column = isNarrow ? 4 : lineWidth(head);
  const lines = wrap(text, Math.max(1, width - column)).map((part) => [span(' '.repeat(column)), span(part)]);
  return isNarrow ? [head, ...lines] : lines.with(0, [...head, ...(lines[0] ?? []).slice(1)]);
}

const COUNT_WORDS = ['no thing', 'one thing', 'two things', 'three things'] as const;

function tryLines(tries: readonly Suggestion[], look: Look): readonly Line[] {
  if (tries.length === 0) return [];
  const heading = [span(`  ${COUNT_WORDS[tries.length] ?? 'things'} to try`, 'strong')];
  return [heading, ...tries.flatMap((suggestion, at) => tryEntry(suggestion, at + 1, look))];
}

function tryEntry({ kind, text }: Suggestion, number: number, { glyphs, width }: Look): readonly Line[] {
  const head = `    ${number}  `;
  const room = Math.max(1, width - head.length);
  const lines = kind === 'command' ? wrapCommand(printable(text), room) : wrap(glyphs.text(text), room);
  return lines.map((line, at) => [span(at === 0 ? head : ' '.repeat(head.length)), span(line)]);
}

/** Before the first phase exists: what works today, and what each phase will bring. */
function emptyJourneyLines({ phases }: JourneyState, { commands }: JourneyPlan, look: Look): readonly Line[] {
  const { width, layout, glyphs } = look;
  const isNarrow = layout === 'narrow' || layout === 'list';
  const column = isNarrow ? 4 : Math.max(...commands.map(({ command }) => command.length)) + 6;
  const described = (head: Line, text: string): readonly Line[] => {
    const lines = wrap(glyphs.text(text), Math.max(1, width - column)).map((part) => [
      span(' '.repeat(column)),
      span(part),
    ]);
    const padding = span(padEnd('', column - lineWidth(head)));
    return isNarrow ? [head, ...lines] : lines.with(0, [...head, padding, ...(lines[0] ?? []).slice(1)]);
  };
  const skipped = `skipped (${phases[0]?.detail ?? ''})`;
  return [
    [span('  what is here', 'strong')],
    ...commands.flatMap(({ command, does }) => described([span(`  ${isNarrow ? '' : '  '}${command}`)], does)),
    EMPTY_LINE,
    ...wrap(`what will come: ${phases.length} phases, each ${skipped} for now`, Math.max(1, width - 2)).map(
      (text) => [span(`  ${text}`, 'strong')],
    ),
    ...phases.flatMap((phase) =>
      described([span(`  ${phase.number} `), symbol(phase.health, look), span(` ${phase.title}`)], phase.promise),
    ),
    EMPTY_LINE,
  ];
}
