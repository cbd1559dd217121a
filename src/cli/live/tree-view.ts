import { healthOf, leaves, type RowNode } from '../../app/journey/rows.ts';
import { humanDuration } from '../../base/duration.ts';
import { type Line, type Look, lineWidth, type Span, span, spread, symbol } from './line.ts';
import { cutEnd, cutMiddle, padEnd, padStart, textWidth } from './text-width.ts';
import { type Branch, fitted, isProblem, type TreeRow, treeRows } from './tree-rows.ts';

export interface TreeOptions {
  readonly look: Look;
  /** In the time of events (`atMs`). */
  readonly nowMs: number;
  /** Most lines there may be. */
  readonly room: number;
}

/** The rows below a phase: a tree where there is room, groups on a line or a list where there is not (experience X7). */
export function treeLines(nodes: readonly RowNode[], { look, nowMs, room }: TreeOptions): readonly Line[] {
  switch (look.layout) {
    case 'wide':
    case 'medium': {
      const options = { look, nowMs, nameWidth: nameWidth(nodes, look) };
      const rows = fitted(nodes, room, (branches) => treeRows(branches, look.glyphs));
      return rows.map((row) => treeLine(row, options));
    }
    case 'narrow':
      return fitted(nodes, room, (branches) => compactLines(branches, look));
    case 'list':
      return fitted(nodes, room, (branches) => branches.flatMap((branch) => listLines(branch, look)));
  }
}

const INDENT = '    ';
const BAR_CELLS = 12;

function treeLine({ prefix, branch }: TreeRow, options: LeafOptions): Line {
  const { look } = options;
  const start = span(`${INDENT}${prefix}`, 'quiet');
  switch (branch.kind) {
    case 'leaf':
      return leafLine(start, branch.node, options);
    case 'group':
      return groupLine(start, branch.node, look);
    case 'fold':
    case 'more':
      return [start, ...countSpans(branch, look)];
  }
}

/** `✔ 3 done in control plane`, `… 12 more`. */
function countSpans(branch: Extract<Branch, { kind: 'fold' | 'more' }>, look: Look): readonly Span[] {
  const { glyphs } = look;
  if (branch.kind === 'more') return [span(`${glyphs.ellipsis} ${branch.count} more`, 'quiet')];
  const place = branch.name === undefined ? '' : ` in ${cutMiddle(glyphs.text(branch.name), 30, glyphs.ellipsis)}`;
  return [symbol('done', look), span(` ${branch.count} done${place}`, 'quiet')];
}

function groupLine(start: Span, node: RowNode, look: Look): Line {
  const { glyphs, width } = look;
  const name = cutMiddle(glyphs.text(node.name), 30, glyphs.ellipsis);
  const count = span(glyphs.text(node.row?.note ?? countText(node)), 'quiet');
  const room = width - lineWidth([start]) - textWidth(name) - textWidth(count.text) - 6;
  const word = cutEnd(glyphs.text(node.row?.word ?? ''), room, glyphs.ellipsis);
  const sign = isProblem(node.row?.health) ? [symbol(healthOf(node), look), span(' ')] : [];
  return spread([start, ...sign, span(name, 'strong'), span(`  ${word}`)], [count], width);
}

const countText = (node: RowNode): string => {
  const all = leaves(node.children);
  return `${all.filter((leaf) => healthOf(leaf) === 'done').length}/${all.length} done`;
};

interface LeafOptions extends Omit<TreeOptions, 'room'> {
  readonly nameWidth: number;
}

