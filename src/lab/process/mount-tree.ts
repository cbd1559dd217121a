import { lstat, mkdir, readdir, readlink, realpath, rename, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { notCreated } from './launch.ts';
import { type Mount, outerFirst } from './mounts.ts';

/** Where a mounted path is found in mode `rewrite`. */
export const placeOf = (directory: string, mountPath: string): string => join(directory, 'mounts', mountPath);

/**
 * Lays the mounts of a container out as a tree of directories and symbolic links, in place of that of an earlier run.
 * What is mounted read-only can still be written through its link. A volume with another one mounted inside it is
 * shown entry by entry: what appears in its top directory later, on either side, is not seen on the other.
 */
export async function layOutMounts(directory: string, mounts: readonly Mount[]): Promise<void> {
  const tree = join(directory, 'mounts');
  // Whoever finds the tree finds it whole.
  const next = `${tree}.next`;
  await rm(next, { recursive: true, force: true });
  await mkdir(next, { recursive: true });
  for (const mount of outerFirst(mounts)) await place(next, mount);
  await rm(tree, { recursive: true, force: true });
  await rename(next, tree);
}

async function place(tree: string, { mountPath, source }: Mount): Promise<void> {
  const at = join(tree, mountPath);
  // A part of a volume that is mounted where the volume already shows it.
  const shown = await realpath(at).catch(() => undefined);
  if (shown !== undefined && shown === (await realpath(source))) return;
  await ensureDirectory(tree, dirname(at), mountPath);
  await rm(at, { recursive: true, force: true });
  await symlink(source, at);
}

/** Makes a place a directory of its own, with links to what a volume shows there. */
async function ensureDirectory(tree: string, path: string, mountPath: string): Promise<void> {
  if (path === tree) return;
  await ensureDirectory(tree, dirname(path), mountPath);
  const facts = await lstat(path).catch(() => undefined);
  if (facts?.isDirectory() === true) return;
  if (facts === undefined) return mkdir(path);
  const volume = await readlink(path);
  const entries = await readdir(volume).catch(() => undefined);
  if (entries === undefined) {
    throw notCreated(`cannot mount at ${mountPath}: ${path.slice(tree.length)} is not a directory`);
  }
  await rm(path);
  await mkdir(path);
  for (const entry of entries) await symlink(join(volume, entry), join(path, entry));
}
