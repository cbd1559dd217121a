import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { userError } from '../../base/errors.ts';
import { lockDirectory } from './directory-lock.ts';
import { readMark } from './high-water-mark.ts';
import { type Layout, layoutOf, syncPath } from './layout.ts';
import { StoreDamaged, StoreNotDamaged } from './refusal.ts';
import { REVISION_LEAP } from './restore.ts';
import { SqliteFile, type SqlRow, type SqlStatement } from './sqlite-file.ts';
import { checkedRow, hasDatabase, installStore, type LogRow, SELECT_ROWS } from './store-file.ts';
import { verified } from './verify.ts';

export interface RepairOptions {
  readonly toRevision: number;
  readonly clock: Clock;
  readonly release?: string;
}

export interface Repaired {
  /** Where the damaged files were copied to. */
  readonly copy: string;
  readonly objects: number;
  /** Records up to the revision that could not be read or were damaged. */
  readonly lostRecords: number;
  /** Where revisions go on. */
  readonly revision: number;
}

interface Salvage {
  readonly rows: readonly LogRow[];
  readonly highest: number;
  readonly lostRecords: number;
}

/**
 * Makes a store from whatever is still right up to a revision. The damaged files are copied first. The result is a new
 * incarnation: revisions after that one were seen by clients and must not come again with another content (P1).
 */
export function repairStore(
  directory: string,
  { toRevision, clock, release = 'unknown' }: RepairOptions,
): Repaired {
  const layout = layoutOf(directory);
  if (!hasDatabase(layout) && !existsSync(layout.mark))
    throw userError('StoreMissing', `${directory} has no store to repair. Name the folder of one with --data`);
  using _ = lockDirectory(layout, { clock, program: 'slipway apiserver repair' });
  requireDamage(layout, release);
  const mark = readMark(layout);
  const acknowledged = typeof mark === 'string' ? undefined : mark.revision;
  const last = acknowledged === undefined ? toRevision : Math.min(toRevision, acknowledged + MOST_UNMARKED);
  const copy = copied(layout, clock);
  const { rows, highest, lostRecords } = salvaged(layoutOf(copy), last);
  const compactRevision = Math.max(highest, acknowledged ?? 0, last) + REVISION_LEAP;
  installStore(layout, { incarnation: clock.uuid(), release, compactRevision, rows });
  return { copy, objects: rows.length, lostRecords, revision: compactRevision };
}

/** Far more than can be written between two durable marks: no revision behind it needs to be looked for. */
const MOST_UNMARKED = 1_000_000;

/** A store that opens keeps everything it has: cutting it can only lose. One of a later release is not ours to change. */
function requireDamage(layout: Layout, release: string): void {
  if (!hasDatabase(layout)) return;
  try {
    const { anchor, core } = verified(layout, { release });
    anchor[Symbol.dispose]();
    throw new StoreNotDamaged(layout.directory, core.revision);
  } catch (error) {
    if (!(error instanceof StoreDamaged)) throw error;
  }
}

function copied({ directory, database, wal, mark }: Layout, clock: Clock): string {
  const copy = join(directory, `damaged-${clock.now().toISOString().replaceAll(':', '')}`);
  mkdirSync(copy, { mode: 0o700 });
  for (const file of [database, wal, mark].filter((path) => existsSync(path))) {
    const target = join(copy, basename(file));
    copyFileSync(file, target);
    syncPath(target);
  }
  syncPath(copy);
  syncPath(directory);
  return copy;
}

/** The newest good row of each key up to the revision; a removed key has none. */
function salvaged({ database: file }: Layout, toRevision: number): Salvage {
  if (!existsSync(file)) return { rows: [], highest: 0, lostRecords: 0 };
  using database = new SqliteFile(file, { readOnly: true });
  const latest = new Map<string, LogRow>();
  let highest = 0;
  let lostRecords = 0;
  for (const row of readableRows(database, toRevision)) {
    const found = row === undefined ? undefined : checkedRow(row);
    highest = Math.max(highest, found?.revision ?? 0);
    if (found === undefined) lostRecords++;
    else if (found.revision > toRevision) continue;
    else if (found.isRemoval) latest.delete(found.key);
    else latest.set(found.key, found);
  }
  return { rows: [...latest.values()].sort((a, b) => a.revision - b.revision), highest, lostRecords };
}

/** All rows in order; where the scan breaks off, each further revision is asked for alone. Undefined: unreadable. */
function* readableRows(database: SqliteFile, toRevision: number): Generator<SqlRow | undefined, undefined> {
  let last = 0;
  try {
    for (const row of database.prepare(SELECT_ROWS).rows()) {
      last = Number(row[0]);
      yield row;
    }
    return undefined;
  } catch {
    // The rest is behind a damaged page, some of it perhaps on good ones.
  }
  const one = oneRow(database);
  if (one === undefined) return undefined;
  for (let revision = last + 1; revision <= toRevision; revision++) {
    try {
      const row = one.first(revision);
      if (row !== undefined) yield row;
    } catch {
      yield undefined;
    }
  }
  return undefined;
}

function oneRow(database: SqliteFile): SqlStatement | undefined {
  try {
    return database.prepare(SELECT_ROWS.replace('ORDER BY rev', 'WHERE rev = ?'));
  } catch {
    return undefined;
  }
}