/** Symbol, name, what it does, then as much of bar, percent, time and note as fits. */
function leafLine(start: Span, node: RowNode, { look, nowMs, nameWidth: names }: LeafOptions): Line {
  const { glyphs, width, layout } = look;
  const name = padEnd(cutMiddle(glyphs.text(node.name), names, glyphs.ellipsis), names);
  const left = [start, symbol(healthOf(node), look), span(` ${name}  `)];
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

/** `12 h 05 m` and a gap. */
const TIME_WIDTH = 10;

function timeSpans({ startedMs, endedMs, row }: RowNode, nowMs: number): readonly Span[] {
  if (startedMs === undefined || row?.percent === undefined) return [];
  // Whole seconds: a time that moves ten times a second in every row is noise, and costs bytes.
  const untilMs = endedMs ?? Math.floor(nowMs / 1000) * 1000;
  return [span(padStart(humanDuration(Math.max(0, untilMs - startedMs)), TIME_WIDTH), 'quiet')];
}

function narrowFacts(node: RowNode, nowMs: number): readonly Span[] {
  const percent = node.row?.percent === undefined ? [] : [span(percentText(node.row.percent))];
  return [...percent, ...timeSpans(node, nowMs)];
}

function nameWidth(nodes: readonly RowNode[], { layout, glyphs }: Look): number {
  const most = layout === 'wide' ? 24 : 16;
  const widths = leaves(nodes).map(({ name }) => textWidth(glyphs.text(name)));
  return widths.reduce((widest, width) => Math.min(most, Math.max(widest, width)), 0);
}

/** `cp 1/3  ✔ cp-0  ◐ cp-1 58 %`: a group on a line, or on as many as it takes; what is in no group before all groups. */
function compactLines(branches: readonly Branch[], look: Look): readonly Line[] {
  const loose = branches.filter(({ kind }) => kind === 'leaf' || kind === 'fold');
  const others = branches.flatMap((branch): readonly Line[] => {
    if (branch.kind === 'more') return [[span('   '), ...countSpans(branch, look)]];
    return branch.kind === 'group' ? flowing(groupLabel(branch.node, look), branch.branches, look) : [];
  });
  return [...(loose.length === 0 ? [] : flowing('', loose, look)), ...others];
}

const groupLabel = (node: RowNode, { glyphs }: Look): string =>
  `${cutMiddle(glyphs.text(node.name), 16, glyphs.ellipsis)} ${countText(node).replace(' done', '')}  `;

function flowing(label: string, branches: readonly Branch[], look: Look): readonly Line[] {
  const lines: Span[][] = [[span('   '), span(label, 'strong')]];
  for (const item of branches.flatMap((branch) => compactItems(branch, look))) {
    const current = lines.at(-1) ?? [];
    const isFull = current.length > 2 && lineWidth(current) + lineWidth(item) > look.width;
    if (isFull) lines.push([span('     '), ...item]);
    else current.push(...item);
  }
  return lines;
}

function compactItems(branch: Branch, look: Look): readonly Line[] {
  switch (branch.kind) {
    case 'leaf':
      return [[...compactItem(branch.node, look), span('  ')]];
    case 'group':
      return branch.branches.flatMap((inner) => compactItems(inner, look));
    case 'fold':
    case 'more':
      return [[...countSpans(branch, look), span('  ')]];
  }
}

function compactItem(leaf: RowNode, look: Look): Line {
  const { glyphs } = look;
  const name = cutMiddle(glyphs.text(leaf.name), 16, glyphs.ellipsis);
  const isDone = healthOf(leaf) === 'done';
  const percent = leaf.row?.percent === undefined || isDone ? '' : ` ${Math.round(leaf.row.percent)} %`;
  return [symbol(healthOf(leaf), look), span(` ${name}${percent}`)];
}

/** One thing per line: `◐ cp-1 58 % Writing im…`. */
function listLines(branch: Branch, look: Look): readonly Line[] {
  switch (branch.kind) {
    case 'leaf':
      return [[span('  '), ...compactItem(branch.node, look), span(` ${wordOf(branch.node, look)}`, 'quiet')]];
    case 'group': {
      const head = [span(`  ${groupLabel(branch.node, look)}`, 'strong')];
      return [head, ...branch.branches.flatMap((inner) => listLines(inner, look))];
    }
    case 'fold':
    case 'more':
      return [[span('  '), ...countSpans(branch, look)]];
  }
}
