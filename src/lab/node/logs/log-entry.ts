/** One line of a log file: `<time> stdout|stderr F|P <text>` (N39). */
export interface LogEntry {
  /** RFC 3339. */
  readonly time: string;
  readonly stream: LogStream;
  /** More of the same line follows: the text does not end with a line break. */
  readonly isPartial: boolean;
  readonly text: Uint8Array;
}

export type LogStream = 'stdout' | 'stderr';

/** Longer lines are split, as container runtimes do it. */
export const LONGEST_TEXT = 16 * 1024;
const LINE_BREAK = 10;
const SPACE = 32;
/** The longest time with a zone, the stream, the tag and the spaces between them: what is longer is no entry of ours. */
export const LONGEST_ENTRY = LONGEST_TEXT + 64;

/** A time with nine digits of fraction, as the kubelet shows it: texts of equal length sort like the times. */
export const logTime = (time: Date): string => `${time.toISOString().slice(0, -1)}000000Z`;

/** An entry as it stands in the file. */
export function entryBytes({ time, stream, isPartial, text }: LogEntry): Buffer {
  return Buffer.concat([Buffer.from(`${time} ${stream} ${isPartial ? 'P' : 'F'} `), text, Buffer.of(LINE_BREAK)]);
}

/** The entry in a line without its line break; undefined when it is none. */
export function parseEntry(line: Buffer): LogEntry | undefined {
  const timeEnd = line.indexOf(SPACE);
  const streamEnd = line.indexOf(SPACE, timeEnd + 1);
  const tagEnd = line.indexOf(SPACE, streamEnd + 1);
  if (timeEnd < 1 || streamEnd < 0) return undefined;
  const stream = line.toString('latin1', timeEnd + 1, streamEnd);
  const end = tagEnd < 0 ? line.length : tagEnd;
  // A tag may carry more than one letter, divided by colons.
  const [tag] = line.toString('latin1', streamEnd + 1, end).split(':', 1);
  if ((stream !== 'stdout' && stream !== 'stderr') || (tag !== 'F' && tag !== 'P')) return undefined;
  const time = line.toString('latin1', 0, timeEnd);
  return { time, stream, isPartial: tag === 'P', text: line.subarray(Math.min(end + 1, line.length)) };
}

/** A piece of a line. */
export interface Piece {
  readonly text: Uint8Array;
  readonly isPartial: boolean;
}

/** Cuts the output of one stream into lines, and long lines into pieces. Keeps less than one piece. */
export class LineSplitter {
  #rest = Buffer.alloc(0);

  push(bytes: Uint8Array): readonly Piece[] {
    const pieces: Piece[] = [];
    // One copy for what was kept and what came.
    let left = Buffer.concat([this.#rest, bytes]);
    for (;;) {
      // Not beyond a piece: a long line would be looked through once for each of its pieces.
      const end = left.subarray(0, LONGEST_TEXT + 1).indexOf(LINE_BREAK);
      if (end < 0 && left.length <= LONGEST_TEXT) break;
      const size = end < 0 ? LONGEST_TEXT : end;
      pieces.push({ text: left.subarray(0, size), isPartial: end < 0 });
      left = left.subarray(end < 0 ? size : size + 1);
    }
    this.#rest = Buffer.from(left);
    return pieces;
  }

  /** What came without a line break at the end: it stays without one. */
  end(): readonly Piece[] {
    const text = this.#rest;
    this.#rest = Buffer.alloc(0);
    return text.length === 0 ? [] : [{ text, isPartial: true }];
  }
}
