import type { IncomingMessage } from 'node:http';

/** The client sends more than the server takes. */
export class BodyTooLarge extends Error {
  constructor(limitBytes: number) {
    super(`the body is larger than ${limitBytes} bytes`);
    this.name = 'BodyTooLarge';
  }
}

/** The whole body; rejects with BodyTooLarge as soon as it is known to be, and when the client goes away. */
export async function readBody(message: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  if (Number(message.headers['content-length'] ?? 0) > limitBytes) throw new BodyTooLarge(limitBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  // Not `for await`: leaving such a loop destroys the socket, and with it the answer.
  await new Promise<void>((resolve, reject) => {
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limitBytes) return void chunks.push(chunk);
      message.pause();
      message.removeAllListeners('data');
      reject(new BodyTooLarge(limitBytes));
    });
    message.on('end', () => resolve());
    message.on('error', reject);
    message.on('close', () => reject(new Error('the client has gone before the body was complete')));
  });
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}
