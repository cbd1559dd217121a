import { ageMs, ageText, withoutAges } from '../../app/describe/age.ts';
import type { ClusterPicture, PictureRow } from '../../app/describe/picture.ts';
import type { ClusterReport } from '../../app/describe/report.ts';
import { labelOf, type Row } from '../../app/describe/row.ts';
import { timeOfDay } from '../../app/journey/log-lines.ts';
import { printable } from '../../app/journey/plain-text.ts';
import { type Glyphs, HEALTH_WORDS } from './symbols.ts';

/** Signs that a screen reader spells out or swallows, as words. Commands stay what they are. */
const spoken = (text: string): string =>
  printable(text)
    .replaceAll(' · ', ', ')
    .replace(/ ?→ ?/g, ' on ')
    .replaceAll('≤', 'at most')
    .replace(/×(\d+)/g, 'times $1')
    .replace(/,? …/g, ' and more');

/** A cluster in sentences (experience X5): no symbols, no columns, each row says what it is part of. */
export function clusterSentences({ report, root }: ClusterPicture, now: Date): readonly string[] {
  const { name, namespace, version, api, nodes, problems, next } = report;
  const facts = [
    `Cluster ${name} in namespace ${namespace}`,
    ...(version === undefined ? [] : [version]),
    ...(api === undefined ? [] : [`API server ${api}`]),
    ...(nodes === undefined ? [] : [`${nodes.ready} of ${nodes.total} nodes ready`]),
    problems === 0 ? 'no problems' : `${problems} problem${problems === 1 ? '' : 's'}`,
  ];
  return [
    `${facts.map(printable).join(', ')}.`,
    ...rowSentences(root, undefined, now),
    ...(next === undefined ? [] : [`Next: ${printable(next)}`]),
  ];
}

function rowSentences(row: PictureRow, parent: string | undefined, now: Date): readonly string[] {
  const age = ageMs(row.since, now);
  const part = parent === undefined ? '' : `, part of ${named(parent)}`;
  const since = age === undefined ? '' : `, for ${ageText(age)}`;
  const why = row.why === undefined ? '' : ` ${sentence(spoken(row.why))}`;
  const state = row.word === HEALTH_WORDS[row.health] ? row.word : `${HEALTH_WORDS[row.health]}, ${row.word}`;
  return [
    `${named(row.label)}${part}: ${spoken(state)}${since}.${why}`,
    ...row.children.flatMap((child) => rowSentences(child, row.label, now)),
  ];
}

/** `Machine w-2`: the slash between kind and name would be read out. */
const named = (label: string): string => spoken(label).replaceAll('/', ' ');

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** What is news between two looks, a line each, oldest rows of the tree first (experience X4). Empty when nothing is. */
export function changeLines(before: ClusterReport, after: ClusterReport, glyphs: Glyphs): readonly string[] {
  const old = linesOf(before.root, glyphs);
  const current = linesOf(after.root, glyphs);
  const changed = [...current].filter(([path, text]) => withoutAges(old.get(path) ?? '') !== withoutAges(text));
  const gone = [...old.keys()]
    .filter((path) => !current.has(path))
    .map((path) => `${path.split('\n').at(-1)}: gone`);
  const isNew = withoutAges(after.next ?? '') !== withoutAges(before.next ?? '') && after.next !== undefined;
  const next = isNew ? [`next: ${printable(after.next ?? '')}`] : [];
  return [...changed.map(([, text]) => text), ...gone.map(glyphs.text), ...next].map(
    (text) => `${timeOfDay(after.at)} ${text}`,
  );
}

/** By the path of labels: the same object may stand below several others. */
function linesOf(row: Row, glyphs: Glyphs, parent = ''): ReadonlyMap<string, string> {
  const path = `${parent}\n${labelOf(row)}`;
  const why = row.why === undefined ? '' : `: ${row.why}`;
  const text = `${glyphs.text(labelOf(row))}: ${glyphs.health[row.health]} ${glyphs.text(`${row.word}${why}`)}`;
  return new Map([[path, text], ...row.children.flatMap((child) => [...linesOf(child, glyphs, path)])]);
}
