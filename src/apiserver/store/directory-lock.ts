import { accessSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { SlipwayError, terminalError } from '../../base/errors.ts';
import { ensureFolder, folderRefusal, writeProblem } from './data-folder.ts';
import type { Layout } from './layout.ts';
import { type StoreHolder, StoreInUse } from './refusal.ts';
import { SQLITE_CANTOPEN, SQLITE_FULL, sqliteCode, tryLock } from './sqlite-file.ts';

export interface LockOptions {
  readonly clock: Clock;
  /** What others are told has it, such as `slipway up`; absent: only the process. */
  readonly program?: string;
}

/**
 * The exclusive right to a data directory (P8), which is made if need be. The kernel holds it, so it ends with the process
 * and a stale one cannot be; the file beside only says who it is. What is wrong with the directory is said in one sentence.
 */
export function lockDirectory(layout: Layout, { clock, program }: LockOptions): Disposable {
  try {
    ensureFolder(layout.directory, 0o700);
    accessSync(layout.directory, constants.R_OK | constants.W_OK | constants.X_OK);
    requireFiles(layout);
    const lock = tryLock(layout.lock);
    if (lock === undefined) throw new StoreInUse(layout.directory, holderOf(layout));
    return held(layout, lock, { pid: process.pid, since: clock.now().toTimeString().slice(0, 5), program });
  } catch (error) {
    throw error instanceof SlipwayError ? error : unusable(layout, error);
  }
}

function held({ holder: file }: Layout, lock: Disposable, holder: StoreHolder): Disposable {
  try {
    writeFileSync(file, JSON.stringify(holder), { mode: 0o600 });
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
  return {
    [Symbol.dispose]: () => {
      rmSync(file, { force: true });
      lock[Symbol.dispose]();
    },
  };
}

/** SQLite says of a file that it may not read only that it cannot open one. Nothing is opened here: closing ends locks. */
function requireFiles({ database, wal, walIndex, mark, reserve, lock, holder }: Layout): void {
  for (const file of [database, wal, walIndex, mark, reserve, lock, holder]) {
    const found = statSync(file, { throwIfNoEntry: false });
    if (found === undefined) continue;
    if (!found.isFile()) throw unusableFile(file, found.isDirectory() ? 'it is a folder' : 'it is not a file');
    try {
      accessSync(file, constants.R_OK | constants.W_OK);
    } catch (error) {
      throw unusableFile(file, 'no permission to read and write it', error);
    }
  }
}

const unusableFile = (file: string, why: string, cause?: unknown): SlipwayError =>
  terminalError(
    'StoreFileUnusable',
    `the store cannot be opened: ${file}: ${why}. Give yourself the file, or choose another folder with --data`,
    { cause },
  );

export const unusable = ({ directory }: Layout, error: unknown): SlipwayError =>
  terminalError('DataFolderUnusable', folderRefusal(directory, sqliteProblem(error) ?? writeProblem(error)), {
    cause: error,
  });

function sqliteProblem(error: unknown): string | undefined {
  const code = sqliteCode(error);
  if (code === SQLITE_FULL) return 'the disk is full';
  return code === SQLITE_CANTOPEN ? 'no file can be made in it' : undefined;
}

function holderOf({ holder }: Layout): StoreHolder | undefined {
  try {
    const found: Partial<Record<keyof StoreHolder, unknown>> = JSON.parse(readFileSync(holder, 'utf8'));
    const { pid, since, program } = found;
    if (typeof pid !== 'number' || typeof since !== 'string') return undefined;
    return { pid, since, program: typeof program === 'string' ? program : undefined };
  } catch {
    // It has the lock and has not yet said who it is.
    return undefined;
  }
}
