import type { Health } from '../../api/journey.ts';
import { type Layout, layoutFor } from './mode.ts';
import { type Glyphs, HEALTH_TONES, type Tone } from './symbols.ts';
import { cutEnd, textWidth } from './text-width.ts';

/** A piece of a line with one meaning. */
export interface Span {
  readonly text: string;
  readonly tone: Tone;
}

/** One line of a view, before it is known whether there is colour. */
export type Line = readonly Span[];

/** Everything that decides how a view is laid out. */
export interface Look {
  /** Columns that may be used. */
  readonly width: number;
  readonly layout: Layout;
  readonly glyphs: Glyphs;
}

/** One column less than the terminal has: a full line would leave the cursor in a state terminals disagree about. */
export const lookFor = (columns: number, glyphs: Glyphs): Look => ({
  width: Math.max(1, columns - 1),
  layout: layoutFor(columns),
  glyphs,
});

export const span = (text: string, tone: Tone = 'plain'): Span => ({ text, tone });

export const EMPTY_LINE: Line = [];

/** The symbol of a state in its colour. */
export const symbol = (health: Health, { glyphs }: Look): Span =>
  span(glyphs.health[health], HEALTH_TONES[health]);

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + textWidth(text), 0);

/** `left`, then spaces, then `right` at the edge; without `right` where both do not fit. */
export function spread(left: Line, right: Line, width: number): Line {
  const gap = width - lineWidth(left) - lineWidth(right);
  return gap < 2 ? left : [...left, span(' '.repeat(gap)), ...right];
}

/** The last line of defence: whatever a view has put together, it is not wider than the look allows. */
export function cutLine(given: Line, { width, glyphs }: Look): Line {
  const line = withoutTrailingSpace(given);
  if (lineWidth(line) <= width) return line;
  const fitting: Span[] = [];
  let room = width;
  for (const { text, tone } of line) {
    const isLast = textWidth(text) > room - textWidth(glyphs.ellipsis);
    fitting.push({ text: isLast ? cutEnd(`${text}   `, room, glyphs.ellipsis) : text, tone });
    room -= textWidth(text);
    if (isLast) break;
  }
  return fitting;
}

const ESCAPE = '\u001b[';
const CODES: Readonly<Record<Tone, string>> = {
  plain: '',
  strong: '1',
  quiet: '2',
  good: '32',
  busy: '36',
  warning: '33',
  bad: '31',
};

/** The line as a terminal takes it. */
export const painted = (line: Line, isColoured: boolean): string =>
  withoutTrailingSpace(line)
    .map(({ text, tone }) => paintedSpan(text, isColoured ? CODES[tone] : ''))
    .join('');

function withoutTrailingSpace(line: Line): Line {
  const last = line.findLastIndex(({ text }) => text.trimEnd() !== '');
  const kept = line.slice(0, last + 1);
  return kept.map((part, at) => (at === last ? span(part.text.trimEnd(), part.tone) : part));
}

const paintedSpan = (text: string, code: string): string =>
  code === '' || text.trim() === '' ? text : `${ESCAPE}${code}m${text}${ESCAPE}0m`;
