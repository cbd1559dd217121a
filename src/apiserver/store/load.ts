import { messageOf } from '../../base/errors.ts';
import type { MvccCore } from './mvcc.ts';
import type { SqliteFile } from './sqlite-file.ts';
import type { Entry } from './store.ts';
import {
  checkedRow,
  type LogRow,
  readMeta,
  rowChecksum,
  SELECT_ROWS,
  type StoreMeta,
  uncheckedRow,
} from './store-file.ts';

/** What is wrong with a database; becomes StoreDamaged once the files are closed and the place can be looked for. */
export class DamageFound extends Error {
  override readonly name = 'DamageFound';
  readonly goodRevision: number;
  /** Bytes as they are in the file, to find them by. */
  readonly sample: Uint8Array | undefined;

  constructor(what: string, goodRevision: number, sample?: Uint8Array) {
    super(what);
    this.goodRevision = goodRevision;
    this.sample = sample;
  }
}

/** Any error of SQLite while it only reads means that the file is not what was written. */
function orDamaged<T>(read: () => T, goodRevision: () => number): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof DamageFound) throw error;
    throw new DamageFound(messageOf(error), goodRevision());
  }
}

export function loadMeta(database: SqliteFile): StoreMeta {
  const meta = orDamaged(
    () => readMeta(database),
    () => lastRevision(database),
  );
  if (meta !== undefined) return meta;
  throw new DamageFound('checksum mismatch in the description of the store', lastRevision(database));
}

function lastRevision(database: SqliteFile): number {
  try {
    return Number(database.prepare('SELECT max(rev) FROM log').first()?.[0] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Reads everything into memory and verifies it: each row by its checksum, rows above the compact revision by their
 * revisions without a gap, the others by their number and the sum of their checksums.
 */
export class Loader {
  readonly #core: MvccCore;
  readonly #meta: StoreMeta;
  readonly #isChecked: boolean;
  #records = 0;
  #baseCount = 0;
  #baseSum = 0;
  #last = 0;

  constructor(core: MvccCore, meta: StoreMeta, isChecked: boolean) {
    this.#core = core;
    this.#meta = meta;
    this.#isChecked = isChecked;
    core.startAt(meta.compactRevision);
  }

  load(database: SqliteFile): void {
    const { compactRevision, baseCount, baseSum } = this.#meta;
    const good = () => this.#last;
    orDamaged(() => {
      for (const row of database.prepare(SELECT_ROWS).rows()) {
        this.#records++;
        const found = this.#isChecked ? checkedRow(row) : uncheckedRow(row);
        if (found === undefined) throw this.#mismatch(row);
        this.#take(found);
      }
    }, good);
    if (this.#isChecked && (this.#baseCount !== baseCount || this.#baseSum !== baseSum)) {
      const what = `${baseCount} records were written up to revision ${compactRevision}, and ${this.#baseCount} are there`;
      const others = `records up to revision ${compactRevision} are not those that were written`;
      throw new DamageFound(this.#baseCount === baseCount ? others : what, this.#core.revision);
    }
    orDamaged(() => checkPages(database, this.#core.revision), good);
  }

  #take(row: LogRow): void {
    const isBase = row.revision <= this.#meta.compactRevision;
    const previous = this.#core.get(row.key);
    if (isBase) {
      this.#baseCount++;
      this.#baseSum = (this.#baseSum + rowChecksum(row)) >>> 0;
      if (previous !== undefined || row.isRemoval) throw this.#outOfPlace(row.revision);
    } else if (row.revision !== this.#core.revision + 1) {
      throw new DamageFound(`revision ${this.#core.revision + 1} is missing`, this.#core.revision);
    }
    const { revision, createRevision, bytes, isRemoval } = row;
    const key = previous?.key ?? row.key;
    const entry: Entry = { key, revision, createRevision, bytes };
    if (isBase) this.#core.adopt(entry);
    else this.#core.publish({ revision, key, entry, previous, isRemoval });
    this.#last = revision;
  }

  #mismatch(row: readonly unknown[]): DamageFound {
    const [revision, , , , , , bytes] = row;
    const what = `checksum mismatch in record ${this.#records} (revision ${String(revision)})`;
    const good = typeof revision === 'number' ? Math.max(revision - 1, 0) : this.#last;
    return new DamageFound(what, good, bytes instanceof Uint8Array ? bytes : undefined);
  }

  #outOfPlace(revision: number): DamageFound {
    return new DamageFound(
      `record ${this.#records} (revision ${revision}) should have been compacted`,
      this.#last,
    );
  }
}

/** Also what holds no rows must be in order before anything is written: the list of free pages, above all. */
function checkPages(database: SqliteFile, revision: number): void {
  const [mode] = database.prepare('PRAGMA journal_mode').first() ?? [];
  if (mode !== 'wal') throw new DamageFound(`the journal mode is ${String(mode)} and not wal`, revision);
  const [verdict] = database.prepare('PRAGMA quick_check(1)').first() ?? [];
  if (verdict !== 'ok') throw new DamageFound(String(verdict).replaceAll('\n', ' '), revision);
}
