import { healthOf, leaves } from '../../app/journey/rows.ts';
import { elapsedMs, isSlow, type PhaseState } from '../../app/journey/state.ts';
import { humanDuration } from '../../base/duration.ts';
import { type Line, type Look, lineWidth, type Span, span, spread, symbol } from './line.ts';
import { HEALTH_WORDS } from './symbols.ts';
import { cutEnd, padEnd, padStart, textWidth } from './text-width.ts';
import { treeLines } from './tree-view.ts';

/** Where the detail of a phase begins. */
const DETAIL_COLUMN = { wide: 34, medium: 29, narrow: 5, list: 3 } as const;
const INDENT = { wide: '  ', medium: '  ', narrow: ' ', list: '' } as const;

/** `3 ◐ cluster on bare metal   acme-lab · 3 control plane + 2 workers   6.1 s`; on two lines where it is narrow. */
export function phaseLines(phase: PhaseState, nowMs: number, look: Look, sign?: Span): readonly Line[] {
  const { layout, glyphs, width } = look;
  const indent = INDENT[layout];
  const isNarrow = layout === 'narrow' || layout === 'list';
  const title = glyphs.text(phase.title);
  const left = [
    span(`${indent}${phase.number} `),
    sign ?? symbol(phase.health, look),
    span(` ${title}`, 'strong'),
  ];
  const elapsed = elapsedMs(phase, nowMs);
  const time = span(elapsed === undefined ? '' : padStart(humanDuration(elapsed), isNarrow ? 0 : 9), 'quiet');
  if (isNarrow) {
    const indented = span(' '.repeat(DETAIL_COLUMN[layout]));
    const detail = detailSpans(phase, nowMs, look, width - lineWidth([indented]));
    return [spread(left, [time], width), [indented, ...detail]];
  }
  const start = [...left, span(padEnd('', DETAIL_COLUMN[layout] - lineWidth(left)))];
  const room = width - lineWidth(start) - lineWidth([time]) - 2;
  return [spread([...start, ...detailSpans(phase, nowMs, look, room)], [time], width)];
}

/** The detail, cut at its end, and behind it what must not be cut: that the phase takes longer than usual (experience X23). */
function detailSpans(phase: PhaseState, nowMs: number, { glyphs }: Look, room: number): readonly Span[] {
  const isTooSlow = phase.typicalMs !== undefined && isSlow(phase, nowMs);
  const slow = isTooSlow
    ? ` ${glyphs.health.attention} slow (typical ${humanDuration(phase.typicalMs ?? 0)})`
    : '';
  const detail = cutEnd(glyphs.text(detailText(phase)), Math.max(0, room - textWidth(slow)), glyphs.ellipsis);
  return [span(detail, phase.health === 'skipped' ? 'quiet' : 'plain'), span(slow, 'warning')];
}

function detailText({ health, detail, percent }: PhaseState): string {
  if (health === 'skipped') return `skipped (${detail})`;
  const amount = health === 'working' && percent !== undefined ? ` ${Math.round(percent)} %` : '';
  return `${detail === '' ? HEALTH_WORDS[health] : detail}${amount}`;
}

/** The line that stays when a phase has ended, with those below it that are not well (problems never fold). */
export function endedPhaseLines(phase: PhaseState, nowMs: number, look: Look): readonly Line[] {
  const isProblem = (health: string) => health === 'failed' || health === 'attention';
  const problems = leaves(phase.rows).filter((leaf) => isProblem(healthOf(leaf)));
  const rows = treeLines(problems, { look, nowMs, room: Number.POSITIVE_INFINITY });
  return [...phaseLines(phase, nowMs, look), ...rows];
}
