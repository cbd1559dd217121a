import { type LogEntry, logTime, parseEntry } from './log-entry.ts';
import type { LogOptions } from './log-options.ts';
import { closeAll, type LiveLog, type OpenLogFile, openRun, seekTail } from './open-log.ts';

const LINE_BREAK = Buffer.from('\n');

export interface LogReading {
  readonly directory: string;
  readonly run: number;
  readonly options: LogOptions;
  /** Its writer, while it goes on; without one the log has ended. */
  readonly live?: LiveLog | undefined;
  /** Nobody reads any more: the stream ends. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The log of one run over all its files, in pieces of what was read at once and no faster than it is taken. Nothing is
 * open before the first read and after the end, however it ends.
 */
export function readLog(reading: LogReading): ReadableStream<Uint8Array> {
  const stop = new AbortController();
  const signals = [stop.signal, ...(reading.signal === undefined ? [] : [reading.signal])];
  const chunks = chunksOf(reading, AbortSignal.any(signals));
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        stop.abort();
        await chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

/** The last `mostBytes` of a log that ends. */
export async function textOfLog(log: ReadableStream<Uint8Array>, mostBytes: number): Promise<string> {
  let end = Buffer.alloc(0);
  for await (const chunk of log) end = Buffer.concat([end, chunk]).subarray(-mostBytes);
  return mostBytes === 0 ? '' : end.toString('utf8');
}

async function* chunksOf(reading: LogReading, signal: AbortSignal): AsyncGenerator<Uint8Array, undefined> {
  const { options } = reading;
  const view = new LogView(options);
  for await (const lines of batchesOf(reading, signal)) {
    const chunk = view.shown(lines);
    if (chunk.length > 0) yield chunk;
    if (view.isFull || signal.aborted) return;
  }
}

/** Lines of one file after the other, as they are read; while the run goes on and is followed, without end. */
async function* batchesOf(reading: LogReading, signal: AbortSignal): AsyncGenerator<readonly Buffer[]> {
  const { directory, run, options, live } = reading;
  let files = await openRun(directory, run, live);
  try {
    if (options.tailLines !== undefined) await seekTail(files, options.tailLines);
    while (!signal.aborted) {
      const [file] = files;
      if (file === undefined) return;
      const isLast = files.length === 1;
      const writer = options.follow === true && isLast ? live : undefined;
      yield* linesOf(file, writer, signal);
      files = files.slice(1);
      await file[Symbol.asyncDispose]();
      if (writer !== undefined && !signal.aborted && file.number < writer.number) {
        files = await filesAfter(reading, file);
      }
    }
  } finally {
    await closeAll(files);
  }
}

/** What was written since a file was full. */
async function filesAfter(
  { directory, run, live }: LogReading,
  last: OpenLogFile,
): Promise<readonly OpenLogFile[]> {
  const all = await openRun(directory, run, live);
  await closeAll(all.filter(({ number }) => number <= last.number));
  return all.filter(({ number }) => number > last.number);
}

async function* linesOf(
  file: OpenLogFile,
  writer: LiveLog | undefined,
  signal: AbortSignal,
): AsyncGenerator<readonly Buffer[]> {
  while (!signal.aborted) {
    // Asked for before the file is read: what happens after that is noticed.
    const changed = writer?.changed;
    const isComplete = writer === undefined || writer.isClosed || writer.number > file.number;
    const lines = await file.lines();
    if (lines.length > 0) yield lines.map(({ bytes }) => bytes);
    else if (isComplete) return;
    else await abortable(changed, signal);
  }
}

function abortable(changed: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      signal.removeEventListener('abort', done);
      resolve();
    };
    signal.addEventListener('abort', done);
    void changed?.then(done);
    if (signal.aborted) done();
  });
}

/** What a reader sees of the entries of a log. */
class LogView {
  readonly #options: LogOptions;
  readonly #since: string;
  #left: number;
  #isNewLine = true;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#since = options.since === undefined ? '' : logTime(options.since);
    this.#left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Nothing more fits into what was asked for. */
  get isFull(): boolean {
    return this.#left <= 0;
  }

  shown(lines: readonly Buffer[]): Buffer {
    const parts = lines.flatMap((line) => {
      const entry = parseEntry(line);
      return entry === undefined || isBefore(entry, this.#since) ? [] : this.#parts(entry);
    });
    const bytes = Buffer.concat(parts);
    const fitting = bytes.subarray(0, Math.min(this.#left, bytes.length));
    this.#left -= fitting.length;
    return fitting;
  }

  #parts({ time, isPartial, text }: LogEntry): readonly Uint8Array[] {
    const isMarked = this.#options.timestamps === true && this.#isNewLine;
    this.#isNewLine = !isPartial;
    return [...(isMarked ? [Buffer.from(`${time} `)] : []), text, ...(isPartial ? [] : [LINE_BREAK])];
  }
}

/** Times of our own have the same length and sort as texts. */
function isBefore({ time }: LogEntry, since: string): boolean {
  if (since === '') return false;
  return time.length === since.length ? time < since : Date.parse(time) < Date.parse(since);
}
