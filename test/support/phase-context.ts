import { join } from 'node:path';
import type { ProgressRow } from '../../src/api/journey.ts';
import type { PhaseContext, Running } from '../../src/app/journey/phase.ts';
import { type Clock, SystemClock } from '../../src/base/clock.ts';

/** A phase by itself: what it said, and what it left running. */
export function phaseContext(folder: string, clock: Clock = new SystemClock()) {
  const kept: [string, Running][] = [];
  const said: string[] = [];
  const rows: ProgressRow[] = [];
  const stop = new AbortController();
  const context: PhaseContext = {
    clock,
    signal: stop.signal,
    folder,
    data: join(folder, '.slipway'),
    port: undefined,
    journey: {},
    progress: (detail) => void said.push(detail),
    row: (row) => void rows.push(row),
    removeRow: () => undefined,
    waitingFor: () => undefined,
    warn: (detail) => void said.push(detail),
    keep: (name, running) => void kept.push([name, running]),
  };
  const end = async (): Promise<void> => {
    // What came later may use what came before.
    for (const [, running] of kept.toReversed()) await running[Symbol.asyncDispose]();
  };
  return { context, kept, said, rows, stop, end };
}
