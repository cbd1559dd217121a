import { type JourneyEvent, WHOLE_JOURNEY } from '../../api/journey.ts';
import {
  failedPhases,
  hasNothingRegistered,
  type JourneyState,
  type PhaseState,
} from '../../app/journey/state.ts';
import { failureLines } from './failure-block.ts';
import { headerLines } from './header.ts';
import { cutLine, type Line, type Look, lineWidth, type Span, span, spread, symbol } from './line.ts';
import { endedPhaseLines, phaseLines } from './phase-line.ts';
import { summaryLines } from './summary.ts';
import { cutEnd, textWidth, wrap } from './text-width.ts';
import { treeLines } from './tree-view.ts';

export interface Moment {
  /** In the time of events (`atMs`). */
  readonly nowMs: number;
  /** Turns the symbol of the phase at work. */
  readonly frame: number;
}

/** What an event leaves on the screen for good. */
export function permanentLines(event: JourneyEvent, after: JourneyState, look: Look): readonly Line[] {
  return permanent(event, after, look).map((line) => cutLine(line, look));
}

function permanent(event: JourneyEvent, after: JourneyState, look: Look): readonly Line[] {
  if (event.kind === 'warn') return remark('attention', event.detail, look);
  if (event.phase === WHOLE_JOURNEY) return journeyLines(event, after, look);
  const phase = after.phases.find(({ id }) => id === event.phase);
  const failure = event.failure === undefined ? [] : failureLines(event.failure, look);
  if (event.kind === 'error') return [...remark('failed', `${phase?.title}: ${event.detail}`, look), ...failure];
  // With nothing registered the summary names every phase with its sentence; seven more lines would say less.
  if (event.kind !== 'end' || phase === undefined || hasNothingRegistered(after)) return [];
  return [...endedPhaseLines(phase, event.atMs, look), ...failure];
}

function journeyLines(event: JourneyEvent, after: JourneyState, look: Look): readonly Line[] {
  switch (event.kind) {
    case 'start':
      return event.plan === undefined ? [] : headerLines(event.plan, look);
    case 'end':
      return summaryLines(after, look);
    case 'error':
      return remark('failed', event.detail, look);
    case 'progress':
      // Standing is shown by the region, as long as it lasts.
      return event.stage === 'standing' ? [] : wrapped(event.detail, look);
    case 'warn':
      return [];
  }
}

function remark(health: 'attention' | 'failed', text: string, look: Look): readonly Line[] {
  const sign = symbol(health, look);
  const lines = wrap(look.glyphs.text(text), Math.max(1, look.width - sign.text.length - 3));
  return lines.map((line, at) => [
    span('  '),
    at === 0 ? sign : span(' '.repeat(sign.text.length)),
    span(` ${line}`),
  ]);
}

const wrapped = (text: string, { glyphs, width }: Look): readonly Line[] =>
  wrap(glyphs.text(text), Math.max(1, width - 2)).map((line) => [span(`  ${line}`, 'quiet')]);

/** What keys there are right now, for the line at the bottom. */
const hintText = ({ glyphs }: Look, other: 'h help' | 'r try again'): string =>
  [other, 'q quit'].join(` ${glyphs.dot} `);

export interface RegionOptions extends Moment {
  readonly look: Look;
  /** Most lines the region may have: two less than the terminal (experience X3). */
  readonly room: number;
  readonly hasKeys: boolean;
}

/** The part of the screen that is drawn again and again. */
export function regionLines(state: JourneyState, options: RegionOptions): readonly Line[] {
  return region(state, options).map((line) => cutLine(line, options.look));
}

function region(state: JourneyState, options: RegionOptions): readonly Line[] {
  const { look, room } = options;
  const rule = [span(`${look.layout === 'list' ? '' : '  '}${look.glyphs.rule.repeat(ruleWidth(look))}`, 'quiet')];
  if (state.stage === 'standing') return lastLines([rule, standingLine(state, options)], room);
  const current = state.phases.find(({ health }) => health === 'working');
  if (state.stage !== 'running' || current === undefined) return [];
  const [title = [], ...details] = phaseLines(current, options.nowMs, look, spinner(options));
  return fitting(room, {
    head: [title],
    details,
    tree: (most) => treeLines(current.rows, { look, nowMs: options.nowMs, room: most }),
    upcoming: upcomingLines(state, current, look),
    foot: [rule, nowLine(state, options)],
  });
}

