import { chmod, lstat, readdir, readFile, realpath, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { retryError } from '../../../base/errors.ts';
import { codeOf, whenMissing } from './missing-file.ts';
import { isInside } from './node-root.ts';

/** Where file systems are mounted, as `/proc/self/mountinfo` writes it; empty where there is no such file. */
export type MountInfo = () => Promise<string>;

export const mountInfoOfProcess: MountInfo = async () =>
  (await readFile('/proc/self/mountinfo', 'utf8').catch(() => undefined)) ?? '';

/** The mount points in a mountinfo: its fifth column, where spaces and the like are octal. */
export const mountPoints = (mountInfo: string): readonly string[] =>
  mountInfo
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((point) => point !== '')
    .map((point) =>
      point.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
    );

/**
 * Removes a directory with everything in it, but nothing that is only mounted or linked there (N32): rejects with
 * StillMounted before anything is touched when something is mounted below, and stops at a directory of another device.
 * Idempotent.
 */
export async function removeTree(path: string, mountInfo: MountInfo = mountInfoOfProcess): Promise<void> {
  const parent = await realpath(dirname(path)).catch(whenMissing);
  if (parent === undefined) return;
  // Mount points are told by their real paths.
  const real = join(parent, basename(path));
  const found = await lstat(real).catch(whenMissing);
  if (found === undefined) return;
  const mounted = mountPoints(await mountInfo()).find((point) => isInside(real, point));
  if (mounted !== undefined) throw stillMounted(mounted);
  await remove(real, { isDirectory: found.isDirectory(), device: found.dev });
}

const stillMounted = (path: string) =>
  retryError('StillMounted', `${path} is mounted; it must be unmounted before the pod's directory is removed`);

interface Removed {
  readonly isDirectory: boolean;
  readonly device: number;
}

async function remove(path: string, { isDirectory, device }: Removed): Promise<void> {
  if (!isDirectory) return await unlink(path).catch(whenMissing);
  for (const name of await namesIn(path)) {
    const below = join(path, name);
    // Not that of a link's target: a link is removed, never followed.
    const found = await lstat(below).catch(whenMissing);
    if (found === undefined) continue;
    // Only of directories: layered file systems tell other devices for files, and a mounted file cannot be unlinked.
    if (found.isDirectory() && found.dev !== device) throw stillMounted(below);
    await remove(below, { isDirectory: found.isDirectory(), device });
  }
  await rmdir(path).catch(whenMissing);
}

/** A container may have taken away the right to look into its own directory. */
async function namesIn(path: string): Promise<readonly string[]> {
  const owned = await lstat(path).catch(whenMissing);
  if (owned === undefined) return [];
  if ((owned.mode & 0o700) !== 0o700) await chmod(path, 0o700);
  try {
    return await readdir(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
