import { ageMs, ageText } from '../../app/describe/age.ts';
import type { ClusterPicture, PictureRow } from '../../app/describe/picture.ts';
import type { ClusterReport } from '../../app/describe/report.ts';
import { printable } from '../../app/journey/plain-text.ts';
import { type Line, type Look, lineWidth, type Span, span, spread, symbol } from './line.ts';
import { cutEnd, cutMiddle, padEnd, padStart, textWidth, wrap, wrapCommand } from './text-width.ts';

export interface ClusterViewOptions {
  readonly look: Look;
  readonly now: Date;
  /** Most lines there may be; without it, as many as it takes. */
  readonly room?: number;
}

/** A cluster as a tree in columns, with the one next action below it (experience X45). Pure. */
export function clusterLines(picture: ClusterPicture, options: ClusterViewOptions): readonly Line[] {
  const { look } = options;
  const head = headLines(picture.report, options);
  const foot = nextLines(picture.report.next, look);
  const body = (root: PictureRow) => bodyLines(root, options);
  const room = options.room === undefined ? Number.POSITIVE_INFINITY : options.room - head.length - foot.length;
  return [...head, ...fitted(picture.root, room, body, look), ...foot];
}

/** What is finished goes first, then what is at the end; the last line says how much is missing (experience X3). */
function fitted(
  root: PictureRow,
  room: number,
  draw: (root: PictureRow) => readonly Line[],
  look: Look,
): readonly Line[] {
  const all = draw(root);
  if (all.length <= room) return all;
  const rest = draw(withoutFinished(root));
  const kept = rest.slice(0, Math.max(0, room - 1));
  return [...kept, [span(`${look.glyphs.ellipsis} ${all.length - kept.length} more lines`, 'quiet')]];
}

const withoutFinished = (row: PictureRow): PictureRow => ({
  ...row,
  children: row.children
    .map(withoutFinished)
    .filter(({ health, children }) => health !== 'done' || children.length > 0),
});

function headLines(report: ClusterReport, { look, now }: ClusterViewOptions): readonly Line[] {
  const { name, version, api, nodes, createdAt, problems } = report;
  const age = ageMs(createdAt, now);
  const right = [
    ...(age === undefined ? [] : [`${ageText(age)} old`]),
    problems === 0 ? 'no problems' : `${problems} problem${problems === 1 ? '' : 's'}`,
  ].join(', ');
  const parts: readonly Span[] = [
    span(look.glyphs.text(name), 'strong'),
    ...(version === undefined ? [] : [span(look.glyphs.text(version))]),
    ...(api === undefined ? [] : [span(`api ${look.glyphs.text(api)}`)]),
    ...(nodes === undefined ? [] : [span(`${nodes.ready}/${nodes.total} nodes Ready`)]),
  ];
  const tail = span(right, problems === 0 ? 'quiet' : 'warning');
  const left = parts.flatMap((part, at) => (at === 0 ? [part] : [span(GAP), part]));
  return lineWidth(left) + textWidth(right) + GAP.length <= look.width
    ? [spread(left, [tail], look.width)]
    : flowing([...parts, tail], look.width);
}

const GAP = '   ';

/** As many on a line as fit; what is too long for one is wrapped, never cut. */
function flowing(parts: readonly Span[], width: number): readonly Line[] {
  const lines: Span[][] = [];
  for (const part of parts) {
    const current = lines.at(-1);
    if (current !== undefined && lineWidth(current) + GAP.length + textWidth(part.text) <= width)
      current.push(span(GAP), part);
    else lines.push(...wrap(part.text, width).map((text) => [span(text, part.tone)]));
  }
  return lines;
}

/** A row with the lines of the tree in front of it. */
interface Placed {
  readonly row: PictureRow;
  /** In front of the first line of the row. */
  readonly prefix: string;
  /** In front of the others. */
  readonly below: string;
}

function placed(row: PictureRow, look: Look, prefix = '', below = ''): readonly Placed[] {
  const { fork, last, pipe, gap } = look.glyphs.tree;
  const { children } = row;
  return [
    { row, prefix, below: below + (children.length > 0 ? pipe : gap) },
    ...children.flatMap((child, at) => {
      const isLast = at === children.length - 1;
      return placed(child, look, below + (isLast ? last : fork), below + (isLast ? gap : pipe));
    }),
  ];
}

interface Columns {
  readonly name: number;
  readonly state: number;
  /** Undefined: there is no room beside the others, so it stands below them. */
  readonly why: number | undefined;
}

const SINCE = 5;
const BETWEEN = 2;
const LEAST_WHY = 20;
const LEAST_NAME = 16;
/** Of the width, for names. */
const WIDE_SHARE = 0.45;
const MEDIUM_SHARE = 0.5;

function bodyLines(root: PictureRow, options: ClusterViewOptions): readonly Line[] {
  const { look } = options;
  const rows = placed(root, look);
  if (look.layout === 'list') return rows.flatMap(({ row }) => listLines(row, options));
  if (look.layout === 'narrow') return rows.flatMap((one) => narrowLines(one, options));
  const columns = columnsFor(rows, look);
  const head = [
    span(padEnd('NAME', columns.name + BETWEEN), 'quiet'),
    span(padEnd('STATE', columns.state + BETWEEN), 'quiet'),
    span(padStart('SINCE', SINCE), 'quiet'),
    ...(columns.why === undefined ? [] : [span(`${' '.repeat(BETWEEN)}WHY`, 'quiet')]),
  ];
  return [head, ...rows.flatMap((one) => rowLines(one, columns, options))];
}

