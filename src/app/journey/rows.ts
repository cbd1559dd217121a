import type { Health, JourneyEvent, ProgressRow } from '../../api/journey.ts';

/** A line below a phase and those below it, in the order they first appeared. */
export interface RowNode {
  readonly name: string;
  /** Undefined while only its children have spoken. */
  readonly row: ProgressRow | undefined;
  /** When it began to do something, and when it was finished, in the time of events (`atMs`). */
  readonly startedMs: number | undefined;
  readonly endedMs: number | undefined;
  readonly children: readonly RowNode[];
}

// More siblings than anybody reads or a laptop runs; bounds memory when a name changes with every event by mistake.
const MOST_SIBLINGS = 1000;

/** When an event happened, on both clocks. */
type Instant = Pick<JourneyEvent, 'ts' | 'atMs'>;

/** The tree with `row` added or changed. Percent never goes backwards (experience X21). */
export function withRow(nodes: readonly RowNode[], row: ProgressRow, at: Instant): readonly RowNode[] {
  return placed(nodes, row.path, row, at);
}

/** The tree without the node at `path`, and without groups that were only there for it. */
export function withoutRow(nodes: readonly RowNode[], [name, ...rest]: readonly string[]): readonly RowNode[] {
  const at = nodes.findIndex((node) => node.name === name);
  const node = nodes[at];
  if (node === undefined) return nodes;
  const children = withoutRow(node.children, rest);
  const isGone = rest.length === 0 || (children.length === 0 && node.row === undefined);
  return isGone ? nodes.toSpliced(at, 1) : nodes.with(at, { ...node, children });
}

function placed(
  nodes: readonly RowNode[],
  [name, ...rest]: readonly string[],
  row: ProgressRow,
  instant: Instant,
): readonly RowNode[] {
  if (name === undefined) return nodes;
  const at = nodes.findIndex((node) => node.name === name);
  if (at < 0 && nodes.length >= MOST_SIBLINGS) return nodes;
  const before = nodes[at] ?? { name, row: undefined, ...NEW };
  const after =
    rest.length > 0
      ? { ...before, children: placed(before.children, rest, row, instant) }
      : updated(before, row, instant);
  return at < 0 ? [...nodes, after] : nodes.with(at, after);
}

const NEW = { startedMs: undefined, endedMs: undefined, children: [] } as const;

function updated(node: RowNode, row: ProgressRow, { ts, atMs }: Instant): RowNode {
  const percent = highest(node.row?.percent, row.percent);
  const hasStarted = row.health !== 'waiting' && row.health !== 'skipped';
  return {
    ...node,
    row: percent === undefined ? row : { ...row, percent },
    startedMs: sinceMs(row, { ts, atMs }) ?? node.startedMs ?? (hasStarted ? atMs : undefined),
    endedMs: isOver(row.health) ? (node.endedMs ?? atMs) : undefined,
  };
}

/** `since` in the time of events. How long ago it was is taken once, when it is told: the wall clock may jump later. */
function sinceMs({ since }: ProgressRow, { ts, atMs }: Instant): number | undefined {
  const agoMs = Date.parse(ts) - Date.parse(since ?? '');
  return Number.isNaN(agoMs) ? undefined : atMs - Math.max(0, agoMs);
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

/** Percent is worth a line each time it passes one of these steps. */
const PERCENT_STEP = 25;

export const hasPassedStep = (was: number | undefined, now: number | undefined): boolean =>
  now !== undefined && Math.floor(now / PERCENT_STEP) > Math.floor((was ?? 0) / PERCENT_STEP);

/** The row at `path` as it is now, when it differs from before in something worth a line (experience 4.3). */
export function rowNews(
  path: readonly string[],
  rowsNow: readonly RowNode[],
  rowsBefore: readonly RowNode[],
): ProgressRow | undefined {
  const [now, was] = [rowAt(rowsNow, path)?.row, rowAt(rowsBefore, path)?.row];
  const isNews =
    now?.word !== was?.word || now?.health !== was?.health || hasPassedStep(was?.percent, now?.percent);
  return isNews ? now : undefined;
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
