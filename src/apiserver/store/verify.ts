import { readFileSync } from 'node:fs';
import { type MarkFinding, readMark } from './high-water-mark.ts';
import type { StoreBug } from './journal.ts';
import type { Layout } from './layout.ts';
import { DamageFound, Loader, loadMeta } from './load.ts';
import { FIRST_REVISION, MvccCore } from './mvcc.ts';
import { StoreDamaged, StoreTooNew } from './refusal.ts';
import { SqliteFile } from './sqlite-file.ts';
import { FORMAT, type StoreMeta } from './store-file.ts';
import { inspectWal, type WalTail } from './wal-tail.ts';

export interface VerifyOptions {
  /** This release, for the message about a later one. */
  readonly release?: string;
  /** For tests: mistakes to plant. */
  readonly bugs?: ReadonlySet<StoreBug>;
}

export interface Verified {
  readonly core: MvccCore;
  readonly meta: StoreMeta;
  /** The open database. */
  readonly anchor: SqliteFile;
  readonly tail: WalTail;
  /** The power went before a new store got its first mark: it is to be written. */
  readonly isMarkMissing: boolean;
}

/** Everything in memory and found right, or StoreDamaged or StoreTooNew. Writes nothing. */
export function verified(layout: Layout, options: VerifyOptions): Verified {
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
    return { core, meta, anchor, tail, isMarkMissing: mark === 'missing' };
  } catch (error) {
    anchor[Symbol.dispose]();
    if (!(error instanceof DamageFound)) throw error;
    const { message: what, goodRevision, sample } = error;
    throw new StoreDamaged(layout.directory, { ...placeOf(layout, sample), what, goodRevision });
  }
}

/** A database that ends before what was acknowledged has lost something, even if all that is left is right. */
function checkMark(
  layout: Layout,
  mark: MarkFinding,
  { core, meta, tail }: Pick<Verified, 'core' | 'meta' | 'tail'>,
): void {
  const { directory, mark: file } = layout;
  const goodRevision = core.revision;
  if (mark === 'damaged')
    throw new StoreDamaged(directory, { file, byte: 0, what: 'checksum mismatch', goodRevision });
  if (mark === 'missing') {
    // The database gets its name before the mark does; a power cut between leaves a new one without.
    if (core.revision === FIRST_REVISION && meta.compactRevision === 0) return;
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
