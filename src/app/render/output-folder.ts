import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import { fileOnPath, makeFolder } from '../make-folder.ts';
import { type HeaderFacts, isUntouched, isWritten } from './header.ts';

/** A file as it is, or should be, on disk. */
export interface FolderFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** A file that is not as it would be written now. */
export interface Drift {
  readonly path: string;
  readonly problem: 'missing' | 'differs' | 'is no longer rendered';
}

/** A file that a run wrote and the next one does not. */
export interface StaleFile {
  readonly path: string;
  /** Nobody loses anything when it is removed. */
  readonly isOwn: boolean;
}

/** Whose files are looked at. */
export type FolderOwner = Pick<HeaderFacts, 'what' | 'provider'>;

/** Where rendered files may be; nothing else is looked at, whatever the folder is. */
const FOLDERS = ['.', 'manifests', 'openshift', 'butane', 'bootstrap'];

/** How a folder differs from what would be written; files of somebody else are not looked at. */
export async function driftOf(
  folder: string,
  files: readonly FolderFile[],
  owner: FolderOwner,
): Promise<readonly Drift[]> {
  await requireFolders(folder, files);
  const compared = await Promise.all(
    files.map(async ({ path, text }): Promise<readonly Drift[]> => {
      const found = await textOf(join(folder, path));
      if (found === text) return [];
      return [{ path, problem: found === undefined ? 'missing' : 'differs' }];
    }),
  );
  const stale = (await staleFiles(folder, files, owner)).map(
    ({ path }): Drift => ({ path, problem: 'is no longer rendered' }),
  );
  return [...compared.flat(), ...stale];
}

/** Written by an earlier run for the same thing and not by one now, whichever provider it was for. */
export async function staleFiles(
  folder: string,
  files: readonly FolderFile[],
  owner: FolderOwner,
): Promise<readonly StaleFile[]> {
  const known = new Set(files.map(({ path }) => path));
  const found = await Promise.all(FOLDERS.map((below) => filesIn(folder, below)));
  const others = found.flat().filter((path) => !known.has(path));
  const looked = others.toSorted().map(async (path): Promise<readonly StaleFile[]> => {
    const text = (await textOf(join(folder, path))) ?? '';
    return isWritten(text, owner.what) ? [{ path, isOwn: isUntouched(path, text, owner) }] : [];
  });
  return (await Promise.all(looked)).flat();
}

/** Throws a CommandError when one cannot be removed. */
export async function removeFiles(folder: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const place = join(folder, path);
    await rm(place).catch((error: unknown) => {
      throw new CommandError('SW1304', 3, `${place} cannot be removed: ${messageOf(error)}`, error);
    });
  }
}

async function filesIn(folder: string, below: string): Promise<readonly string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && /\.(yaml|bu|md)$/.test(entry.name))
    .map(({ name }) => (below === '.' ? name : `${below}/${name}`));
}

const textOf = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);

/**
 * Throws a CommandError when a file cannot be written; what was written before it stays. Nothing is written where a file
 * of somebody else would be lost.
 */
export async function writeFiles(folder: string, files: readonly FolderFile[]): Promise<void> {
  await requireFolders(folder, files);
  const foreign = await foreignFile(folder, files);
  if (foreign !== undefined) {
    throw new CommandError('SW1304', 3, `${foreign} cannot be written: it is there, and slipway did not write it`);
  }
  for (const { path, text } of files) {
    const place = join(folder, path);
    try {
      await makeFolder(dirname(place));
      await writeFile(place, text);
    } catch (error) {
      throw new CommandError('SW1304', 3, `${place} cannot be written: ${messageOf(error)}`, error);
    }
  }
}

/** Throws a CommandError when there is a file where a folder has to be. */
async function requireFolders(folder: string, files: readonly FolderFile[]): Promise<void> {
  for (const { path } of files) {
    const file = await fileOnPath(dirname(join(folder, path)));
    if (file === undefined) continue;
    throw new CommandError('SW1304', 3, `${file} is no folder: choose another place with --out`);
  }
}

async function foreignFile(folder: string, files: readonly FolderFile[]): Promise<string | undefined> {
  const places = files.map(({ path }) => join(folder, path));
  const texts = await Promise.all(places.map(textOf));
  return places.find((_, at) => {
    const text = texts[at];
    return text !== undefined && !isWritten(text);
  });
}
