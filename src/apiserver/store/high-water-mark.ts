import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { OnPoint } from './journal.ts';
import { type Layout, syncPath } from './layout.ts';

/** One record per sector: a power cut keeps or loses it as a whole. */
const RECORD_BYTES = 512;
const SLOTS = 2;

export interface Mark {
  readonly revision: number;
  readonly incarnation: string;
}

/** `missing`: there is no file. `damaged`: there is one, and its durable part is unreadable. */
export type MarkFinding = Mark | 'missing' | 'damaged';

/**
 * The highest revision known to be acknowledged, kept outside the database, so that a database which lost its end is
 * noticed. The first record is written durably; behind it are two slots that are overwritten after every commit without
 * a sync of their own: they may lag behind or be lost, but never run ahead of what is durable.
 */
export class HighWaterMark implements Disposable {
  readonly #layout: Layout;
  readonly #incarnation: string;
  readonly #onPoint: OnPoint | undefined;
  #descriptor: number | undefined;
  #slot = 0;

  constructor(layout: Layout, incarnation: string, onPoint?: OnPoint) {
    this.#layout = layout;
    this.#incarnation = incarnation;
    this.#onPoint = onPoint;
  }

  /** Durable when it returns. */
  write(revision: number): void {
    const { mark, directory } = this.#layout;
    const draft = `${mark}.draft`;
    const descriptor = openSync(draft, 'w', 0o600);
    try {
      writeSync(descriptor, Buffer.concat(Array(1 + SLOTS).fill(this.#record(revision))));
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    this.#onPoint?.('before-rename');
    renameSync(draft, mark);
    this.#onPoint?.('after-rename');
    this[Symbol.dispose]();
    this.#onPoint?.('before-dirsync');
    syncPath(directory);
    this.#onPoint?.('after-dirsync');
  }

  /** Durable soon; costs one write into the page cache. */
  note(revision: number): void {
    this.#descriptor ??= openSync(this.#layout.mark, 'r+');
    this.#slot = (this.#slot + 1) % SLOTS;
    writeSync(this.#descriptor, this.#record(revision), 0, RECORD_BYTES, RECORD_BYTES * (1 + this.#slot));
  }

  [Symbol.dispose](): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  #record(revision: number): Buffer {
    const text = `${revision} ${this.#incarnation}`;
    const record = Buffer.alloc(RECORD_BYTES, ' ');
    record.write(`slipway acknowledged ${text} ${checksumOf(text)}`);
    record.write('\n', RECORD_BYTES - 1);
    return record;
  }
}

export function readMark({ mark }: Layout): MarkFinding {
  const text = attemptRead(mark);
  if (text === undefined) return 'missing';
  const durable = parsed(text.slice(0, RECORD_BYTES));
  if (durable === undefined) return 'damaged';
  const slots = Array.from({ length: SLOTS }, (_, slot) =>
    parsed(text.slice(RECORD_BYTES * (1 + slot), RECORD_BYTES * (2 + slot))),
  );
  const revisions = slots.map((found) => (found?.incarnation === durable.incarnation ? found.revision : 0));
  return { revision: Math.max(durable.revision, ...revisions), incarnation: durable.incarnation };
}

function parsed(record: string): Mark | undefined {
  const [, revision = '', incarnation = '', checksum] =
    /^slipway acknowledged (\d+) (\S+) ([0-9a-f]{8}) *\n$/.exec(record) ?? [];
  if (checksum === undefined || checksum !== checksumOf(`${revision} ${incarnation}`)) return undefined;
  return { revision: Number(revision), incarnation };
}

const checksumOf = (text: string): string => crc32(text).toString(16).padStart(8, '0');

function attemptRead(file: string): string | undefined {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
