import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { copyFile, type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const CHUNK_BYTES = 1024 * 1024;
const PAGE_BYTES = 4096;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** For many gigabytes on a slow disk. */
const COPY_TIMEOUT_MS = 600_000;

/**
 * Copies a disk image: shares its blocks where the file system can, else copies only what is not zero, so that a large
 * empty disk stays small (C20). The target is whole or not there.
 */
export async function copySparse(source: string, target: string): Promise<void> {
  const partial = `${target}.partial`;
  try {
    await copyFile(source, partial, constants.COPYFILE_FICLONE_FORCE)
      .catch(() => copyByProgram(source, partial))
      .catch(() => copyByHand(source, partial));
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/** GNU's `cp` asks the file system where the holes are, which Node cannot: it does not read them. */
async function copyByProgram(source: string, target: string): Promise<void> {
  // Nothing has ever been written: by hand that is nothing to do.
  if ((await stat(source)).blocks === 0) return await copyByHand(source, target);
  const options = ['--sparse=always', '--reflink=auto', '--', source, target];
  await promisify(execFile)('cp', options, { timeout: COPY_TIMEOUT_MS });
}

/** Where there is no such program. */
export async function copyByHand(source: string, target: string): Promise<void> {
  await using from = await open(source, 'r');
  await using to = await open(target, 'w', 0o600);
  const { size, blocks } = await from.stat();
  await to.truncate(size);
  // No need to read a hole of many gigabytes.
  if (blocks === 0) return;
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let offset = 0; offset < size; ) {
    const { bytesRead } = await from.read(chunk, 0, CHUNK_BYTES, offset);
    if (bytesRead === 0) return;
    await writeData(to, chunk.subarray(0, bytesRead), offset);
    offset += bytesRead;
  }
}

/** Pages of zeros are left out: the target has a hole there. */
async function writeData(to: FileHandle, chunk: Buffer, offset: number): Promise<void> {
  if (isZero(chunk)) return;
  for (let at = 0; at < chunk.length; at += PAGE_BYTES) {
    const page = chunk.subarray(at, at + PAGE_BYTES);
    if (!isZero(page)) await to.write(page, 0, page.length, offset + at);
  }
}

const isZero = (bytes: Buffer): boolean => bytes.compare(ZEROS, 0, bytes.length) === 0;
