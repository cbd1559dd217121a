import type { Health } from '../../api/journey.ts';
import { healthOf, leaves, type RowNode } from '../../app/journey/rows.ts';
import type { Glyphs } from './symbols.ts';

/** A part of the tree below a phase as it is drawn. Counts are of things, not of lines. */
export type Branch =
  | { readonly kind: 'leaf'; readonly node: RowNode }
  | { readonly kind: 'group'; readonly node: RowNode; readonly branches: readonly Branch[] }
  /** Finished things in one line; `name` = all of that group. */
  | { readonly kind: 'fold'; readonly count: number; readonly name?: string }
  /** Things there is no room for. */
  | { readonly kind: 'more'; readonly count: number };

/** What is given up first when there is no room; problems stay as long as anything does (experience X3). */
const GIVEN_UP_FIRST: readonly Health[] = ['skipped', 'waiting', 'working', 'done', 'attention', 'failed'];

/** The picture of a tree in at most `room` items: finished branches fold first, then the least telling things go. */
export function fitted<Item>(
  nodes: readonly RowNode[],
  room: number,
  draw: (branches: readonly Branch[]) => readonly Item[],
): readonly Item[] {
  const all = draw(branchesOf(nodes, EVERYTHING));
  if (all.length <= room) return all;
  const things = leaves(nodes);
  const candidates = GIVEN_UP_FIRST.flatMap((health) =>
    things.filter((leaf) => healthOf(leaf) === health).toReversed(),
  );
  let hidden = 0;
  let items = draw(branchesOf(nodes, FOLDED));
  while (items.length > room && hidden < candidates.length) {
    // The line that says how many more there are needs a place too.
    hidden += items.length - room + (hidden === 0 ? 1 : 0);
    const shown = branchesOf(nodes, { isFolding: true, hidden: new Set(candidates.slice(0, hidden)) });
    items = draw([...shown, { kind: 'more', count: things.length - thingsIn(shown) }]);
  }
  return items.slice(0, Math.max(0, room));
}

/** What a picture leaves out. */
interface Cut {
  readonly isFolding: boolean;
  readonly hidden: ReadonlySet<RowNode>;
}

const EVERYTHING: Cut = { isFolding: false, hidden: new Set() };
const FOLDED: Cut = { isFolding: true, hidden: new Set() };

function branchesOf(nodes: readonly RowNode[], cut: Cut): readonly Branch[] {
  const finished = nodes.filter((node) => node.children.length === 0 && healthOf(node) === 'done');
  if (!cut.isFolding || finished.length < 2) return nodes.flatMap((node) => branchOf(node, cut));
  const folded = new Set(finished);
  const others = nodes.filter((node) => !folded.has(node)).flatMap((node) => branchOf(node, cut));
  return [...foldOf(finished, cut), ...others];
}

function branchOf(node: RowNode, cut: Cut): readonly Branch[] {
  if (node.children.length === 0) return cut.hidden.has(node) ? [] : [{ kind: 'leaf', node }];
  const things = leaves(node.children);
  const isFinished = !isProblem(node.row?.health) && things.every((leaf) => healthOf(leaf) === 'done');
  if (cut.isFolding && isFinished) return foldOf(things, cut, node.name);
  const branches = branchesOf(node.children, cut);
  const isEmpty = branches.length === 0 && !isProblem(node.row?.health);
  return isEmpty ? [] : [{ kind: 'group', node, branches }];
}

/** A fold says a true count, so it is there for all its things or not at all. */
function foldOf(finished: readonly RowNode[], { hidden }: Cut, name?: string): readonly Branch[] {
  if (finished.some((node) => hidden.has(node))) return [];
  return [{ kind: 'fold', count: finished.length, ...(name !== undefined && { name }) }];
}

export const isProblem = (health: Health | undefined): boolean => health === 'failed' || health === 'attention';

const thingsIn = (branches: readonly Branch[]): number =>
  branches.reduce((sum, branch) => sum + thingsInOne(branch), 0);

function thingsInOne(branch: Branch): number {
  switch (branch.kind) {
    case 'leaf':
      return 1;
    case 'group':
      return thingsIn(branch.branches);
    case 'fold':
      return branch.count;
    case 'more':
      return 0;
  }
}

/** One line of the tree, before it is laid out. */
export interface TreeRow {
  readonly prefix: string;
  readonly branch: Branch;
}

/** The branches line by line, with the lines that join them. */
export function treeRows(branches: readonly Branch[], glyphs: Glyphs, prefix = ''): readonly TreeRow[] {
  const { fork, last, pipe, gap } = glyphs.tree;
  return branches.flatMap((branch, at) => {
    const isLast = at === branches.length - 1;
    const own = { prefix: prefix + (isLast ? last : fork), branch };
    return branch.kind === 'group'
      ? [own, ...treeRows(branch.branches, glyphs, prefix + (isLast ? gap : pipe))]
      : [own];
  });
}
