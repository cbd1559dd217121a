import { healthOf, leaves } from '../../app/journey/rows.ts';
import { elapsedMs, isSlow, type PhaseState } from '../../app/journey/state.ts';
import { humanDuration } from '../../base/duration.ts';
import { type Line, type Look, lineWidth, type Span, span, spread, symbol } from './line.ts';
import { HEALTH_WORDS } from './symbols.ts';
import { cutEnd, padEnd, padStart, textWidth, wrap } from './text-width.ts';
import { isProblem } from './tree-rows.ts';
import { treeLines } from './tree-view.ts';

/** Where the detail of a phase begins. */
export const DETAIL_COLUMN = { wide: 34, medium: 29, narrow: 5, list: 3 } as const;
const INDENT = { wide: '  ', medium: '  ', narrow: ' ', list: '' } as const;

/**
 * `3 ◐ cluster on bare metal   acme-lab · 3 control plane + 2 workers   6.1 s`. The detail is below the title where it is
 * narrow; it is on one line while the phase works, and on as many as it takes when it stays on the screen.
 */
export function phaseLines(phase: PhaseState, nowMs: number, look: Look, sign?: Span): readonly Line[] {
  const { layout, glyphs, width } = look;
  const isNarrow = layout === 'narrow' || layout === 'list';
  const symbolOrSpinner = sign ?? symbol(phase.health, look);
  const left = [
    span(`${INDENT[layout]}${phase.number} `),
    symbolOrSpinner,
    span(` ${glyphs.text(phase.title)}`, 'strong'),
  ];
  const elapsed = elapsedMs(phase, nowMs);
  const time = span(elapsed === undefined ? '' : padStart(humanDuration(elapsed), isNarrow ? 0 : 9), 'quiet');
  const column = isNarrow ? DETAIL_COLUMN[layout] : Math.max(DETAIL_COLUMN[layout], lineWidth(left) + 1);
  const room = Math.max(1, width - column - (isNarrow ? 0 : lineWidth([time]) + 2));
  const details = detailLines(phase, nowMs, look, room);
  const indented = details.map((line) => [span(' '.repeat(column)), ...line]);
  if (isNarrow) return [spread(left, [time], width), ...indented];
  const first = [...left, span(padEnd('', column - lineWidth(left))), ...(details[0] ?? [])];
  return [spread(first, [time], width), ...indented.slice(1)];
}

/** The detail, and behind it what must not be cut: that the phase takes longer than usual (experience X23). */
function detailLines(phase: PhaseState, nowMs: number, { glyphs }: Look, room: number): readonly Line[] {
  const isTooSlow = phase.typicalMs !== undefined && isSlow(phase, nowMs);
  const slow = isTooSlow ? `${glyphs.health.attention} slow (typical ${humanDuration(phase.typicalMs ?? 0)})` : '';
  const text = glyphs.text(detailText(phase));
  const tone = phase.health === 'skipped' ? 'quiet' : 'plain';
  if (phase.health !== 'working') {
    const lines = wrap(text, room).map((part) => [span(part, tone)]);
    return isTooSlow ? [...lines, [span(slow, 'warning')]] : lines;
  }
  const detail = cutEnd(text, Math.max(0, room - textWidth(slow) - 1), glyphs.ellipsis);
  return [[span(detail, tone), ...(isTooSlow ? [span(detail === '' ? slow : ` ${slow}`, 'warning')] : [])]];
}

function detailText({ health, detail, percent }: PhaseState): string {
  if (health === 'skipped') return `skipped (${detail})`;
  const amount = health === 'working' && percent !== undefined ? ` ${Math.round(percent)} %` : '';
  return `${detail === '' ? HEALTH_WORDS[health] : detail}${amount}`;
}

/** The line that stays when a phase has ended, with those below it that are not well (problems never fold). */
export function endedPhaseLines(phase: PhaseState, nowMs: number, look: Look): readonly Line[] {
  const problems = leaves(phase.rows).filter((leaf) => isProblem(healthOf(leaf)));
  // One per line, because what is wrong with it is on that line.
  const layout = look.layout === 'narrow' ? 'list' : look.layout;
  const rows = treeLines(problems, { look: { ...look, layout }, nowMs, room: MOST_PROBLEMS });
  return [...phaseLines(phase, nowMs, look), ...rows];
}

/** Enough to see what they have in common; the log has all. */
const MOST_PROBLEMS = 20;
