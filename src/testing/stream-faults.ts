import type { Clock } from '../base/clock.ts';
import { NetworkError } from '../kube/client/api-error.ts';

type Chunks = AsyncIterable<Uint8Array>;

/** Broken off after so many bytes, mostly inside a line. */
export async function* cutAfter(chunks: Chunks, afterBytes: number): AsyncGenerator<Uint8Array> {
  const isWhole = yield* firstOf(chunks, afterBytes);
  if (!isWhole) throw new NetworkError('connection reset inside the answer (injected)', { mayHaveHappened: true });
}

/** The same, but it looks like an end: what a proxy does that closes both sides in good order. */
export async function* endedAfter(chunks: Chunks, afterBytes: number): AsyncGenerator<Uint8Array> {
  yield* firstOf(chunks, afterBytes);
}

async function* firstOf(chunks: Chunks, bytes: number): AsyncGenerator<Uint8Array, boolean> {
  let left = bytes;
  for await (const chunk of chunks) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) return false;
  }
  return true;
}

/** Nothing comes after the first chunk, not even the end, until the reader gives up. */
export async function* silenced(chunks: Chunks, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const reader = chunks[Symbol.asyncIterator]();
  try {
    const first = await reader.next();
    if (first.done !== true) yield first.value;
    await new Promise((_, reject) => {
      if (signal?.aborted === true) reject(signal.reason);
      signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  } finally {
    await reader.return?.();
  }
}

/** Every chunk twice. */
export async function* repeated(chunks: Chunks): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    yield chunk;
    yield chunk;
  }
}

export interface Pace {
  readonly bytes: number;
  readonly ms: number;
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** A few bytes at a time, with a pause after each piece. */
export async function* slowed(chunks: Chunks, { bytes, ms, clock, signal }: Pace): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += bytes) {
      yield chunk.subarray(at, at + bytes);
      await clock.sleep(ms, signal);
    }
  }
}

/** Of so many lines, the last two come in the wrong order. */
export async function* swapped(chunks: Chunks, everyLines: number): AsyncGenerator<Uint8Array> {
  let held: Uint8Array | undefined;
  let count = 0;
  for await (const line of linesOf(chunks)) {
    if (++count % everyLines === everyLines - 1) {
      held = line;
      continue;
    }
    yield line;
    if (held !== undefined) yield held;
    held = undefined;
  }
  if (held !== undefined) yield held;
}

/** Of so many lines, the last one is lost. */
export async function* dropped(chunks: Chunks, everyLines: number): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const line of linesOf(chunks)) if (++count % everyLines !== 0) yield line;
}

const NEWLINE = 10;

/** Whole lines with their ends; what has none comes last. */
async function* linesOf(chunks: Chunks): AsyncGenerator<Uint8Array> {
  let begun: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...begun, chunk.subarray(from, end + 1)]);
      begun = [];
      from = end + 1;
    }
    if (from < chunk.length) begun.push(chunk.subarray(from));
  }
  if (begun.length > 0) yield Buffer.concat(begun);
}
