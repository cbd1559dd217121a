import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { CloudError } from '../cloud-error.ts';

/** Bytes that have come in as a file. */
export interface ReceivedFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** The first bytes, as far as there are that many. */
  readonly head: Buffer;
}

export interface ReceivingOptions {
  readonly path: string;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

const HEAD_BYTES = 16;

/** Writes a stream to a file. When anything goes wrong there is no file; too many bytes are an `InvalidArgument`. */
export async function receiveFile(stream: Readable, options: ReceivingOptions): Promise<ReceivedFile> {
  const { path, mostBytes, signal } = options;
  const hash = createHash('sha256');
  let sizeBytes = 0;
  let head = Buffer.alloc(0);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  try {
    await pipeline(
      stream,
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          sizeBytes += chunk.length;
          if (sizeBytes > mostBytes)
            throw new CloudError('InvalidArgument', `these are more than ${mostBytes} bytes, which are too many`);
          if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)]);
          hash.update(chunk);
          yield chunk;
        }
      },
      createWriteStream(path, { mode: 0o600 }),
      { signal },
    );
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { path, sizeBytes, sha256: hash.digest('hex'), head };
}
