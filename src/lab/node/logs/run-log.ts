import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { whenMissing } from '../volumes/missing-file.ts';
import type { ContainerLog } from './container-log.ts';
import { entryBytes, LineSplitter, type LogStream, logTime, type Piece } from './log-entry.ts';
import { filesOfRun, rotatedFile } from './log-files.ts';
import { readLog, textOfLog } from './log-reader.ts';

export interface LogLimits {
  /** A file that would grow beyond this is rotated. */
  readonly fileBytes: number;
  /** Files of one run, the one that is written included. */
  readonly files: number;
  /** What waits for the disk; beyond it lines are dropped. */
  readonly queueBytes: number;
}

export const LOG_LIMITS: LogLimits = { fileBytes: 10 * 1024 * 1024, files: 5, queueBytes: 1024 * 1024 };

/** Written at once: enough for few system calls, little enough to keep the size of files. */
const BATCH_BYTES = 256 * 1024;

export interface RunLogOptions {
  readonly path: string;
  readonly run: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: LogLimits;
}

interface Entry {
  readonly bytes: Buffer;
  /** How many lines are lost with it. */
  readonly lines: number;
}

const sizeOf = (entries: readonly Entry[]): number => entries.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** Writes the log of one run. Nothing it is given can make it throw or wait; what the disk does not take is counted. */
export class RunLog implements ContainerLog, AsyncDisposable {
  readonly path: string;
  readonly #options: RunLogOptions;
  readonly #splitters: Readonly<Record<LogStream, LineSplitter>> = {
    stdout: new LineSplitter(),
    stderr: new LineSplitter(),
  };
  /** Bounded by `queueBytes`. */
  readonly #queue: Entry[] = [];
  #queuedBytes = 0;
  #lost = 0;
  #hasFailed = false;
  #file: FileHandle;
  #fileBytes: number;
  #number: number;
  #flushed: Promise<void> | undefined;
  #change = Promise.withResolvers<void>();
  readonly #closed = Promise.withResolvers<void>();
  #isEnded = false;
  #isClosed = false;

  private constructor(options: RunLogOptions, file: FileHandle, at: { bytes: number; number: number }) {
    this.path = options.path;
    this.#options = options;
    this.#file = file;
    this.#fileBytes = at.bytes;
    this.#number = at.number;
  }

  /** Goes on where an earlier life of the same run ended. */
  static async open(options: RunLogOptions): Promise<RunLog> {
    const file = await open(options.path, 'a', 0o640);
    const files = await filesOfRun(dirname(options.path), options.run);
    const { size } = await file.stat();
    return new RunLog(options, file, { bytes: size, number: files.at(-1)?.number ?? 1 });
  }

  /** Of the file that is written. */
  get number(): number {
    return this.#number;
  }

  /** Everything is in the file, and nothing will follow. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when there is more to read, or when nothing will follow. */
  get changed(): Promise<void> {
    return this.#change.promise;
  }

  write(stream: LogStream, bytes: Uint8Array): boolean {
    if (this.#isEnded) return true;
    this.#add(stream, this.#splitters[stream].push(bytes));
    return this.#queuedBytes < this.#options.limits.queueBytes / 2;
  }

  line(text: string): void {
    if (this.#isEnded) return;
    // Pieces of a line that somebody else has begun must stay together.
    const splitter = new LineSplitter();
    this.#add('stdout', splitter.push(Buffer.from(`${text}\n`)));
  }

  async drained(): Promise<void> {
    while (this.#queuedBytes >= this.#options.limits.queueBytes / 2 && this.#flushed !== undefined)
      await this.#flushed;
  }

  end(): void {
    if (this.#isEnded) return;
    for (const stream of ['stdout', 'stderr'] as const) this.#add(stream, this.#splitters[stream].end());
    this.#isEnded = true;
    this.#kick();
  }

  /** Of what was written before. */
  async tail(lines: number, bytes: number): Promise<string> {
    while (this.#flushed !== undefined) await this.#flushed;
    const { path, run } = this.#options;
    const options = { tailLines: lines };
    return await textOfLog(readLog({ directory: dirname(path), run, options, live: this }), bytes);
  }

  /** Resolves when everything is in the file, and the file is closed. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.end();
    return this.closed;
  }

  #add(stream: LogStream, pieces: readonly Piece[]): void {
    const time = logTime(this.#options.clock.now());
    for (const { text, isPartial } of pieces) this.#enqueue(entryBytes({ time, stream, isPartial, text }));
    if (this.#queue.length > 0) this.#kick();
  }

  #enqueue(bytes: Buffer): void {
    const { queueBytes } = this.#options.limits;
    const gap = this.#lost === 0 ? [] : [this.#gap()];
    const entries = [...gap, { bytes, lines: 1 }];
    const size = sizeOf(entries);
    if (this.#queuedBytes + size > queueBytes) {
      this.#lost++;
      return;
    }
    this.#lost = 0;
    this.#queue.push(...entries);
    this.#queuedBytes += size;
  }

  /** Stands where the lines that are missing would be. */
  #gap(): Entry {
    const text = `[slipway] ${this.#lost} lines of this log were dropped: the disk did not take them in time`;
    const time = logTime(this.#options.clock.now());
    const bytes = entryBytes({ time, stream: 'stderr', isPartial: false, text: Buffer.from(text) });
    return { bytes, lines: this.#lost };
  }

  #kick(): void {
    this.#flushed ??= this.#flush().finally(() => {
      this.#flushed = undefined;
      // Something came when the flush had looked for the last time.
      if (this.#queue.length > 0 || (this.#isEnded && !this.#isClosed)) this.#kick();
    });
  }

  async #flush(): Promise<void> {
    // What is written in one turn goes to the disk together.
    await new Promise((resolve) => setImmediate(resolve));
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      if (!(await this.#isAppended(batch))) break;
      this.#tell();
    }
    if (!this.#isEnded || this.#isClosed) return;
    await this.#file.close().catch((err: unknown) => this.#failed(err));
    this.#isClosed = true;
    this.#closed.resolve();
    this.#tell();
  }

  /** Some entries of the queue; at its end, how many are missing. */
  #take(): readonly Entry[] {
    let [count, size] = [0, 0];
    for (const { bytes } of this.#queue) {
      if (count > 0 && size + bytes.length > BATCH_BYTES) break;
      count++;
      size += bytes.length;
    }
    if (count > 0) return this.#queue.splice(0, count);
    if (this.#lost === 0) return [];
    const gap = this.#gap();
    this.#lost = 0;
    this.#queuedBytes += gap.bytes.length;
    return [gap];
  }

  /** What the disk refuses is lost, and everything that waits with it: to keep it would fill the memory instead. */
  async #isAppended(entries: readonly Entry[]): Promise<boolean> {
    const size = sizeOf(entries);
    try {
      if (this.#fileBytes > 0 && this.#fileBytes + size > this.#options.limits.fileBytes) await this.#rotate();
      await this.#file.appendFile(Buffer.concat(entries.map(({ bytes }) => bytes)));
      this.#fileBytes += size;
      this.#queuedBytes -= size;
      this.#hasFailed = false;
      return true;
    } catch (err) {
      const dropped = [...entries, ...this.#queue.splice(0)];
      this.#lost += dropped.reduce((sum, { lines }) => sum + lines, 0);
      this.#queuedBytes = 0;
      this.#failed(err);
      return false;
    }
  }

  async #rotate(): Promise<void> {
    const { path, run, clock, limits } = this.#options;
    // Missing when an earlier attempt came no further.
    await rename(path, rotatedFile(path, clock.now(), this.#number)).catch(whenMissing);
    const full = this.#file;
    this.#file = await open(path, 'a', 0o640);
    this.#fileBytes = 0;
    this.#number++;
    await full.close();
    const files = await filesOfRun(dirname(path), run);
    for (const old of files.slice(0, Math.max(0, files.length - limits.files)))
      await rm(old.path, { force: true });
  }

  #tell(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers<void>();
  }

  #failed(err: unknown): void {
    if (!this.#hasFailed) this.#options.log.warn({ err, path: this.path }, 'Cannot write the log of a container');
    this.#hasFailed = true;
  }
}
