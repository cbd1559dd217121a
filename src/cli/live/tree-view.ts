import { healthOf, leaves, type RowNode } from '../../app/journey/rows.ts';
import { humanDuration } from '../../base/duration.ts';
import { type Line, type Look, lineWidth, type Span, span, spread, symbol } from './line.ts';
import { cutEnd, cutMiddle, padEnd, padStart, textWidth } from './text-width.ts';
import { type TreeRow, treeRows } from './tree-rows.ts';

export interface TreeOptions {
  readonly look: Look;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  /** Most lines there may be. */
  readonly room: number;
}

/** The rows below a phase: a tree where there is room, groups on a line or a list where there is not (experience X7). */
export function treeLines(nodes: readonly RowNode[], options: TreeOptions): readonly Line[] {
  switch (options.look.layout) {
    case 'wide':
    case 'medium':
      return treeRows(nodes, options.room, options.look.glyphs).map((row) => treeLine(row, nodes, options));
    case 'narrow':
      return clipped(
        nodes.flatMap((node) => compactLines(node, options.look)),
        options,
      );
    case 'list':
      return clipped(
        nodes.flatMap((node) => listLines(node, options.look)),
        options,
      );
  }
}

const INDENT = '    ';
const BAR_CELLS = 12;

function treeLine(row: TreeRow, nodes: readonly RowNode[], options: TreeOptions): Line {
  const { look } = options;
  const start = span(`${INDENT}${row.prefix}`, 'quiet');
  switch (row.kind) {
    case 'folded':
      return [start, ...foldedSpans(row, look)];
    case 'group':
      return groupLine(start, row.node, look);
    case 'leaf':
      return leafLine(start, row.node, { ...options, nameWidth: nameWidth(nodes, look) });
  }
}

function foldedSpans({ text, health }: Extract<TreeRow, { kind: 'folded' }>, look: Look): readonly Span[] {
  const words = span(look.glyphs.text(text), 'quiet');
  return health === undefined
    ? [span(`${look.glyphs.ellipsis} `, 'quiet'), words]
    : [symbol(health, look), span(' '), words];
}

function groupLine(start: Span, node: RowNode, look: Look): Line {
  const { glyphs, width } = look;
  const name = cutMiddle(glyphs.text(node.name), 30, glyphs.ellipsis);
  const count = span(glyphs.text(node.row?.note ?? countText(node)), 'quiet');
  const room = width - lineWidth([start]) - textWidth(name) - textWidth(count.text) - 6;
  const word = cutEnd(glyphs.text(node.row?.word ?? ''), room, glyphs.ellipsis);
  const isProblem = node.row?.health === 'failed' || node.row?.health === 'attention';
  const sign = isProblem ? [symbol(healthOf(node), look), span(' ')] : [];
  return spread([start, ...sign, span(name, 'strong'), span(`  ${word}`)], [count], width);
}

const countText = (node: RowNode): string => {
  const all = leaves(node.children);
  return `${all.filter((leaf) => healthOf(leaf) === 'done').length}/${all.length} done`;
};

interface LeafOptions extends TreeOptions {
  readonly nameWidth: number;
}

/** Symbol, name, what it does, then as much of bar, percent, time and note as fits. */
function leafLine(start: Span, node: RowNode, { look, nowMs, nameWidth: names }: LeafOptions): Line {
  const { glyphs, width, layout } = look;
  const name = padEnd(cutMiddle(glyphs.text(node.name), names, glyphs.ellipsis), names);
  const sign = symbol(healthOf(node), look);
  const left = [start, span(sign.text, sign.tone), span(` ${name}  `)];
  const facts =
    layout === 'wide' ? [...barSpans(node, look), ...timeSpans(node, nowMs)] : narrowFacts(node, nowMs);
  const note = node.row?.note === undefined ? [] : [span(`   ${glyphs.text(node.row.note)}`, 'quiet')];
  const room = width - lineWidth(left) - lineWidth(facts) - 1;
  const word = cutEnd(wordOf(node, look), Math.max(0, room), glyphs.ellipsis);
  const isAligned = facts.length > 0;
  const words = span(isAligned ? padEnd(word, Math.min(26, room)) : word);
  const line = [...left, words, ...(isAligned ? [span(' '), ...facts] : [])];
  return lineWidth(line) + lineWidth(note) <= width ? [...line, ...note] : line;
}

