import type { Failure } from '../../api/journey.ts';
import { printable } from '../../app/journey/plain-text.ts';
import { EMPTY_LINE, type Line, type Look, span } from './line.ts';
import type { Tone } from './symbols.ts';
import { padEnd, wrap, wrapCommand } from './text-width.ts';

/** What failed, why, where to look and what to do, in this order (experience X10, 4.4). Nothing in it is ever cut. */
export function failureLines(failure: Failure, look: Look): readonly Line[] {
  const { dot } = look.glyphs;
  return [
    EMPTY_LINE,
    ...entry('failed', [failure.what], { look, tone: 'bad' }),
    ...entry('cause', [failure.cause], { look }),
    ...entry('look', failure.look, { look, isExact: true }),
    ...entry('next', failure.next, { look, isExact: true, isCommand: true }),
    ...entry('code', [`${failure.code} ${dot} npx slipway explain ${failure.code}`], { look }),
    EMPTY_LINE,
  ];
}

interface EntryOptions {
  readonly look: Look;
  readonly tone?: Tone;
  /** A path or a command, in which no character may be replaced by one that looks like it. */
  readonly isExact?: boolean;
  readonly isCommand?: boolean;
}

/** A label and its texts, which wrap below themselves; on lines of their own where that would leave too little room. */
function entry(
  label: string,
  texts: readonly string[],
  { look, tone = 'strong', isExact, isCommand }: EntryOptions,
): readonly Line[] {
  const isNarrow = look.layout === 'list' || look.layout === 'narrow';
  const [indent, column] = isNarrow ? [' ', 3] : ['  ', 11];
  const fit = isCommand === true ? wrapCommand : wrap;
  const shownText = isExact === true ? printable : look.glyphs.text;
  const lines = texts.flatMap((text) => fit(shownText(text), Math.max(1, look.width - column)));
  const shown = lines.map((text) => [span(' '.repeat(column)), span(text)]);
  if (lines.length === 0) return [];
  if (isNarrow) return [[span(`${indent}${label}`, tone)], ...shown];
  return shown.with(0, [span(padEnd(`${indent}${label}`, column), tone), span(lines[0] ?? '')]);
}
