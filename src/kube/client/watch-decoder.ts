import type { KubeObject } from '../../api/object.ts';
import { messageOf, retryError } from '../../base/errors.ts';
import { parseExact } from '../../object/exact-json.ts';
import { isRecord } from '../../object/record.ts';
import { type RequestName, statusError } from './answer.ts';
import type { WatchEvent } from './kube-client.ts';

const LINE_END = 0x0a;
const MOST_EVENTS = 500;
// No server keeps an object of this size; more than this is no watch.
const MOST_LINE_BYTES = 64 * 1024 * 1024;

/**
 * The events of a watch, in batches of what arrived together. Ends when the stream ends; a line without an end is then
 * discarded (I9). An ERROR event is thrown as ApiError after the events before it; a line that is no event is thrown as
 * an error to retry, since nothing is known about what follows it. Leaving the loop ends the stream.
 */
export async function* decodeWatch<T extends KubeObject>(
  stream: AsyncIterable<Uint8Array>,
  request: RequestName = {},
): AsyncGenerator<readonly WatchEvent<T>[]> {
  const lines = new Lines();
  for await (const chunk of stream) {
    lines.add(chunk);
    for (let batch = nextBatch<T>(lines, request); batch !== undefined; batch = nextBatch<T>(lines, request)) {
      if (batch.events.length > 0) yield batch.events;
      if (batch.failure !== undefined) throw batch.failure;
    }
  }
}

interface Batch<T extends KubeObject> {
  readonly events: WatchEvent<T>[];
  readonly failure?: Error;
}

/** Up to 500 events, and the failure that came after them; undefined when no line is complete. */
function nextBatch<T extends KubeObject>(lines: Lines, request: RequestName): Batch<T> | undefined {
  const events: WatchEvent<T>[] = [];
  try {
    while (events.length < MOST_EVENTS) {
      const line = lines.next();
      if (line === undefined) return events.length === 0 ? undefined : { events };
      if (line.trim() !== '') events.push(eventOf<T>(line, request));
    }
    return { events };
  } catch (failure) {
    return { events, failure: failure instanceof Error ? failure : new Error(messageOf(failure)) };
  }
}

function eventOf<T extends KubeObject>(line: string, request: RequestName): WatchEvent<T> {
  const event = parsedLine(line);
  if (isRecord(event) && isRecord(event['object'])) {
    const { type, object } = event;
    if (type === 'ERROR') throw statusError(object, request);
    if (isEventType(type) && isRecord(object['metadata'])) return event as unknown as WatchEvent<T>;
  }
  throw badLine('it is no event with an object');
}

function parsedLine(line: string): unknown {
  try {
    return parseExact(line);
  } catch {
    // What V8 says shows a part of the line, which may hold a secret.
    throw badLine('it is no JSON');
  }
}

const isEventType = (type: unknown): boolean =>
  type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED' || type === 'BOOKMARK';

const badLine = (why: string): Error =>
  retryError('BadWatchEvent', `a line of a watch cannot be used: ${why}; the watch has to start over`);

/** Cuts chunks into lines. Bytes are decoded only when a line is whole, so that no character is cut. */
class Lines {
  /** The beginning of a line that goes on in the next chunk; bounded by MOST_LINE_BYTES. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;

  /** All lines of the chunk before have been taken. */
  add(chunk: Uint8Array): void {
    this.#chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#at = 0;
  }

  /** Without its end; undefined when no line is whole. */
  next(): string | undefined {
    const end = this.#chunk.indexOf(LINE_END, this.#at);
    if (end < 0) return this.#keepRest();
    const start = this.#at;
    this.#at = end + 1;
    if (this.#parts.length === 0) return this.#chunk.toString('utf8', start, end);
    const line = Buffer.concat([...this.#parts, this.#chunk.subarray(start, end)]);
    this.#parts = [];
    this.#partBytes = 0;
    return line.toString('utf8');
  }

  #keepRest(): undefined {
    if (this.#at === this.#chunk.length) return;
    const rest = this.#chunk.subarray(this.#at);
    this.#at = this.#chunk.length;
    this.#partBytes += rest.length;
    if (this.#partBytes > MOST_LINE_BYTES) throw badLine(`it is longer than ${MOST_LINE_BYTES} bytes`);
    this.#parts.push(rest);
  }
}
