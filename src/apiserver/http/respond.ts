import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ApiResponse, StreamBody } from '../request.ts';
import { type StreamedResponse, streamSink } from './stream-sink.ts';

/** What the responses of HTTP/1.1 and HTTP/2 have in common. */
interface Response extends StreamedResponse {
  setHeader(name: string, value: number | string | readonly string[]): unknown;
  writeHead(status: number): unknown;
  flushHeaders?(): void;
  end(): unknown;
  end(chunk: Uint8Array): unknown;
}

/** Smaller answers cost more to compress than to send (H7). */
const SMALLEST_COMPRESSED = 128 * 1024;
// Large lists leave in pieces, so that one client's list is not one long pause for all others.
const PIECE_BYTES = 1024 * 1024;
const compress = promisify(gzip);

export interface Sending {
  readonly acceptsGzip: boolean;
  readonly hasBody: boolean;
}

/** Sends an answer. Resolves when everything was handed to the connection. */
export async function respond(response: Response, answer: ApiResponse, sending: Sending): Promise<void> {
  for (const [name, value] of Object.entries(answer.headers)) {
    response.setHeader(name, typeof value === 'string' ? value : [...value]);
  }
  if (typeof answer.body === 'function') {
    stream(response, answer.status, answer.body);
    return;
  }
  const isCompressed = sending.acceptsGzip && sizeOf(answer.body) > SMALLEST_COMPRESSED;
  const body = isCompressed ? await compressed(response, answer.body, answer.headers['vary'] ?? []) : answer.body;
  const size = sizeOf(body);
  response.setHeader('content-length', size);
  response.writeHead(answer.status);
  if (!sending.hasBody) response.end();
  else if (size <= PIECE_BYTES) response.end(Buffer.concat(body));
  else await sendPieces(response, body);
}

const sizeOf = (body: readonly Uint8Array[]): number => body.reduce((sum, { length }) => sum + length, 0);

async function compressed(
  response: Response,
  body: readonly Uint8Array[],
  vary: string | readonly string[],
): Promise<readonly Uint8Array[]> {
  response.setHeader('content-encoding', 'gzip');
  // What the answer depends on already must not be forgotten.
  const causes = [vary].flat().join(', ');
  if (!causes.includes('Accept-Encoding')) {
    response.setHeader('vary', causes === '' ? 'Accept-Encoding' : `Accept-Encoding, ${causes}`);
  }
  return [await compress(Buffer.concat(body), { level: 1 })];
}

async function sendPieces(response: Response, body: readonly Uint8Array[]): Promise<void> {
  let piece: Uint8Array[] = [];
  let size = 0;
  for (const part of body) {
    piece.push(part);
    size += part.length;
    if (size < PIECE_BYTES) continue;
    if (!response.write(Buffer.concat(piece))) await drained(response);
    if (response.destroyed) return;
    piece = [];
    size = 0;
  }
  response.end(Buffer.concat(piece));
}

function drained(response: Response): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve);
  response.once('close', resolve);
  return promise.finally(() => {
    response.off('drain', resolve);
    response.off('close', resolve);
  });
}

function stream(response: Response, status: number, start: StreamBody): void {
  response.writeHead(status);
  response.flushHeaders?.();
  const running = start(streamSink(response));
  response.once('close', () => running[Symbol.dispose]());
}
