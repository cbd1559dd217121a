const LENGTH_BYTES = 2;

/** A packet with its length before it, as TCP needs it (RFC 1035, section 4.2.2). */
export function framed(packet: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(packet.length);
  return Buffer.concat([length, packet]);
}

/**
 * The packets of a stream, however it was cut. Ends quietly at one that is longer than `longest`, which nobody asks with,
 * and at one that breaks off. Holds back at most one packet and one chunk.
 */
export async function* framesOf(chunks: AsyncIterable<Buffer>, longest: number): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk]);
    while (held.length >= LENGTH_BYTES) {
      const length = held.readUInt16BE(0);
      if (length > longest) return;
      const end = LENGTH_BYTES + length;
      if (held.length < end) break;
      yield held.subarray(LENGTH_BYTES, end);
      held = held.subarray(end);
    }
  }
}
