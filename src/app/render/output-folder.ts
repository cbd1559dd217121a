import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import { fileOnPath, makeFolder } from '../make-folder.ts';
import { type HeaderFacts, isUntouched, isWritten } from './header.ts';

/** A file as it is, or should be, on disk. */
export interface FolderFile {
  /** Relative, with slashes. */
  readonly path: string;
  /** Bytes where it is somebody else's. */
  readonly text: string | Uint8Array;
  /** For a program that takes it as it is: without a line that says who wrote it, so that it is written over. */
  readonly isPlain?: boolean;
  /** Nobody but its owner may read it. */
  readonly isSecret?: boolean;
}

/** A file that is not as it would be written now. */
export interface Drift {
  readonly path: string;
  readonly problem: 'missing' | 'differs' | 'is not for its owner alone' | 'is no longer rendered';
}

/** A file that a run wrote and the next one does not. */
export interface StaleFile {
  readonly path: string;
  /** Nobody loses anything when it is removed. */
  readonly isOwn: boolean;
  /** It holds a credential. */
  readonly isSecret?: boolean;
}

/** Whose files are looked at. */
export type FolderOwner = Pick<HeaderFacts, 'what' | 'provider'> & {
  /** Whether it writes plain files: others that are where such files belong are told of, since nothing says whose they are. */
  readonly hasPlain?: boolean;
};

/** Where rendered files may be; nothing else is looked at, whatever the folder is. */
const FOLDERS = ['.', 'manifests', 'openshift', 'butane', 'bootstrap'];
const RENDERED = /\.(?:yaml|bu|md)$|^image-references$/;
/** Of a mode: whatever group and world may do. */
const FOR_OTHERS = 0o077;
/** Where plain files may be, which have no line that says who wrote them. */
const PLAIN_FILE = 'config/cloud.conf';
const PLAIN_FOLDER = 'secrets';

/** How a folder differs from what would be written; files of somebody else are not looked at. */
export async function driftOf(
  folder: string,
  files: readonly FolderFile[],
  owner: FolderOwner,
): Promise<readonly Drift[]> {
  await requireFolders(folder, files);
  const compared = await Promise.all(
    files.map(async (file): Promise<readonly Drift[]> => {
      const problem = await problemOf(join(folder, file.path), file);
      return problem === undefined ? [] : [{ path: file.path, problem }];
    }),
  );
  const stale = (await staleFiles(folder, files, owner)).map(
    ({ path }): Drift => ({ path, problem: 'is no longer rendered' }),
  );
  return [...compared.flat(), ...stale];
}

async function problemOf(place: string, { text, isSecret }: FolderFile): Promise<Drift['problem'] | undefined> {
  const found = await readFile(place).catch(() => undefined);
  if (found === undefined) return 'missing';
  if (!found.equals(Buffer.from(text))) return 'differs';
  const mayOthers = isSecret === true && ((await stat(place)).mode & FOR_OTHERS) !== 0;
  return mayOthers ? 'is not for its owner alone' : undefined;
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
  const plain = owner.hasPlain === true ? await plainFiles(folder) : [];
  return [
    ...(await Promise.all(looked)).flat(),
    ...plain
      .filter((path) => !known.has(path))
      .map((path) => ({ path, isOwn: false, isSecret: path.startsWith(`${PLAIN_FOLDER}/`) })),
  ];
}

async function plainFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(folder, PLAIN_FOLDER), { withFileTypes: true }).catch(() => []);
  const below = entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${PLAIN_FOLDER}/${name}`);
  const [config, ...secrets] = await Promise.all(
    [dirname(PLAIN_FILE), ...below].map((one) => filesIn(folder, one, /(?:)/)),
  );
  return [...(config ?? []).filter((path) => path === PLAIN_FILE), ...secrets.flat().toSorted()];
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

async function filesIn(folder: string, below: string, names = RENDERED): Promise<readonly string[]> {
  const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map(({ name }) => (below === '.' ? name : `${below}/${name}`));
}

const textOf = (file: string): Promise<string | undefined> => readFile(file, 'utf8').catch(() => undefined);

/**
 * Throws a CommandError when a file cannot be written; what was written before it stays. Nothing is written where a file
 * of somebody else would be lost. `folders` are made even when nothing is in them.
 */
export async function writeFiles(
  folder: string,
  files: readonly FolderFile[],
  folders: readonly string[] = [],
): Promise<void> {
  await requireFolders(folder, files, folders);
  const foreign = await foreignFile(folder, files);
  if (foreign !== undefined) {
    throw new CommandError('SW1304', 3, `${foreign} cannot be written: it is there, and slipway did not write it`);
  }
  for (const below of folders) {
    const place = join(folder, below);
    await makeFolder(place).catch((error: unknown) => notWritten(place, error));
  }
  await closeFolders(folder, files);
  for (const file of files) await write(join(folder, file.path), file);
}

/** Folders of secrets, from the top: what they hold has names, too. */
async function closeFolders(folder: string, files: readonly FolderFile[]): Promise<void> {
  const below = files.filter(({ isSecret }) => isSecret === true).map(({ path }) => dirname(path));
  for (const place of new Set(below.flatMap((path) => [join(folder, dirname(path)), join(folder, path)]))) {
    try {
      await makeFolder(place);
      await chmod(place, 0o700);
    } catch (error) {
      notWritten(place, error);
    }
  }
}

async function write(place: string, { text, isSecret }: FolderFile): Promise<void> {
  try {
    await makeFolder(dirname(place));
    // An older file keeps its own mode, which may be for everybody.
    if (isSecret === true) await rm(place, { force: true });
    await writeFile(place, text, isSecret === true ? { mode: 0o600 } : {});
  } catch (error) {
    notWritten(place, error);
  }
}

function notWritten(place: string, error: unknown): never {
  throw new CommandError('SW1304', 3, `${place} cannot be written: ${messageOf(error)}`, error);
}

/** Throws a CommandError when there is a file where a folder has to be. */
async function requireFolders(
  folder: string,
  files: readonly FolderFile[],
  folders: readonly string[] = [],
): Promise<void> {
  for (const below of new Set([...folders, ...files.map(({ path }) => dirname(path))])) {
    const file = await fileOnPath(join(folder, below));
    if (file === undefined) continue;
    throw new CommandError('SW1304', 3, `${file} is no folder: choose another place with --out`);
  }
}

async function foreignFile(folder: string, files: readonly FolderFile[]): Promise<string | undefined> {
  const places = files.filter(({ isPlain }) => isPlain !== true).map(({ path }) => join(folder, path));
  const texts = await Promise.all(places.map(textOf));
  return places.find((_, at) => {
    const text = texts[at];
    return text !== undefined && !isWritten(text);
  });
}
