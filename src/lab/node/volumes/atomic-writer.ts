import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import type { FilePayload, PayloadFile } from './file-payload.ts';
import { codeOf, whenMissing } from './missing-file.ts';

const DATA = '..data';
const NEW_DATA = '..data_tmp';
const GENERATION = /^\.\.\d{4}(_\d\d){5}\.\d+$/;

/**
 * Makes the files below a directory exactly the payload, all at once (N27): readers that go through `..data` see the old
 * files or the new ones, never both. True when anything changed; equal files are not touched. What an interrupted call
 * left behind is put in order. Calls for one directory must not overlap.
 */
export async function writeAtomically(directory: string, payload: FilePayload, clock: Clock): Promise<boolean> {
  const current = await currentGeneration(directory);
  const isSame = current !== undefined && (await holds(join(directory, current), payload));
  const generation = isSame ? current : await swapped(directory, payload, clock);
  const isRepaired = await linkTopLevel(directory, payload);
  await removeOthers(directory, generation);
  return !isSame || isRepaired;
}

/** The directory behind `..data`; undefined when there is none, or when it points elsewhere. */
async function currentGeneration(directory: string): Promise<string | undefined> {
  const target = await readlink(join(directory, DATA)).catch(whenMissing);
  return target !== undefined && GENERATION.test(target) ? target : undefined;
}

async function holds(directory: string, payload: FilePayload): Promise<boolean> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(whenMissing);
  if (entries === undefined) return false;
  const files = entries.filter((entry) => !entry.isDirectory());
  if (files.length !== payload.size) return false;
  for (const [path, file] of payload) {
    if (!(await isFile(join(directory, path), file))) return false;
  }
  return true;
}

async function isFile(path: string, { bytes, mode }: PayloadFile): Promise<boolean> {
  const found = await lstat(path).catch(whenMissing);
  if (found?.isFile() !== true || found.size !== bytes.length || (found.mode & 0o777) !== mode) return false;
  return (await readFile(path)).equals(bytes);
}

/** Writes a generation of its own and points `..data` to it; nothing is visible before the last step. */
async function swapped(directory: string, payload: FilePayload, clock: Clock): Promise<string> {
  const generation = await newGeneration(directory, clock);
  try {
    for (const [path, file] of payload) await write(join(directory, generation, path), file);
    await rm(join(directory, NEW_DATA), { force: true });
    await symlink(generation, join(directory, NEW_DATA));
    await rename(join(directory, NEW_DATA), join(directory, DATA));
    return generation;
  } catch (error) {
    await rm(join(directory, generation), { recursive: true, force: true });
    throw error;
  }
}

async function newGeneration(directory: string, clock: Clock): Promise<string> {
  const moment = clock.now().toISOString().slice(0, 19).replaceAll(/[-:T]/g, '_');
  for (;;) {
    const generation = `..${moment}.${Math.floor(clock.random() * 1e9)}`;
    const path = join(directory, generation);
    // Every life of a lab may begin at the same time with the same random numbers: the name may be taken.
    if (!(await isMade(path))) continue;
    // The umask of the lab must not decide who may read.
    await chmod(path, 0o755);
    return generation;
  }
}

async function isMade(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
    return false;
  }
}

async function write(path: string, { bytes, mode }: PayloadFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await writeFile(path, bytes, { mode });
  await chmod(path, mode);
}

/** `key → ..data/key` for each name at the top, and for no other. True when one was missing or too many. */
async function linkTopLevel(directory: string, payload: FilePayload): Promise<boolean> {
  const wanted = new Set([...payload.keys()].map((path) => path.split('/')[0] ?? ''));
  let isChanged = false;
  for (const name of await readdir(directory)) {
    if (name.startsWith('..') || (await linkTarget(join(directory, name))) !== join(DATA, name)) continue;
    if (wanted.delete(name)) continue;
    await rm(join(directory, name));
    isChanged = true;
  }
  for (const name of wanted) {
    await symlink(join(DATA, name), join(directory, name));
    isChanged = true;
  }
  return isChanged;
}

/** What is no link is not ours. */
const linkTarget = (path: string): Promise<string | undefined> => readlink(path).catch(() => undefined);

async function removeOthers(directory: string, generation: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const isOld = GENERATION.test(name) && name !== generation;
    if (isOld || name === NEW_DATA) await rm(join(directory, name), { recursive: true, force: true });
  }
}