interface RegionParts {
  readonly head: readonly Line[];
  readonly details: readonly Line[];
  /** In at most that many lines. */
  readonly tree: (room: number) => readonly Line[];
  readonly upcoming: readonly Line[];
  readonly foot: readonly Line[];
}

/** Fewer lines of the tree than this say too little; then the phases to come make room for it. */
const LEAST_TREE = 6;

/** Of what does not fit, the phases to come go first, then the tree, then the rule and the detail; what happens now stays. */
function fitting(room: number, { head, details, tree, upcoming, foot }: RegionParts): readonly Line[] {
  const rest = room - head.length - details.length - foot.length;
  if (rest < 0) return lastLines([...head, ...foot.slice(-1)], room);
  const hasRoomForAll = rest - upcoming.length >= tree(LEAST_TREE).length;
  const shown = hasRoomForAll ? upcoming : [];
  return [...head, ...details, ...tree(rest - shown.length), ...shown, ...foot];
}

const lastLines = (lines: readonly Line[], room: number): readonly Line[] =>
  lines.slice(Math.max(0, lines.length - Math.max(0, room)));

const ruleWidth = ({ width, layout }: Look): number =>
  Math.max(0, Math.min(100, width) - (layout === 'list' ? 0 : 2));

const spinner = ({ look: { glyphs }, frame }: RegionOptions): Span =>
  span(glyphs.spinner[frame % glyphs.spinner.length] ?? glyphs.health.working, 'busy');

/** `4 ○ cloud    5 ○ storage and machines`, on as many lines as it takes. */
function upcomingLines(state: JourneyState, current: PhaseState | undefined, look: Look): readonly Line[] {
  const coming = state.phases.filter(
    ({ health, number }) => health === 'waiting' && number > (current?.number ?? 0),
  );
  const indent = look.layout === 'wide' || look.layout === 'medium' ? '  ' : ' ';
  const lines: Span[][] = [];
  for (const { number, title } of coming) {
    const item = [
      span(`${number} `, 'quiet'),
      symbol('waiting', look),
      span(` ${look.glyphs.text(title)}    `, 'quiet'),
    ];
    const line = lines.at(-1);
    const fits = line !== undefined && lineWidth(line) + lineWidth(item) - 4 <= look.width;
    if (fits) line.push(...item);
    else lines.push([span(indent), ...item]);
  }
  return lines;
}

function nowLine(state: JourneyState, { look, hasKeys }: RegionOptions): Line {
  const { glyphs, width } = look;
  const hints = hasKeys && width >= 50 ? [span(hintText(look, 'h help'), 'quiet')] : [];
  const head = span(look.layout === 'wide' || look.layout === 'medium' ? '  now  ' : ' now ', 'quiet');
  const room = width - lineWidth([head, ...hints]) - 2;
  return spread([head, span(cutEnd(glyphs.text(state.activity), room, glyphs.ellipsis))], hints, width);
}

/** `running · Ctrl-C stops everything it started`, or what failed and how to try it again (experience X32). */
function standingLine(state: JourneyState, { look, hasKeys }: RegionOptions): Line {
  const { glyphs, width, layout } = look;
  const isNarrow = layout === 'narrow' || layout === 'list';
  const failed = failedPhases(state).map(({ title }) => glyphs.text(title));
  if (failed.length > 0) {
    const way = ` ${glyphs.dot} ${hasKeys ? hintText(look, 'r try again') : 'Ctrl-C stops everything it started'}`;
    const names = cutEnd(`failed: ${failed.join(', ')}`, width - textWidth(way) - 2, glyphs.ellipsis);
    return [span('  '), span(names, 'bad'), span(way)];
  }
  const hints = hintText(look, 'h help');
  const way = isNarrow && hasKeys ? hints : 'Ctrl-C stops everything it started';
  const right = hasKeys && !isNarrow ? [span(hints, 'quiet')] : [];
  return spread([span('  running', 'good'), span(` ${glyphs.dot} ${way}`)], right, width);
}
