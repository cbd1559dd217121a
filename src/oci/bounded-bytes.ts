import { invalidImage } from './registry-failure.ts';

/** All of it, if it is no more than this; `what` begins the message otherwise. */
export async function bytesOf(
  body: AsyncIterable<Uint8Array>,
  mostBytes: number,
  what: string,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw tooLarge(what, mostBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const tooLarge = (what: string, mostBytes: number) =>
  invalidImage(`${what} is too large: more than ${mostBytes} bytes came; use an image of an OpenShift release`);
