import { closeSync, fdatasyncSync, fstatSync, openSync, writeSync } from 'node:fs';
import { messageOf } from '../../base/errors.ts';
import { freeBytes, fullMessage, keepReserve, releaseReserve } from './disk-room.ts';
import { HighWaterMark } from './high-water-mark.ts';
import { type CompactionStep, JournalFailure, type OnPoint, type StoreBug } from './journal.ts';
import type { Layout } from './layout.ts';
import { SQLITE_FULL, SqliteFile, type SqlStatement, sqliteCode } from './sqlite-file.ts';
import { type LogRow, RowWriter, type StoreMeta, writeMeta } from './store-file.ts';

export type Durability = 'full' | 'normal';

export interface StoreLogOptions {
  readonly layout: Layout;
  readonly durability: Durability;
  readonly meta: StoreMeta;
  /** The highest committed revision. */
  readonly revision: number;
  readonly bugs: ReadonlySet<StoreBug>;
  readonly onPoint?: OnPoint | undefined;
}

const PAGE_BYTES = 4096;
const WAL_FRAME_BYTES = PAGE_BYTES + 24;
/** Pages in the write-ahead log after which it is emptied when nobody waits, and after which even if somebody does. */
const CHECKPOINT_PAGES = 1000;
const LATEST_CHECKPOINT_PAGES = 8 * CHECKPOINT_PAGES;
const PREALLOCATED_BYTES = 32 + CHECKPOINT_PAGES * WAL_FRAME_BYTES;
/** On a small disk the room is worth more than the time. */
const ROOM_TO_PREALLOCATE = 512 * 1024 * 1024;

/**
 * The writing side of the database file, synchronous, on whichever thread owns it. A commit writes to the write-ahead
 * log of SQLite; the sync is ours and not SQLite's, because it uses fsync, which also waits for the time stamps of the
 * file, where fdatasync waits for the data only.
 */
export class StoreLog {
  readonly #options: StoreLogOptions;
  readonly #database: SqliteFile;
  readonly #mark: HighWaterMark;
  readonly #writer: RowWriter;
  readonly #delete: SqlStatement;
  readonly #sum: SqlStatement;
  readonly #wal: number;
  #meta: StoreMeta;
  #revision: number;
  /** Estimate: SQLite does not say without being asked to move them. */
  #walPages = 0;
  #isReserveGiven = false;
  /** Set by the first failure after which the files are not to be touched. */
  #failure: JournalFailure | undefined;

  constructor(options: StoreLogOptions) {
    const { layout, meta, revision, bugs, onPoint } = options;
    this.#options = options;
    this.#meta = meta;
    this.#revision = revision;
    this.#database = new SqliteFile(layout.database);
    // NORMAL still syncs around checkpoints, in the right order.
    const synchronous = bugs.has('no-sync') ? 'OFF' : 'NORMAL';
    this.#database.execute(`PRAGMA synchronous = ${synchronous}; PRAGMA wal_autocheckpoint = 0;`);
    this.#writer = new RowWriter(this.#database);
    this.#delete = this.#database.prepare('DELETE FROM log WHERE rev = ? RETURNING checksum');
    this.#sum = this.#database.prepare('SELECT count(*), sum(checksum) FROM log WHERE rev > ? AND rev <= ?');
    this.#sum.first(0, 0);
    // There since the read above, and for as long as a connection is open.
    this.#wal = openSync(layout.wal, 'r+');
    this.#mark = new HighWaterMark(layout, meta.incarnation, onPoint);
    keepReserve(layout);
  }

  get meta(): StoreMeta {
    return this.#meta;
  }

  get revision(): number {
    return this.#revision;
  }

  get isBroken(): boolean {
    return this.#failure !== undefined;
  }

  get isCheckpointDue(): boolean {
    return this.#walPages >= CHECKPOINT_PAGES && !this.isBroken;
  }

  get isCheckpointOverdue(): boolean {
    return this.#walPages >= LATEST_CHECKPOINT_PAGES;
  }

  append(rows: readonly LogRow[]): void {
    this.#mustBeSound();
    try {
      this.#commit(rows);
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_FULL) throw this.#broken(error);
      this.#commitWhenFull(rows);
      return;
    }
    if (this.#isReserveGiven) this.#isReserveGiven = !keepReserve(this.#options.layout);
  }

