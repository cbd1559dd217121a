import type { Health } from '../../api/journey.ts';
import { healthOf, leaves, type RowNode } from '../../app/journey/rows.ts';
import type { Glyphs } from './symbols.ts';

/** One line of the tree below a phase, before it is laid out. */
export type TreeRow =
  | { readonly kind: 'leaf' | 'group'; readonly prefix: string; readonly node: RowNode }
  /** Several things in one line, because there is no room for each. */
  | {
      readonly kind: 'folded';
      readonly prefix: string;
      readonly text: string;
      readonly health: Health | undefined;
    };

/** What is given up first when there is no room; problems stay as long as anything does (experience X3). */
const GIVEN_UP_FIRST: readonly Health[] = ['skipped', 'waiting', 'working', 'attention', 'failed'];

/** The tree as lines, at most `room` of them: finished branches fold first, then the least telling lines go. */
export function treeRows(nodes: readonly RowNode[], room: number, glyphs: Glyphs): readonly TreeRow[] {
  const all = flattened(nodes, '', glyphs);
  if (all.length <= room) return all;
  const folded = flattened(nodes.map(withoutFinished), '', glyphs);
  return folded.length <= room ? folded : thinned(folded, room, glyphs);
}

function flattened(nodes: readonly RowNode[], prefix: string, glyphs: Glyphs): readonly TreeRow[] {
  return nodes.flatMap((node, at) => {
    const isLast = at === nodes.length - 1;
    const { fork, last, pipe, gap } = glyphs.tree;
    const own = prefix + (isLast ? last : fork);
    if (isFolded(node)) return [{ kind: 'folded', prefix: own, text: node.name, health: 'done' }];
    if (node.children.length === 0) return [{ kind: 'leaf', prefix: own, node }];
    const below = flattened(node.children, prefix + (isLast ? gap : pipe), glyphs);
    return [{ kind: 'group', prefix: own, node }, ...below];
  });
}

/** Stands for finished siblings; a mark of our own, because a name from outside can look like anything. */
const folds = new WeakSet<RowNode>();

const isFolded = (node: RowNode): boolean => folds.has(node);

function withoutFinished(node: RowNode): RowNode {
  const count = leaves([node]).length;
  if (node.children.length > 0 && leaves([node]).every((leaf) => healthOf(leaf) === 'done')) {
    return fold(`${count} of ${node.name}`);
  }
  const finished = node.children.filter((child) => child.children.length === 0 && healthOf(child) === 'done');
  if (finished.length < 2) return { ...node, children: node.children.map(withoutFinished) };
  const others = node.children.filter((child) => !finished.includes(child)).map(withoutFinished);
  return { ...node, children: [fold(`${finished.length} done`), ...others] };
}

function fold(name: string): RowNode {
  const node = { name, row: undefined, startedAt: undefined, endedAt: undefined, children: [] };
  folds.add(node);
  return node;
}

function thinned(rows: readonly TreeRow[], room: number, glyphs: Glyphs): readonly TreeRow[] {
  const kept = [...rows];
  for (const health of GIVEN_UP_FIRST) {
    for (let at = kept.length - 1; at >= 0 && kept.length > room - 1; at--) {
      const row = kept[at];
      if (row?.kind === 'leaf' && healthOf(row.node) === health) kept.splice(at, 1);
    }
  }
  const shown = kept.slice(0, Math.max(0, room - 1));
  const hidden = rows.length - shown.length;
  const more = { kind: 'folded', prefix: glyphs.tree.last, text: `${hidden} more`, health: undefined } as const;
  return room < 1 ? [] : [...shown, more];
}
