import { type FileHandle, open } from 'node:fs/promises';
import { codeOf } from '../volumes/missing-file.ts';
import { LONGEST_ENTRY, parseEntry } from './log-entry.ts';
import { filesOfRun, type LogFile } from './log-files.ts';

const CHUNK_BYTES = 64 * 1024;
const LINE_BREAK = 10;

/** The writer of a run that goes on. */
export interface LiveLog {
  /** Of the file that is written. */
  readonly number: number;
  readonly isClosed: boolean;
  readonly changed: Promise<void>;
}

interface LogLine {
  /** Where in the file it begins. */
  readonly at: number;
  /** Without its line break. */
  readonly bytes: Buffer;
}

/** A file of a run, open for reading: rotation and removal do not take it away. */
export class OpenLogFile implements AsyncDisposable {
  readonly number: number;
  readonly #handle: FileHandle;
  readonly #buffer = Buffer.alloc(CHUNK_BYTES);
  #at = 0;
  #lineAt = 0;
  #rest = Buffer.alloc(0);

  constructor(handle: FileHandle, number: number) {
    this.#handle = handle;
    this.number = number;
  }

  /** The lines that follow, good until the next call; none at the end, where more may come. */
  async lines(): Promise<readonly LogLine[]> {
    for (;;) {
      const { bytesRead } = await this.#handle.read(this.#buffer, 0, CHUNK_BYTES, this.#at);
      if (bytesRead === 0) return [];
      const lines = this.#split(this.#buffer.subarray(0, bytesRead));
      this.#at += bytesRead;
      if (lines.length > 0) return lines;
    }
  }

  /** Reads on from where a line begins. */
  seek(at: number): void {
    this.#at = at;
    this.#lineAt = at;
    this.#rest = Buffer.alloc(0);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }

  #split(chunk: Buffer): readonly LogLine[] {
    const lines: LogLine[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, start)) {
      const part = chunk.subarray(start, end);
      lines.push({ at: this.#lineAt, bytes: this.#rest.length === 0 ? part : Buffer.concat([this.#rest, part]) });
      start = end + 1;
      this.#lineAt = this.#at + start;
      this.#rest = Buffer.alloc(0);
    }
    // A line without end is none of ours: its beginning is enough to see that.
    const room = Math.max(0, 2 * LONGEST_ENTRY - this.#rest.length);
    this.#rest = Buffer.concat([this.#rest, chunk.subarray(start, start + room)]);
    return lines;
  }
}

/** All files of a run as they are at one moment, the oldest first. */
export async function openRun(directory: string, run: number, live?: LiveLog): Promise<readonly OpenLogFile[]> {
  for (;;) {
    const before = live?.number;
    await using opening = new AsyncDisposableStack();
    const files: OpenLogFile[] = [];
    for (const file of await filesOfRun(directory, run))
      files.push(...(await opened(file)).map((one) => opening.use(one)));
    // A rotation meanwhile has given files other names: one of them may be missing.
    if (live !== undefined && live.number !== before) continue;
    opening.move();
    return files;
  }
}

export async function closeAll(files: readonly OpenLogFile[]): Promise<void> {
  for (const file of files) await file[Symbol.asyncDispose]();
}

/** Empty when it was removed meanwhile. */
async function opened({ path, number }: LogFile): Promise<readonly OpenLogFile[]> {
  try {
    return [new OpenLogFile(await open(path), number)];
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Moves files to where the last `count` lines of all begin. The pieces of a long line are one line. */
export async function seekTail(files: readonly OpenLogFile[], count: number): Promise<void> {
  let wanted = count;
  for (const file of files.toReversed()) {
    const starts = await lineStarts(file);
    // Reading has moved the file to its end: there it stays when nothing of it is wanted.
    if (wanted > 0) file.seek(starts.at(-Math.min(wanted, starts.length)) ?? 0);
    wanted = Math.max(0, wanted - starts.length);
  }
}

/** Bounded by the size of a file. */
async function lineStarts(file: OpenLogFile): Promise<readonly number[]> {
  const starts: number[] = [];
  let isNewLine = true;
  for (let lines = await file.lines(); lines.length > 0; lines = await file.lines()) {
    for (const { at, bytes } of lines) {
      const entry = parseEntry(bytes);
      if (entry === undefined) continue;
      if (isNewLine) starts.push(at);
      isNewLine = !entry.isPartial;
    }
  }
  return starts;
}
