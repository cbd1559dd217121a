import { mkdirSync, readFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { lockDirectory } from './directory-lock.ts';
import { HighWaterMark, type MarkFinding, readMark } from './high-water-mark.ts';
import type { JournalFailure, OnPoint, StoreBug } from './journal.ts';
import { JournaledStore } from './journaled-store.ts';
import { type Layout, layoutOf } from './layout.ts';
import { DamageFound, Loader, loadMeta } from './load.ts';
import { FIRST_REVISION, MvccCore } from './mvcc.ts';
import { StoreDamaged, StoreInUse, StoreTooNew } from './refusal.ts';
import { SqliteFile } from './sqlite-file.ts';
import { SqliteJournal } from './sqlite-journal.ts';
import type { Store } from './store.ts';
import { FORMAT, hasDatabase, installStore, type StoreMeta } from './store-file.ts';
import type { Durability } from './store-log.ts';
import { inspectWal, type WalTail } from './wal-tail.ts';

export interface SqliteStoreOptions {
  readonly directory: string;
  /** `full`: an acknowledged write survives a power cut. `normal`: it survives the end of the process only. */
  readonly durability: Durability;
  readonly clock: Clock;
  readonly log?: Log;
  /** This release, for the message to an older one. */
  readonly release?: string;
  /** For tests: called where the store could be stopped. Everything then happens on the calling thread. */
  readonly onPoint?: OnPoint;
  /** For tests: mistakes to plant. */
  readonly bugs?: ReadonlySet<StoreBug>;
}

interface Opened {
  readonly core: MvccCore;
  readonly meta: StoreMeta;
  readonly anchor: SqliteFile;
  readonly tail: WalTail;
}

/**
 * Opens the store of a directory, or makes one. Refuses with StoreDamaged, StoreTooNew or StoreInUse, and then has
 * changed nothing.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { directory, clock, log } = options;
  const layout = layoutOf(directory);
  using stack = new DisposableStack();
  const lock = stack.use(lockedDirectory(layout, clock));
  if (!hasDatabase(layout)) create(layout, options);
  const { core, meta, anchor, tail } = verified(layout, options);
  stack.use(anchor);
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

function lockedDirectory(layout: Layout, clock: Clock): Disposable {
  try {
    mkdirSync(layout.directory, { recursive: true, mode: 0o700 });
    return lockDirectory(layout, clock);
  } catch (error) {
    throw error instanceof StoreInUse ? error : unusable(layout, error);
  }
}

const unusable = ({ directory }: Layout, error: unknown): Error =>
  terminalError(
    'DataDirectoryUnusable',
    `the data directory ${directory} cannot be used: ${error instanceof Error ? error.message : 'unknown'}. ` +
      'Make it writable or choose another --data',
    { cause: error },
  );

function create(layout: Layout, { clock, release = 'unknown' }: SqliteStoreOptions): void {
  const mark = readMark(layout);
  if (mark !== 'missing') {
    throw new StoreDamaged(layout.directory, {
      file: layout.database,
      what: 'the file is missing',
      goodRevision: 0,
    });
  }
  installStore(layout, { incarnation: clock.uuid(), release, compactRevision: 0, rows: [] });
}

/** Everything in memory and found right, or an exception. */
function verified(layout: Layout, options: SqliteStoreOptions): Opened {
  const tail = inspectWal(layout.wal);
  const mark = readMark(layout);
  const core = new MvccCore();
  const anchor = new SqliteFile(layout.database, { readOnly: true });
  try {
    const meta = loadMeta(anchor);
    if (meta.format > FORMAT) {
      throw new StoreTooNew(meta, { format: FORMAT, release: options.release ?? 'unknown' });
    }
    new Loader(core, meta, options.bugs?.has('unchecked-rows') !== true).load(anchor);
    checkMark(layout, mark, { core, meta, tail });
    return { core, meta, anchor, tail };
  } catch (error) {
    anchor[Symbol.dispose]();
    if (!(error instanceof DamageFound)) throw error;
    const { message: what, goodRevision, sample } = error;
    throw new StoreDamaged(layout.directory, { ...placeOf(layout, sample), what, goodRevision });
  }
}

/** A database that ends before what was acknowledged has lost something, even if all that is left is right. */
function checkMark(layout: Layout, mark: MarkFinding, { core, meta, tail }: Omit<Opened, 'anchor'>): void {
  const { directory, mark: file } = layout;
  const goodRevision = core.revision;
  if (mark === 'damaged')
    throw new StoreDamaged(directory, { file, byte: 0, what: 'checksum mismatch', goodRevision });
  if (mark === 'missing') {
    // The database gets its name before the mark does; a power cut between leaves a new one without.
    if (core.revision === FIRST_REVISION && meta.compactRevision === 0) return writeFirstMark(layout, meta);
    throw new StoreDamaged(directory, { file, what: 'the file is missing', goodRevision });
  }
  if (mark.incarnation !== meta.incarnation) {
    throw new StoreDamaged(directory, {
      file,
      what: `it belongs to another store than ${layout.database}`,
      goodRevision,
    });
  }
  if (mark.revision <= core.revision) return;
  const what = `it ends at revision ${core.revision}, but revision ${mark.revision} was acknowledged`;
  const place = tail.leftBytes > 0 ? { file: layout.wal, byte: tail.byte } : { file: layout.database };
  throw new StoreDamaged(directory, { ...place, what, goodRevision });
}

function writeFirstMark(layout: Layout, { incarnation, compactRevision }: StoreMeta): void {
  using mark = new HighWaterMark(layout, incarnation);
  mark.write(compactRevision);
}

/** Where the bytes are, if they can be found. Nothing may have the files open: closing them ends locks. */
function placeOf({ database, wal }: Layout, sample: Uint8Array | undefined): { file: string; byte?: number } {
  if (sample === undefined || sample.byteLength < 16) return { file: database };
  for (const file of [wal, database]) {
    const byte = fileBytes(file).lastIndexOf(sample.subarray(0, 1024));
    if (byte >= 0) return { file, byte };
  }
  return { file: database };
}

function fileBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    return Buffer.alloc(0);
  }
}
