import { backup, DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';

/** The only file that knows `node:sqlite`, whose interface is young (embedded-apiserver §27). */

export type SqlValue = SQLInputValue;
export type SqlRow = readonly SQLOutputValue[];

/** Primary result codes of SQLite that mean something to us. */
const SQLITE_BUSY = 5;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;

/** The primary result code of an error of SQLite; undefined for any other error. */
export function sqliteCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

export class SqlStatement {
  readonly #statement: StatementSync;

  constructor(statement: StatementSync) {
    this.#statement = statement;
    statement.setReturnArrays(true);
  }

  run(...values: SqlValue[]): void {
    this.#statement.run(...values);
  }

  first(...values: SqlValue[]): SqlRow | undefined {
    return asRow(this.#statement.get(...values));
  }

  *rows(...values: SqlValue[]): Generator<SqlRow, undefined> {
    for (const row of this.#statement.iterate(...values)) yield asRow(row) ?? [];
    return undefined;
  }
}

/** With setReturnArrays rows are arrays, which the declarations of Node do not say. */
const asRow = (row: unknown): SqlRow | undefined => (Array.isArray(row) ? row : undefined);

export interface Checkpointed {
  /** Everything in the write-ahead log is in the database now. */
  readonly isComplete: boolean;
}

/** One connection to one database file. */
export class SqliteFile implements Disposable {
  readonly #database: DatabaseSync;

  constructor(file: string, { readOnly = false }: { readonly readOnly?: boolean } = {}) {
    this.#database = new DatabaseSync(file, { readOnly, timeout: 5000 });
  }

  execute(sql: string): void {
    this.#database.exec(sql);
  }

  prepare(sql: string): SqlStatement {
    return new SqlStatement(this.#database.prepare(sql));
  }

  /** All or nothing; the error that ended it is passed on. */
  transaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#database.exec('COMMIT');
    } catch (error) {
      // SQLite rolls some failures back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  checkpoint(mode: 'PASSIVE' | 'TRUNCATE'): Checkpointed {
    const [busy, frames, moved] = this.prepare(`PRAGMA wal_checkpoint(${mode})`).first() ?? [];
    return { isComplete: busy === 0 && frames === moved };
  }

  /** Copies a snapshot on a thread of the pool; writers of other connections go on meanwhile. */
  async backupTo(file: string): Promise<void> {
    await backup(this.#database, file, { rate: ALL_PAGES });
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/** In several steps, a copy begins anew whenever somebody writes in between. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * A lock that the kernel ends with the process, however it ends. Undefined when another process has it. The file stays
 * empty; nobody may open it by other means in this process, because closing it would end the lock.
 */
export function tryLock(file: string): Disposable | undefined {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (sqliteCode(error) === SQLITE_BUSY) return undefined;
    throw error;
  }
  return { [Symbol.dispose]: () => database.close() };
}
