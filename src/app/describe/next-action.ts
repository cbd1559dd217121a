import { causesIn, labelOf, type Row } from './row.ts';

/**
 * The one thing to do. A pause comes first, because nothing else moves while it lasts; then what has failed, then what
 * needs attention, each in the order of the tree, which is that of causes. Undefined when there is nothing to do or wait
 * for.
 */
export function nextAction(root: Row): string | undefined {
  const causes = causesIn(root).filter(({ next }) => next !== undefined);
  const paused = root.word === 'paused' ? root : undefined;
  const chosen = paused ?? causes.find(({ health }) => health === 'failed') ?? causes[0];
  if (chosen?.next !== undefined) return chosen.next;
  const [problem] = causesIn(root);
  if (problem !== undefined) return `see ${labelOf(problem)}: ${problem.why ?? problem.word}`;
  return waitingText(root);
}

/** Nothing is wrong: what is waited for, from the deepest row that is at work. A Machine speaks for its parts. */
function waitingText(root: Row): string | undefined {
  const leaves = busyLeaves(root);
  const row = leaves.find(({ health }) => health === 'working') ?? leaves[0];
  if (row === undefined) return undefined;
  return `nothing to do but wait: ${labelOf(row)} is ${row.word}${row.why === undefined ? '' : `, ${row.why}`}`;
}

function busyLeaves(row: Row): readonly Row[] {
  const below = row.kind === 'Machine' ? [] : row.children.flatMap(busyLeaves);
  const isBusy = (row.health === 'working' || row.health === 'waiting') && row.isExtra !== true;
  return below.length > 0 || !isBusy ? below : [row];
}
