import type { Health, Row } from '../../api/journey.ts';

/** A line below a phase and those below it, in the order they first appeared. */
export interface RowNode {
  readonly name: string;
  /** Undefined while only its children have spoken. */
  readonly row: Row | undefined;
  /** When it began to do something, and when it was finished; RFC 3339. */
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  readonly children: readonly RowNode[];
}

// More siblings than anybody reads or a laptop runs; bounds memory when a name changes with every event by mistake.
const MOST_SIBLINGS = 1000;

/** The tree with `row` added or changed. Percent never goes backwards (experience X21). */
export function withRow(nodes: readonly RowNode[], row: Row, ts: string): readonly RowNode[] {
  return placed(nodes, row.path, row, ts);
}

function placed(
  nodes: readonly RowNode[],
  [name, ...rest]: readonly string[],
  row: Row,
  ts: string,
): readonly RowNode[] {
  if (name === undefined) return nodes;
  const at = nodes.findIndex((node) => node.name === name);
  if (at < 0 && nodes.length >= MOST_SIBLINGS) return nodes;
  const before = nodes[at] ?? { name, row: undefined, startedAt: undefined, endedAt: undefined, children: [] };
  const after =
    rest.length > 0 ? { ...before, children: placed(before.children, rest, row, ts) } : updated(before, row, ts);
  return at < 0 ? [...nodes, after] : nodes.with(at, after);
}

function updated(node: RowNode, row: Row, ts: string): RowNode {
  const percent = highest(node.row?.percent, row.percent);
  const hasStarted = row.health !== 'waiting' && row.health !== 'skipped';
  return {
    ...node,
    row: percent === undefined ? row : { ...row, percent },
    startedAt: node.startedAt ?? (hasStarted ? ts : undefined),
    endedAt: isOver(row.health) ? (node.endedAt ?? ts) : undefined,
  };
}

/** The running maximum of a number that may be missing on either side. */
export function highest(before: number | undefined, now: number | undefined): number | undefined {
  return before === undefined || now === undefined ? (now ?? before) : Math.max(before, now);
}

const isOver = (health: Health): boolean => health === 'done' || health === 'failed' || health === 'skipped';

/** The node at `path`, or undefined. */
export function rowAt(nodes: readonly RowNode[], [name, ...rest]: readonly string[]): RowNode | undefined {
  const node = nodes.find((candidate) => candidate.name === name);
  return node === undefined || rest.length === 0 ? node : rowAt(node.children, rest);
}

/** All nodes without children, in order. */
export const leaves = (nodes: readonly RowNode[]): readonly RowNode[] =>
  nodes.flatMap((node) => (node.children.length === 0 ? [node] : leaves(node.children)));

/** The health of a node, or for a mere group the worst of what is in it. */
export function healthOf(node: RowNode): Health {
  if (node.row !== undefined) return node.row.health;
  const healths = leaves([node]).map((leaf) => leaf.row?.health ?? 'waiting');
  return WORST_FIRST.find((health) => healths.includes(health)) ?? 'waiting';
}

const WORST_FIRST: readonly Health[] = ['failed', 'attention', 'working', 'waiting', 'done', 'skipped'];
