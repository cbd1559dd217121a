import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { badRequest, entityTooLarge, type StatusError } from '../status.ts';

/** Largest request body, also after decompression (H3). */
const LARGEST_BODY = 3_145_728;

const inflate = promisify(gunzip);
const tooLarge = (): StatusError => entityTooLarge(`Request entity too large: limit is ${LARGEST_BODY}`);

/** Reads the whole body, or refuses it as soon as it is too large. */
export async function readBody(message: IncomingMessage | Http2ServerRequest): Promise<Uint8Array> {
  const declared = Number(message.headers['content-length'] ?? 0);
  if (declared > LARGEST_BODY) throw tooLarge();
  const raw = await collect(message);
  return message.headers['content-encoding'] === 'gzip' ? decompressed(raw) : raw;
}

function collect(message: IncomingMessage | Http2ServerRequest): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  message.on('data', (chunk: Buffer) => {
    size += chunk.length;
    // What still comes is read and dropped, so that the client gets to see the answer.
    if (size > LARGEST_BODY) reject(tooLarge());
    else chunks.push(chunk);
  });
  message.on('end', () => resolve(chunks.length === 1 ? (chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(chunks)));
  message.on('error', reject);
  message.on('close', () => reject(badRequest('the request ended before its body')));
  return promise;
}

async function decompressed(raw: Buffer): Promise<Buffer> {
  try {
    return await inflate(raw, { maxOutputLength: LARGEST_BODY });
  } catch (error) {
    if (error instanceof RangeError) throw tooLarge();
    throw badRequest('the request body is not valid gzip');
  }
}
