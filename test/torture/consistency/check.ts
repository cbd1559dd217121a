import { checkReads } from './check-reads.ts';
import { checkWatches } from './check-watches.ts';
import { checkRefusals, checkWrites } from './check-writes.ts';
import type { History, Violation } from './history.ts';
import { Truth } from './truth.ts';

/** Everything in a history that a consistent server could not have said (reliability T4). */
export function check(history: History): readonly Violation[] {
  const truth = new Truth(history);
  return [
    ...checkWrites(history, truth),
    ...checkRefusals(history, truth),
    ...checkReads(history, truth),
    ...checkWatches(history, truth),
  ];
}
