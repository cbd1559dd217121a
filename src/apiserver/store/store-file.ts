import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { HighWaterMark } from './high-water-mark.ts';
import { type Layout, syncPath } from './layout.ts';
import { SqliteFile, type SqlRow, type SqlStatement } from './sqlite-file.ts';

/** Raise it when an older release could not read, or would misread, what is written now. */
export const FORMAT = 1;

export interface StoreMeta {
  readonly format: number;
  /** The release that wrote the file last, for people. */
  readonly release: string;
  readonly incarnation: string;
  readonly compactRevision: number;
  /** How many rows there are up to the compact revision, and the sum of their checksums: those have gaps by right. */
  readonly baseCount: number;
  readonly baseSum: number;
}

export interface LogRow {
  readonly revision: number;
  readonly key: string;
  readonly isRemoval: boolean;
  readonly createRevision: number;
  readonly bytes: Uint8Array;
}

const SCHEMA = `
  CREATE TABLE log(
    rev INTEGER PRIMARY KEY, key TEXT NOT NULL, type INTEGER NOT NULL, create_rev INTEGER NOT NULL,
    len INTEGER NOT NULL, checksum INTEGER NOT NULL, val BLOB NOT NULL);
  CREATE TABLE meta(id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, text TEXT NOT NULL);
`;

const PUT = 0;
const REMOVAL = 1;

/** Over everything in the row, so that a row cannot be taken for another one either. */
export function rowChecksum({ revision, key, isRemoval, createRevision, bytes }: LogRow): number {
  const head = `${revision} ${isRemoval ? REMOVAL : PUT} ${createRevision} ${bytes.byteLength} ${key}\n`;
  return crc32(bytes, crc32(head));
}

export const SELECT_ROWS = 'SELECT rev, key, type, create_rev, len, checksum, val FROM log ORDER BY rev';

/** The row, or undefined when it is not what was written. */
export function checkedRow(row: SqlRow): LogRow | undefined {
  const found = uncheckedRow(row);
  const isRight = found !== undefined && row[4] === found.bytes.byteLength && row[5] === rowChecksum(found);
  return isRight ? found : undefined;
}

/** The row if it has the right shape, whatever it holds. */
export function uncheckedRow([revision, key, type, createRevision, , , bytes]: SqlRow): LogRow | undefined {
  if (typeof revision !== 'number' || typeof key !== 'string' || typeof createRevision !== 'number')
    return undefined;
  if (!(bytes instanceof Uint8Array) || (type !== PUT && type !== REMOVAL)) return undefined;
  return { revision, key, isRemoval: type === REMOVAL, createRevision, bytes };
}

/** Adds rows to the log. */
export class RowWriter {
  readonly #insert: SqlStatement;

  constructor(database: SqliteFile) {
    this.#insert = database.prepare(
      'INSERT INTO log(rev, key, type, create_rev, len, checksum, val) VALUES (?, ?, ?, ?, ?, ?, ?)',
    );
  }

  write(row: LogRow): void {
    const { revision, key, isRemoval, createRevision, bytes } = row;
    const type = isRemoval ? REMOVAL : PUT;
    this.#insert.run(revision, key, type, createRevision, bytes.byteLength, rowChecksum(row), bytes);
  }
}

export function writeMeta(database: SqliteFile, meta: StoreMeta): void {
  const text = JSON.stringify(meta);
  database.prepare('INSERT OR REPLACE INTO meta(id, checksum, text) VALUES (1, ?, ?)').run(crc32(text), text);
}

/** Undefined when it is missing or not what was written. */
export function readMeta(database: SqliteFile): StoreMeta | undefined {
  const [checksum, text] = database.prepare('SELECT checksum, text FROM meta WHERE id = 1').first() ?? [];
  if (typeof text !== 'string' || crc32(text) !== checksum) return undefined;
  const meta: StoreMeta = JSON.parse(text);
  return meta;
}

export interface NewStore {
  readonly incarnation: string;
  readonly release: string;
  /** Where revisions go on; history begins here. */
  readonly compactRevision: number;
  /** Current objects, one row per key. */
  readonly rows: Iterable<LogRow>;
}

/** Writes a complete, durable database file with these objects and no history. */
export function writeStoreFile(file: string, { rows, ...stamp }: NewStore): void {
  removeDatabase(file);
  makePrivate(file);
  using database = new SqliteFile(file);
  // Nobody reads it before it is complete and synced below.
  database.execute('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;');
  database.transaction(() => {
    database.execute(SCHEMA);
    const writer = new RowWriter(database);
    let baseCount = 0;
    let baseSum = 0;
    for (const row of rows) {
      writer.write(row);
      baseCount++;
      baseSum = (baseSum + rowChecksum(row)) >>> 0;
    }
    writeMeta(database, { format: FORMAT, ...stamp, baseCount, baseSum });
  });
  // Closing moves everything from the write-ahead log into the file and removes the log.
  database[Symbol.dispose]();
  syncPath(file);
}

/**
 * Puts a new database in its place, then its mark. Between the two a store without rows is merely new, and one with
 * rows is refused rather than trusted.
 */
export function installStore(layout: Layout, store: NewStore): void {
  writeStoreFile(layout.draft, store);
  rmSync(layout.wal, { force: true });
  rmSync(layout.walIndex, { force: true });
  renameSync(layout.draft, layout.database);
  syncPath(layout.directory);
  using mark = new HighWaterMark(layout, store.incarnation);
  mark.write(store.compactRevision);
}

export const hasDatabase = ({ database }: Layout): boolean => existsSync(database);

/** Made before SQLite opens it: it holds Secrets, so nobody but its owner may read it. */
export const makePrivate = (file: string): void => writeFileSync(file, '', { mode: 0o600 });

function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
}