function columnsFor(rows: readonly Placed[], look: Look): Columns {
  const { width, glyphs, layout } = look;
  const widest = (widths: readonly number[], least: number) => widths.reduce((a, b) => Math.max(a, b), least);
  const names = widest(
    rows.map(({ row, prefix }) => textWidth(prefix) + textWidth(glyphs.text(row.label))),
    4,
  );
  const states = widest(
    rows.map(({ row }) => textWidth(stateText(row, look))),
    5,
  );
  const fixed = SINCE + 2 * BETWEEN;
  const share = Math.floor(width * (layout === 'wide' ? WIDE_SHARE : MEDIUM_SHARE));
  const state = Math.min(states, Math.max(8, width - LEAST_NAME - fixed));
  const name = Math.max(LEAST_NAME, Math.min(names, share, width - state - fixed));
  const why = width - name - state - fixed - BETWEEN;
  if (why >= LEAST_WHY) return { name, state, why };
  // Nothing stands beside the names then, so they may have its room.
  return { name: Math.max(LEAST_NAME, Math.min(names, width - state - fixed)), state, why: undefined };
}

const stateText = ({ health, word }: PictureRow, { glyphs }: Look): string =>
  `${glyphs.health[health]} ${glyphs.text(word)}`;

function rowLines({ row, prefix, below }: Placed, columns: Columns, options: ClusterViewOptions): readonly Line[] {
  const { look } = options;
  const { glyphs } = look;
  const room = Math.max(1, columns.name - textWidth(prefix));
  const label = padEnd(cutMiddle(glyphs.text(row.label), room, glyphs.ellipsis), room);
  const sign = symbol(row.health, look);
  const wordRoom = Math.max(1, columns.state - textWidth(sign.text) - 1);
  const word = padEnd(cutEnd(glyphs.text(row.word), wordRoom, glyphs.ellipsis), wordRoom);
  const line = [
    span(prefix, 'quiet'),
    span(`${label}${' '.repeat(BETWEEN)}`),
    sign,
    span(` ${word}${' '.repeat(BETWEEN)}`),
    span(padStart(sinceText(row, options), SINCE), 'quiet'),
  ];
  const why = row.why === undefined ? '' : glyphs.text(row.why);
  if (why === '') return [line];
  if (columns.why === undefined) return [line, ...whyBelow(why, below, look)];
  const [first = '', ...more] = wrap(why, columns.why);
  const start = columns.name + columns.state + SINCE + 3 * BETWEEN;
  const others = more.map((text) => [
    span(cutEnd(below.trimEnd(), columns.name, ''), 'quiet'),
    span(' '.repeat(Math.max(0, start - textWidth(cutEnd(below.trimEnd(), columns.name, ''))))),
    span(text),
  ]);
  return [[...line, span(' '.repeat(BETWEEN)), span(first)], ...others];
}

/** Below the row it belongs to, with the lines of the tree carried on. */
function whyBelow(why: string, below: string, { width }: Look): readonly Line[] {
  const indent = cutEnd(below, Math.max(0, width - LEAST_WHY), '');
  const lines = wrap(why, Math.max(1, width - textWidth(indent)));
  return lines.map((text) => [span(indent, 'quiet'), span(text)]);
}

function sinceText({ since }: PictureRow, { now, look }: ClusterViewOptions): string {
  const age = ageMs(since, now);
  return age === undefined ? look.glyphs.text('–') : ageText(age);
}

/** Names have the line for themselves; the rest stands below them, with the lines of the tree carried on. */
function narrowLines({ row, prefix, below }: Placed, options: ClusterViewOptions): readonly Line[] {
  const { look } = options;
  const { glyphs } = look;
  const room = Math.max(1, look.width - textWidth(prefix));
  const state = `${glyphs.text(row.word)}, ${sinceText(row, options)}`;
  const why = row.why === undefined ? [] : whyBelow(glyphs.text(row.why), below, look);
  return [
    [span(prefix, 'quiet'), span(cutMiddle(glyphs.text(row.label), room, glyphs.ellipsis))],
    [span(below, 'quiet'), symbol(row.health, look), span(` ${state}`)],
    ...why,
  ];
}

/** One thing after the other, for a terminal that has no room for a tree. */
function listLines(row: PictureRow, options: ClusterViewOptions): readonly Line[] {
  const { look } = options;
  const room = Math.max(1, look.width - 2);
  const since = sinceText(row, options);
  const state = cutEnd(`${look.glyphs.text(row.word)}, ${since}`, Math.max(1, room - 7), look.glyphs.ellipsis);
  const why = row.why === undefined ? [] : wrap(look.glyphs.text(row.why), room);
  return [
    [span(cutMiddle(look.glyphs.text(row.label), look.width, look.glyphs.ellipsis), 'strong')],
    [span('  '), symbol(row.health, look), span(` ${state}`)],
    ...why.map((text) => [span('  '), span(text)]),
  ];
}

const NEXT = 'next';

/** Never cut: it is there to be copied. */
function nextLines(next: string | undefined, look: Look): readonly Line[] {
  if (next === undefined) return [];
  const column = look.layout === 'list' ? 2 : NEXT.length + BETWEEN;
  const fit = next.startsWith('kubectl ') ? wrapCommand : wrap;
  const lines = fit(printable(next), Math.max(1, look.width - column));
  if (look.layout === 'list') return [[span(NEXT, 'strong')], ...lines.map((text) => [span('  '), span(text)])];
  return lines.map((text, at) => [span(padEnd(at === 0 ? NEXT : '', column), 'strong'), span(text)]);
}
