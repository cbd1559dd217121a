/** A file of an archive. */
export interface ArchiveFile {
  /** Without a slash in front; up to 100 bytes. */
  readonly name: string;
  readonly content: string;
}

const BLOCK_BYTES = 512;

/** An archive (POSIX ustar) that is the same whenever and wherever it is made: no times, no owners. */
export function tarArchive(files: readonly ArchiveFile[]): Uint8Array {
  const blocks = files.flatMap(({ name, content }) => {
    const bytes = Buffer.from(content);
    const padding = Buffer.alloc((BLOCK_BYTES - (bytes.length % BLOCK_BYTES)) % BLOCK_BYTES);
    return [header(name, bytes.length), bytes, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

function header(name: string, sizeBytes: number): Uint8Array {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0, 100);
  block.write('0000644\0', 100);
  block.write('0000000\0', 108);
  block.write('0000000\0', 116);
  block.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124);
  block.write('00000000000\0', 136);
  // The sum is made with spaces in its own place.
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
