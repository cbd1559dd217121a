import { closeSync, fsyncSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a store. */
export interface Layout {
  readonly directory: string;
  readonly database: string;
  /** Write-ahead log of SQLite: the newest commits. */
  readonly wal: string;
  readonly walIndex: string;
  /** A database that is being made; worth nothing until it has its name. */
  readonly draft: string;
  readonly mark: string;
  readonly reserve: string;
  readonly lock: string;
  readonly holder: string;
}

export function layoutOf(directory: string): Layout {
  const database = join(directory, 'store.db');
  return {
    directory,
    database,
    wal: `${database}-wal`,
    walIndex: `${database}-shm`,
    draft: join(directory, 'store.draft'),
    mark: join(directory, 'store.mark'),
    reserve: join(directory, 'store.reserve'),
    lock: join(directory, 'store.lock'),
    holder: join(directory, 'store.holder'),
  };
}

/** Makes names in a directory, or the bytes of a file, survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
