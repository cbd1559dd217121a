import { lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One file for each module that a child ever loaded; beyond that the cache starts anew. */
const MOST_FILES = 10_000;
const OWNER_ONLY = 0o700;

export interface CompileCacheOptions {
  /** Where temporary files are, and whose; for tests. */
  readonly base?: string;
  readonly user?: number;
  readonly mostFiles?: number;
}

/**
 * Where Node children of all labs of a user keep what V8 made of their programs, so that each start but the first is
 * faster. It outlives the lab. Undefined when there is no place that nobody else can write to: code is read from it.
 */
export async function openCompileCache(options: CompileCacheOptions = {}): Promise<string | undefined> {
  const { base = tmpdir(), user = process.geteuid?.(), mostFiles = MOST_FILES } = options;
  if (user === undefined) return undefined;
  try {
    const directory = join(await realpath(base), `slipway-compile-cache-${user}`);
    if (!(await isOwn(directory, user))) return undefined;
    if ((await countFiles(directory)) <= mostFiles) return directory;
    await rm(directory, { recursive: true, force: true });
    return (await isOwn(directory, user)) ? directory : undefined;
  } catch {
    // A full disk, or another lab that tidies up at the same time: children do without.
    return undefined;
  }
}

/** Node keeps files in one directory for each version of itself. A recursive look takes ten times as long. */
async function countFiles(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  const inside = await Promise.all(folders.map(({ name }) => readdir(join(directory, name))));
  return inside.reduce((sum, { length }) => sum + length, entries.length);
}

/** Makes it unless it is there, and looks whose it is: anybody may have made it in a directory for all. */
async function isOwn(directory: string, user: number): Promise<boolean> {
  await mkdir(directory, { mode: OWNER_ONLY, recursive: true });
  const found = await lstat(directory);
  return found.isDirectory() && found.uid === user && (found.mode & 0o077) === 0;
}
