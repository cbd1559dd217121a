import type { JourneyPlan } from '../../api/journey.ts';
import { humanDuration } from '../../base/duration.ts';
import { EMPTY_LINE, type Line, type Look, lineWidth, span, spread, symbol } from './line.ts';
import { DETAIL_COLUMN } from './phase-line.ts';
import { padEnd } from './text-width.ts';

/** The first lines of a journey: what this is, and on what it runs (experience 4.1). */
export function headerLines(plan: JourneyPlan, look: Look): readonly Line[] {
  const { glyphs, width, layout } = look;
  const name = span(`slipway ${plan.version}`, 'strong');
  const what = 'the journey of a new provider';
  const node = span(nodeText(plan.node), 'quiet');
  const head =
    layout === 'list'
      ? [[span('  '), name], [span(`  ${what}`)], [span('  '), node]]
      : [
          [span('  '), name, span(` ${glyphs.dot} ${what}`)],
          [span('  '), node],
        ];
  const lines = layout === 'wide' ? [spread(head[0] ?? [], [node], width)] : head;
  return [EMPTY_LINE, ...lines, ...installedLines(plan, look), EMPTY_LINE];
}

function installedLines({ installed }: JourneyPlan, look: Look): readonly Line[] {
  if (installed === undefined) return [];
  const label = [span('  '), symbol('done', look), span(' dependencies  ')];
  const padding = look.layout === 'wide' ? padEnd('', DETAIL_COLUMN.wide - lineWidth(label)) : '';
  const left = [...label, span(`${padding}${installed.packages} packages`)];
  return [spread(left, [span(humanDuration(installed.ms), 'quiet')], look.width)];
}

/** `node 20.20 found, using 24.21 from npm`, or only the version where both are the same. */
export function nodeText({ found, using }: JourneyPlan['node']): string {
  return found === using ? `node ${minor(using)}` : `node ${minor(found)} found, using ${minor(using)} from npm`;
}

const minor = (version: string): string => version.split('.').slice(0, 2).join('.');
