import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Journal } from './journal.ts';
import { JournaledStore } from './journaled-store.ts';
import { MvccCore } from './mvcc.ts';
import type { Entry, Store } from './store.ts';
import { type LogRow, writeStoreFile } from './store-file.ts';

export interface MemoryStoreOptions {
  readonly clock: Clock;
  readonly log?: Log;
}

const ROUNDS_PER_TURN = 256;

/** A store that ends with the process: nothing to wait for, everything else as on disk. */
export function createMemoryStore({ clock, log }: MemoryStoreOptions): Store {
  const core = new MvccCore();
  const incarnation = clock.uuid();
  let rounds = 0;
  const journal: Journal = {
    // Not at once: a listener that writes must not overtake the event that the others have yet to get. And now and then
    // a turn of the event loop, which somebody who writes without end would otherwise stop for everybody.
    schedule: (run) => void (++rounds % ROUNDS_PER_TURN === 0 ? setImmediate(run) : queueMicrotask(run)),
    append: () => undefined,
    compact: () => undefined,
    backup: async (file) => {
      const rows = [...core.list('')].map(rowOfEntry).sort((a, b) => a.revision - b.revision);
      writeStoreFile(file, { incarnation, release: 'memory', compactRevision: core.revision, rows });
    },
    lackOfRoom: () => undefined,
    close: () => Promise.resolve(),
  };
  return new JournaledStore({ core, journal, clock, incarnation, log });
}

export const rowOfEntry = ({ key, revision, createRevision, bytes }: Entry): LogRow => ({
  revision,
  key,
  isRemoval: false,
  createRevision,
  bytes,
});
