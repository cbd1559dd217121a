import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';

/**
 * Makes a folder and those above it, with these rights less the umask. Not `mkdirSync` with `recursive`: below a place
 * where nothing can be made, such as /proc, that one tries for ever (Node 24.21). Throws the system's error.
 */
export function ensureFolder(path: string, mode = 0o777): void {
  const missing: string[] = [];
  for (let folder = resolve(path); !exists(folder); folder = dirname(folder)) missing.push(folder);
  for (const folder of missing.reverse()) makeFolder(folder, mode);
  // What is there may be a file; the system's own words for that come from trying.
  if (!statSync(path).isDirectory()) mkdirSync(path, { mode });
}

function makeFolder(folder: string, mode: number): void {
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Somebody else made it meanwhile.
    if (!exists(folder)) throw error;
  }
}

const exists = (folder: string): boolean => statSync(folder, { throwIfNoEntry: false }) !== undefined;

/** The code of an error of the system, such as `EACCES`. */
export const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;

/** Why a file or folder cannot be written, in words: the message of the system names calls that nobody made. */
export function writeProblem(error: unknown): string {
  const code = String(codeOf(error));
  return (Object.hasOwn(PROBLEMS, code) ? PROBLEMS[code] : undefined) ?? messageOf(error);
}

const PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'no write permission',
  EPERM: 'no write permission',
  EROFS: 'the disk is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is a file',
  EEXIST: 'it is a file',
  ENOENT: 'a folder cannot be made there',
  ENAMETOOLONG: 'the path is too long',
  ELOOP: 'its links lead in a circle',
};

/** The one sentence about a data folder that cannot be used, whoever wanted it. */
export const folderRefusal = (place: string, why: string): string =>
  `the data folder ${place} cannot be written: ${why}. Choose another folder with --data, or give yourself this one`;