  /** The step is complete or did not happen: rows, compact revision and counts change in one transaction. */
  compact({ from, to, doomed }: CompactionStep): void {
    const point = this.#options.onPoint;
    this.#mustBeSound();
    point?.('before-compact');
    let meta = this.#meta;
    try {
      this.#database.transaction(() => {
        const [count, sum] = this.#sum.first(from, to) ?? [];
        let baseCount = this.#meta.baseCount + Number(count);
        let baseSum = this.#meta.baseSum + Number(sum ?? 0);
        for (const revision of doomed) {
          baseSum -= Number(this.#delete.first(revision)?.[0] ?? 0);
          baseCount--;
        }
        meta = { ...meta, compactRevision: to, baseCount, baseSum: modulo32(baseSum) };
        writeMeta(this.#database, meta);
        point?.('compact-before-commit');
      });
    } catch (error) {
      throw sqliteCode(error) === SQLITE_FULL
        ? new JournalFailure('full', fullMessage(this.#options.layout.directory))
        : this.#broken(error);
    }
    this.#meta = meta;
    this.#walPages += 2 + doomed.length;
    point?.('after-compact');
  }

  /** Moves the write-ahead log into the database and remembers how far that is. A full disk puts it off. */
  checkpoint(mode: 'PASSIVE' | 'TRUNCATE' = 'PASSIVE'): void {
    const point = this.#options.onPoint;
    this.#mustBeSound();
    point?.('before-checkpoint');
    try {
      if (this.#database.checkpoint(mode).isComplete) this.#mark.write(this.#revision);
      this.#walPages = 0;
    } catch (error) {
      if (!isFull(error)) throw this.#broken(error);
    }
    point?.('after-checkpoint');
  }

  /** Syncing is twice as fast where the file need not grow. Only for the owner of the only writing connection. */
  preallocate(): void {
    const { durability, layout } = this.#options;
    const { size } = fstatSync(this.#wal);
    if (durability !== 'full' || size >= PREALLOCATED_BYTES) return;
    if (freeBytes(layout.directory) < ROOM_TO_PREALLOCATE) return;
    // Behind everything that SQLite has written; zeros are no frames to it.
    writeSync(this.#wal, Buffer.alloc(PREALLOCATED_BYTES - size), 0, PREALLOCATED_BYTES - size, size);
    fdatasyncSync(this.#wal);
  }

  /** Everything in the database file, nothing in the log, and the mark at the end. */
  finish(): void {
    this.checkpoint('TRUNCATE');
    this.abandon();
  }

  /** Only lets go: as long as another connection is open, closing this one writes nothing. */
  abandon(): void {
    closeSync(this.#wal);
    this.#mark[Symbol.dispose]();
    this.#database[Symbol.dispose]();
  }

  #commit(rows: readonly LogRow[]): void {
    const point = this.#options.onPoint;
    let bytes = 0;
    point?.('before-append');
    this.#database.transaction(() => {
      for (const row of rows) {
        this.#writer.write(row);
        bytes += row.bytes.byteLength;
      }
    });
    point?.('after-append');
    // SQLite's part is done; from here on the rows count, whatever happens.
    if (this.#options.durability === 'full') this.#sync();
    this.#revision = rows.at(-1)?.revision ?? this.#revision;
    this.#walPages += 2 + Math.ceil(bytes / (PAGE_BYTES - 512));
    if (this.#options.durability === 'full') this.#note();
  }

  #sync(): void {
    const { onPoint, bugs } = this.#options;
    onPoint?.('before-sync');
    if (!bugs.has('no-sync')) {
      try {
        fdatasyncSync(this.#wal);
      } catch (error) {
        if (!bugs.has('retried-sync')) throw error;
        fdatasyncSync(this.#wal);
      }
    }
    onPoint?.('after-sync');
  }

  /** A mark that lags behind is still true. */
  #note(): void {
    try {
      this.#mark.note(this.#revision);
    } catch {
      // The next checkpoint writes it anew, and says what is wrong.
    }
  }

  /** The log often holds a page many times, so emptying it makes room; the reserve is for those who remove. */
  #commitWhenFull(rows: readonly LogRow[]): void {
    const { layout } = this.#options;
    const ways = [
      () => this.#hasShrunk(),
      () => rows.some(({ isRemoval }) => isRemoval) && this.#hasGivenReserve(),
    ];
    for (const hasHelped of ways) {
      try {
        if (!hasHelped()) continue;
        this.#commit(rows);
        return;
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_FULL) throw this.#broken(error);
      }
    }
    throw new JournalFailure('full', fullMessage(layout.directory));
  }

  #hasShrunk(): boolean {
    const { isComplete } = this.#database.checkpoint('TRUNCATE');
    if (isComplete) this.#walPages = 0;
    return isComplete;
  }

  #hasGivenReserve(): boolean {
    this.#isReserveGiven = true;
    return releaseReserve(this.#options.layout);
  }

  #mustBeSound(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #broken(error: unknown): JournalFailure {
    if (error instanceof JournalFailure) return error;
    const { database } = this.#options.layout;
    this.#failure = new JournalFailure(
      'broken',
      `the object was not stored: writing to ${database} failed (${messageOf(error)}). What the disk holds is no longer ` +
        'certain, so writes are refused until the server is started again; reads still work',
      { cause: error },
    );
    return this.#failure;
  }
}

const modulo32 = (sum: number): number => ((sum % 2 ** 32) + 2 ** 32) % 2 ** 32;

const isFull = (error: unknown): boolean =>
  sqliteCode(error) === SQLITE_FULL || (error instanceof Error && 'code' in error && error.code === 'ENOSPC');
