import type { ServerHttp2Stream } from 'node:http2';
import type { StreamSink } from '../request.ts';

interface Writable {
  readonly writableLength: number;
  readonly writableNeedDrain: boolean;
  readonly destroyed: boolean;
  write(chunk: Uint8Array): boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
}

/** What the responses of HTTP/1.1 and HTTP/2 have in common. */
export interface StreamedResponse extends Writable {
  /** HTTP/1.1 only: whether the body leaves in chunks; HTTP/1.0 has none. */
  readonly chunkedEncoding?: boolean;
  readonly socket: Writable | null;
  /** HTTP/2 only. */
  readonly stream?: ServerHttp2Stream;
  end(): unknown;
  destroy(): unknown;
}

// The error code by which an HTTP/2 client knows that a stream was given up (CANCEL).
const CANCEL = 8;

/** The sink of an answer whose head is sent. */
export function streamSink(response: StreamedResponse): StreamSink {
  const { stream } = response;
  if (stream !== undefined) {
    return {
      get queuedBytes() {
        return stream.writableLength;
      },
      write: (chunk) => void stream.write(chunk),
      drained: () => drained(stream),
      end: () => void response.end(),
      destroy: () => stream.close(CANCEL),
    };
  }
  return {
    // What waits in the socket is counted in.
    get queuedBytes() {
      return response.writableLength;
    },
    write: (chunk) => {
      const { socket } = response;
      // Behind another answer on the same connection there is no socket yet.
      if (socket === null || response.chunkedEncoding !== true) response.write(chunk);
      else socket.write(httpChunk(chunk));
    },
    drained: () => drained(response.socket ?? response),
    end: () => void response.end(),
    destroy: () => void response.destroy(),
  };
}

/** Resolves when all that was written is taken, or the client is gone. */
async function drained(target: Writable): Promise<void> {
  if (!target.writableNeedDrain || target.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  target.once('drain', resolve);
  target.once('close', resolve);
  await promise;
  target.off('drain', resolve);
  target.off('close', resolve);
}

const CHUNK_END = Buffer.from('\r\n');
const chunks = new WeakMap<Uint8Array, Uint8Array>();

/**
 * Bytes as a chunk of HTTP/1.1, ready for the socket. Many watchers get the same bytes: made once, and one write where
 * the response would make three and copy them together for each.
 */
function httpChunk(bytes: Uint8Array): Uint8Array {
  const known = chunks.get(bytes);
  if (known !== undefined) return known;
  const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, CHUNK_END]);
  chunks.set(bytes, chunk);
  return chunk;
}
