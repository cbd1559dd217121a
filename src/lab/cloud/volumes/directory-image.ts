import { constants } from 'node:fs';
import { cp, lstat, mkdir, opendir, realpath, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/*
 * Directory image mode (C21): where nobody may format and mount a disk image, a directory beside the image holds what
 * would be in its file system, and goes wherever the image goes.
 */

const IMAGE = '.img';
const DIRECTORY = '.dir';
const BLOCK_BYTES = 512;

/** Bytes and inodes of a volume, as `NodeGetVolumeStats` tells them. */
export interface VolumeStats {
  readonly bytes: { readonly total: number; readonly used: number; readonly available: number };
  readonly inodes: { readonly total: number; readonly used: number; readonly available: number };
}

/** A file system of this size would have about so many inodes: one for each 16 KiB. */
const BYTES_PER_INODE = 16_384;

/** The directory that belongs to an image, whether it is there or not. */
export const directoryOfImage = (image: string): string =>
  `${image.endsWith(IMAGE) ? image.slice(0, -IMAGE.length) : image}${DIRECTORY}`;

/** What a driver publishes instead of a mounted file system. `device` is the image, or a link to it; it must be there. */
export async function openDirectoryImage(device: string): Promise<string> {
  const directory = directoryOfImage(await realpath(device));
  await mkdir(directory, { recursive: true });
  return directory;
}

/** What the directory takes of the size of the image: nothing limits it, so more than everything may be used. */
export async function directoryImageStats(device: string): Promise<VolumeStats> {
  const image = await realpath(device);
  const total = (await stat(image)).size;
  const used = await usageOf(directoryOfImage(image));
  return { bytes: shares(total, used.bytes), inodes: shares(Math.floor(total / BYTES_PER_INODE), used.inodes) };
}

/** Copies the directory of one image to another, whole or not at all; does nothing without one. */
export async function copyDirectoryImage(source: string, target: string): Promise<void> {
  const [from, to] = [directoryOfImage(source), directoryOfImage(target)];
  if (!(await isThere(from))) return;
  const partial = `${to}.partial`;
  await rm(partial, { recursive: true, force: true });
  await cp(from, partial, {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    mode: constants.COPYFILE_FICLONE,
  });
  await rm(to, { recursive: true, force: true });
  await rename(partial, to);
}

export async function removeDirectoryImage(image: string): Promise<void> {
  await rm(directoryOfImage(image), { recursive: true, force: true });
}

const shares = (total: number, used: number) => ({ total, used, available: Math.max(0, total - used) });

async function usageOf(directory: string): Promise<{ readonly bytes: number; readonly inodes: number }> {
  if (!(await isThere(directory))) return { bytes: 0, inodes: 0 };
  let [bytes, inodes] = [0, 0];
  for await (const entry of await opendir(directory, { recursive: true })) {
    // What vanishes while we look does not count.
    const found = await lstat(join(entry.parentPath, entry.name)).catch(() => undefined);
    if (found === undefined) continue;
    inodes += 1;
    bytes += entry.isFile() ? found.blocks * BLOCK_BYTES : 0;
  }
  return { bytes, inodes };
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
