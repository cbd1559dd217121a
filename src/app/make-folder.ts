import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
