import type { Clock } from '../../base/clock.ts';
import { SlipwayError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { lockDirectory, unusable } from './directory-lock.ts';
import { HighWaterMark, readMark } from './high-water-mark.ts';
import type { JournalFailure, OnPoint, StoreBug } from './journal.ts';
import { JournaledStore } from './journaled-store.ts';
import { type Layout, layoutOf } from './layout.ts';
import { StoreDamaged } from './refusal.ts';
import { SqliteJournal } from './sqlite-journal.ts';
import type { Store } from './store.ts';
import { hasDatabase, installStore, type StoreMeta } from './store-file.ts';
import type { Durability } from './store-log.ts';
import { verified } from './verify.ts';

export interface SqliteStoreOptions {
  readonly directory: string;
  /** `full`: an acknowledged write survives a power cut. `normal`: it survives the end of the process only. */
  readonly durability: Durability;
  readonly clock: Clock;
  readonly log?: Log;
  /** This release, for the message to an older one. */
  readonly release?: string;
  /** The program that uses the directory, such as `slipway up`, for the message to a second one. */
  readonly program?: string;
  /** For tests: called where the store could be stopped. Everything then happens on the calling thread. */
  readonly onPoint?: OnPoint;
  /** For tests: mistakes to plant. */
  readonly bugs?: ReadonlySet<StoreBug>;
}

/**
 * Opens the store of a directory, or makes one. Refuses with StoreDamaged, StoreTooNew or StoreInUse, and then has
 * changed nothing.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, log, clock } = options;
  const layout = layoutOf(directory);
  using stack = new DisposableStack();
  const lock = stack.use(lockDirectory(layout, options));
  if (!hasDatabase(layout)) create(layout, options);
  const { core, meta, anchor, tail, isMarkMissing } = verified(layout, options);
  stack.use(anchor);
  if (isMarkMissing) writeFirstMark(layout, meta);
  const bugs = options.bugs ?? new Set<StoreBug>();
  let store: JournaledStore | undefined;
  const journal = new SqliteJournal({
    log: { layout, durability: options.durability, meta, revision: core.revision, bugs, onPoint: options.onPoint },
    anchor,
    lock,
    hasThread: options.onPoint === undefined,
    onFailure: (failure: JournalFailure) => store?.abort(failure),
    onTakeover: () => log?.debug({ directory }, 'the thread of the store has taken over'),
  });
  if (tail.leftBytes > 0) {
    const fields = { file: layout.wal, byte: tail.byte, bytes: tail.leftBytes, revision: core.revision };
    log?.warn(fields, 'the store ended in the middle of a write, which was never acknowledged and is cut off');
    journal.discardTail();
  }
  stack.move();
  const { onPoint } = options;
  store = new JournaledStore({ core, journal, clock, incarnation: meta.incarnation, log, onPoint, bugs });
  return store;
}

function create(layout: Layout, { clock, release = 'unknown' }: SqliteStoreOptions): void {
  const mark = readMark(layout);
  if (mark !== 'missing') {
    throw new StoreDamaged(layout.directory, {
      file: layout.database,
      what: 'the file is missing',
      goodRevision: 0,
    });
  }
  try {
    installStore(layout, { incarnation: clock.uuid(), release, compactRevision: 0, rows: [] });
  } catch (error) {
    throw error instanceof SlipwayError ? error : unusable(layout, error);
  }
}

function writeFirstMark(layout: Layout, { incarnation, compactRevision }: StoreMeta): void {
  using mark = new HighWaterMark(layout, incarnation);
  mark.write(compactRevision);
}
