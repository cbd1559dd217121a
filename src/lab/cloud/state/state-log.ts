import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { tryLock } from '../../../apiserver/store/sqlite-file.ts';
import { terminalError } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { CloudError } from '../cloud-error.ts';
import { type Changeset, changesetLine, headerLine, LOG_FORMAT, scanLog } from './log-line.ts';
import { Tables } from './tables.ts';

/** Tokens and secrets of the scenario are in it. */
const MODE = 0o600;
/** A log is written anew when it is this large and several times larger than what it says. */
const LEAST_COMPACTED_BYTES = 1024 * 1024;
const COMPACTION_FACTOR = 4;

/** Keeps transactions. */
export interface TransactionLog {
  /** Kept when it returns: a process that is killed afterwards finds it again. Throws when it is not kept. */
  append(changeset: Changeset): void;
}

export interface OpenedState {
  readonly tables: Tables;
  readonly log: StateLog;
}

/**
 * Opens `<directory>/state.log`, or begins it. A tail that a kill tore is cut and logged; anything else that is not as it
 * was written is refused, and left as it is.
 */
export function openState(directory: string, log: Log): OpenedState {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  using stack = new DisposableStack();
  const lock = stack.use(locked(directory));
  const file = join(directory, 'state.log');
  // Left by a kill during compaction: the old log is still the log.
  rmSync(nextOf(file), { force: true });
  const bytes = contentOf(file);
  const { format, changesets, goodBytes, damage } = scanLog(bytes);
  if (damage !== undefined) throw damaged(file, damage);
  // Only a first line that a kill tore is shorter than one.
  const isBegun = goodBytes > 0 || bytes.length >= headerLine().length;
  if (isBegun && format !== LOG_FORMAT) throw foreign(file, format);
  if (goodBytes < bytes.length) log.warn({ file, cutBytes: bytes.length - goodBytes }, 'Cut a torn tail');
  const tables = new Tables();
  for (const changeset of changesets) tables.apply(changeset);
  const opened = { tables, log: new StateLog({ file, tables, size: goodBytes, lock }) };
  stack.move();
  return opened;
}

interface StateLogOptions {
  readonly file: string;
  readonly tables: Pick<Tables, 'snapshot'>;
  /** Of what is good in the file; the rest is cut. */
  readonly size: number;
  /** The right to write it, given back at the end. */
  readonly lock: Disposable;
}

/** Two writers of one log would both be lost. The kernel holds the lock, so a process that is killed leaves none behind. */
function locked(directory: string): Disposable {
  const lock = tryLock(join(directory, 'lock'));
  if (lock !== undefined) return lock;
  throw terminalError(
    'CloudStateInUse',
    `${directory} is in use by another lab. Stop it, or start this one with another data directory`,
  );
}

/** The append log of the cloud: one line for each transaction. */
export class StateLog implements TransactionLog, Disposable {
  readonly #file: string;
  readonly #tables: Pick<Tables, 'snapshot'>;
  readonly #lock: Disposable;
  #descriptor: number;
  #size: number;
  /** Of the last whole writing of everything. */
  #compactedSize: number;
  /** The end of the file is not what we think it is, and nothing after it could be read again. */
  #isBroken = false;

  constructor({ file, tables, size, lock }: StateLogOptions) {
    this.#file = file;
    this.#tables = tables;
    this.#lock = lock;
    this.#descriptor = openSync(file, 'a', MODE);
    this.#size = size;
    this.#compactedSize = 0;
    ftruncateSync(this.#descriptor, size);
    if (size === 0) this.#write(headerLine());
  }

  /**
   * The kernel has it when this returns, which outlives the process. It is not synced to the disk: a power cut takes
   * the machine and with it everything that the lab runs.
   */
  append(changeset: Changeset): void {
    if (this.#isBroken) throw unavailable(this.#file, undefined);
    this.#write(changesetLine(changeset));
  }

  /** Call it when the tables are as the log says. */
  compactIfLarge(): void {
    if (this.#size < Math.max(LEAST_COMPACTED_BYTES, COMPACTION_FACTOR * this.#compactedSize)) return;
    this.compact();
  }

  /** Writes the log anew, without what has been overwritten. A kill at any moment leaves the old one or the new one. */
  compact(): void {
    const next = nextOf(this.#file);
    rmSync(next, { force: true });
    const descriptor = openSync(next, 'a', MODE);
    let size = 0;
    try {
      for (const text of this.#compacted()) size += writeAll(descriptor, Buffer.from(text));
      fdatasyncSync(descriptor);
      renameSync(next, this.#file);
    } catch (error) {
      // The old log is whole; it only stays long.
      closeSync(descriptor);
      rmSync(next, { force: true });
      throw error;
    }
    // Before anything else can fail: a number that was closed may belong to another file, and be written to.
    const former = this.#descriptor;
    this.#descriptor = descriptor;
    this.#size = size;
    this.#compactedSize = size;
    closeSync(former);
    syncDirectory(dirname(this.#file));
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
    // The number may belong to another file from now on.
    this.#descriptor = -1;
    this.#lock[Symbol.dispose]();
  }

  *#compacted(): Generator<string> {
    yield headerLine();
    for (const changeset of this.#tables.snapshot()) yield changesetLine(changeset);
  }

  #write(text: string): void {
    try {
      this.#size += writeAll(this.#descriptor, Buffer.from(text));
    } catch (cause) {
      this.#cutBack();
      throw unavailable(this.#file, cause);
    }
  }

  /** Half a line in the middle would be damage for the next start. */
  #cutBack(): void {
    try {
      ftruncateSync(this.#descriptor, this.#size);
    } catch {
      this.#isBroken = true;
    }
  }
}

const nextOf = (file: string): string => `${file}.next`;

function writeAll(descriptor: number, bytes: Buffer): number {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
  return bytes.length;
}

function syncDirectory(directory: string): void {
  const descriptor = openSync(directory, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function contentOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

const damaged = (file: string, { line, offset }: { readonly line: number; readonly offset: number }) =>
  terminalError(
    'CloudStateDamaged',
    `${file} is damaged at byte ${offset} (line ${line}), and good lines follow. Nothing was changed. ` +
      'Remove the damaged line to lose only its transaction, or start the lab with another data directory',
  );

const foreign = (file: string, format: number | undefined) =>
  terminalError(
    'CloudStateFormat',
    `${file} has format ${format ?? 'unknown'}; this is format ${LOG_FORMAT}. ` +
      'Use the version that wrote it, or another data directory',
  );

const unavailable = (file: string, cause: unknown) =>
  new CloudError('Unavailable', `the change was not stored: ${file} cannot be written; reads still work`, {
    cause,
  });
