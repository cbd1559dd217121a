import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What is no folder and stands where a folder has to be, or where one that it is in has to be; undefined if nothing does. */
export async function fileOnPath(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined) return found.isDirectory() ? undefined : path;
  const parent = dirname(path);
  return parent === path ? undefined : await fileOnPath(parent);
}

/**
 * Makes a folder and those that it is in. Not with `recursive`: where a parent exists and takes no folders, such as /proc,
 * Node tries for ever.
 */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const parent = dirname(path);
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || (await stat(parent).catch(() => undefined)) !== undefined) throw error;
    await makeFolder(parent);
    await mkdir(path);
  }
}
