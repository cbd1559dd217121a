import { rmSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import { lockDirectory } from './directory-lock.ts';
import { layoutOf } from './layout.ts';
import { DamageFound, Loader, loadMeta } from './load.ts';
import { rowOfEntry } from './memory-store.ts';
import { MvccCore } from './mvcc.ts';
import { StoreDamaged, StoreTooNew } from './refusal.ts';
import { SqliteFile } from './sqlite-file.ts';
import { FORMAT, hasDatabase, installStore, type LogRow } from './store-file.ts';

/**
 * Nobody knows how far the lost store had come after the backup. Revisions go on so far ahead that none is given out a
 * second time (K8); etcd recommends the same figure for the same reason.
 */
export const REVISION_LEAP = 1_000_000_000;

export interface RestoreOptions {
  readonly clock: Clock;
  readonly release?: string;
}

export interface Restored {
  readonly objects: number;
  /** Where revisions go on. */
  readonly revision: number;
}

/**
 * Makes a store from a backup, in a directory without one. It is a new incarnation without history: watches and continue
 * tokens of the old one are expired (P6).
 */
export function restoreStore(backupFile: string, directory: string, options: RestoreOptions): Restored {
  const { clock, release = 'unknown' } = options;
  const layout = layoutOf(directory);
  using _ = lockDirectory(layout, { clock });
  if (hasDatabase(layout)) {
    throw userError('StoreExists', `${directory} has a store already. Move it away or choose another directory`);
  }
  const { rows, revision } = backedUp(backupFile, directory, release);
  const compactRevision = revision + REVISION_LEAP;
  rmSync(layout.mark, { force: true });
  installStore(layout, { incarnation: clock.uuid(), release, compactRevision, rows });
  return { objects: rows.length, revision: compactRevision };
}

/** The backup is verified like a store before anything of it is used. */
function backedUp(file: string, directory: string, release: string): { rows: LogRow[]; revision: number } {
  const core = new MvccCore();
  using database = new SqliteFile(file, { readOnly: true });
  try {
    const meta = loadMeta(database);
    if (meta.format > FORMAT) throw new StoreTooNew(meta, { format: FORMAT, release });
    new Loader(core, meta, true).load(database);
  } catch (error) {
    if (!(error instanceof DamageFound)) throw error;
    throw new StoreDamaged(directory, { file, what: error.message, goodRevision: error.goodRevision });
  }
  const rows = [...core.list('')].map(rowOfEntry).sort((a, b) => a.revision - b.revision);
  return { rows, revision: core.revision };
}