const wordOf = ({ row }: RowNode, { glyphs }: Look): string =>
  `${glyphs.text(row?.word ?? '')}${row?.simulated === true ? glyphs.simulated : ''}`;

function barSpans({ row }: RowNode, { glyphs }: Look): readonly Span[] {
  if (row?.percent === undefined) return [];
  const full = Math.max(0, Math.min(BAR_CELLS, Math.round((row.percent / 100) * BAR_CELLS)));
  return [
    span(glyphs.bar.full.repeat(full), 'busy'),
    span(glyphs.bar.empty.repeat(BAR_CELLS - full), 'quiet'),
    span(` ${percentText(row.percent)}`),
  ];
}

const percentText = (percent: number): string => `${String(Math.round(percent)).padStart(3)} %`;

function timeSpans({ startedAt, endedAt, row }: RowNode, nowMs: number): readonly Span[] {
  if (startedAt === undefined || row?.percent === undefined) return [];
  // Whole seconds of the wall clock: a time that moves ten times a second in every row is noise, and costs bytes.
  const untilMs = endedAt === undefined ? Math.floor(nowMs / 1000) * 1000 : Date.parse(endedAt);
  return [span(padStart(humanDuration(Math.max(0, untilMs - Date.parse(startedAt))), 8), 'quiet')];
}

function narrowFacts(node: RowNode, nowMs: number): readonly Span[] {
  const percent = node.row?.percent === undefined ? [] : [span(percentText(node.row.percent))];
  return [...percent, ...timeSpans(node, nowMs)];
}

function nameWidth(nodes: readonly RowNode[], { layout, glyphs }: Look): number {
  const longest = Math.max(0, ...leaves(nodes).map(({ name }) => textWidth(glyphs.text(name))));
  return Math.min(longest, layout === 'wide' ? 24 : 16);
}

/** `cp 1/3  ✔ cp-0  ◐ cp-1 58 %`: a group on a line, or on as many as it takes. */
function compactLines(node: RowNode, look: Look): readonly Line[] {
  const { glyphs, width } = look;
  const all = leaves([node]);
  const isGroup = node.children.length > 0;
  const label = isGroup ? `${cutMiddle(glyphs.text(node.name), 16, glyphs.ellipsis)} ${shortCount(node)}  ` : '';
  const lines: Span[][] = [[span('   '), span(label, 'strong')]];
  for (const item of all.map((leaf) => compactItem(leaf, look))) {
    const current = lines.at(-1) ?? [];
    if (current.length > 2 && lineWidth(current) + lineWidth(item) > width) lines.push([span('     '), ...item]);
    else current.push(...item);
  }
  return lines;
}

const shortCount = (node: RowNode): string => countText(node).replace(' done', '');

function compactItem(leaf: RowNode, look: Look): readonly Span[] {
  const { glyphs } = look;
  const name = cutMiddle(glyphs.text(leaf.name), 16, glyphs.ellipsis);
  const isDone = healthOf(leaf) === 'done';
  const percent = leaf.row?.percent === undefined || isDone ? '' : ` ${Math.round(leaf.row.percent)} %`;
  return [symbol(healthOf(leaf), look), span(` ${name}${percent}  `)];
}

/** One thing per line: `◐ cp-1 58 % Writing im…`. */
function listLines(node: RowNode, look: Look): readonly Line[] {
  const { glyphs } = look;
  const group: readonly Line[] =
    node.children.length === 0 ? [] : [[span(`  ${glyphs.text(node.name)} ${shortCount(node)}`, 'strong')]];
  const items = leaves([node]).map((leaf) => [
    span('  '),
    ...compactItem(leaf, look).map(({ text, tone }) => span(text.replace(/ {2}$/, ' '), tone)),
    span(wordOf(leaf, look), 'quiet'),
  ]);
  return [...group, ...items];
}

/** Compact layouts fold by counting only: their groups already say how much is done. */
function clipped(lines: readonly Line[], { room, look }: TreeOptions): readonly Line[] {
  if (lines.length <= room) return lines;
  const hidden = lines.length - Math.max(0, room - 1);
  const more = [span(`   ${look.glyphs.ellipsis} ${hidden} more`, 'quiet')];
  return room < 1 ? [] : [...lines.slice(0, room - 1), more];
}
