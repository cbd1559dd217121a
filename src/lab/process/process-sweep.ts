import type { Clock } from '../../base/clock.ts';
import { type Family, membersOf, type ProcessTable, signal } from './process-table.ts';

const FIRST_LOOK_MS = 2;
const LONGEST_LOOK_MS = 200;
/** After that somebody should know. */
const SUSPICIOUS_MS = 10_000;

export interface SweepOptions {
  readonly table: ProcessTable;
  /** Real time. */
  readonly clock: Clock;
  /** Ends the sweep, whoever is left. */
  readonly givenUp: AbortSignal;
  /** Called once with those whom SIGKILL did not end for a long time. */
  readonly onStuck: (pids: readonly number[]) => void;
}

/** SIGKILL to everybody of a family, also to those who left their group (P4), until nobody is left. */
export async function sweep(family: Family, { table, clock, givenUp, onStuck }: SweepOptions): Promise<void> {
  const startedMs = clock.monotonicMs();
  let isTold = false;
  for await (const _ of looks(clock, givenUp)) {
    const members = await membersOf(table, family).catch(() => undefined);
    if (members === undefined) continue;
    const left = members.map(({ pid }) => pid);
    if (left.length === 0) return;
    for (const pid of left) signal(pid, 'SIGKILL');
    if (isTold || clock.monotonicMs() - startedMs < SUSPICIOUS_MS) continue;
    isTold = true;
    onStuck(left);
  }
}

/** Moments to look whether something happened that no event tells: soon at first, then less often; none after the signal. */
export async function* looks(clock: Clock, ended: AbortSignal): AsyncGenerator<void> {
  for (let ms = FIRST_LOOK_MS; !ended.aborted; ms = Math.min(ms * 2, LONGEST_LOOK_MS)) {
    yield;
    await clock.sleep(ms, ended).catch(() => {});
  }
}
