import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { userError } from '../../base/errors.ts';

/** A path of 107 bytes less what the lab and the plugins of a node put below it: `/31/n/253/var/lib/kubelet/…`. */
const LONGEST_PATH = 32;
const HASH_LENGTH = 10;

export interface ShortLink extends Disposable {
  readonly path: string;
}

/**
 * A short path to a directory: itself, or a link in a directory of ours for temporary files, always the same one, because
 * some of what is kept in the directory names paths. Disposing removes the link; whoever makes one removes those that
 * killed labs left and that lead nowhere any more.
 */
export function shortLink(directory: string, parents: readonly string[] = [tmpdir(), '/tmp']): ShortLink {
  if (Buffer.byteLength(directory) <= LONGEST_PATH) return { path: directory, [Symbol.dispose]: () => {} };
  const name = `sw-${createHash('sha256').update(directory).digest('hex').slice(0, HASH_LENGTH)}`;
  const parent = parents.find((one) => Buffer.byteLength(join(one, name, LINK)) <= LONGEST_PATH);
  if (parent === undefined)
    throw userError(
      'DataPathTooLong',
      `${tooLong(directory)}, and ${parents.join(' and ')} have no room for a link`,
    );
  sweep(parent, name);
  const folder = join(parent, name);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  requireOurs(folder, directory);
  const path = join(folder, LINK);
  if (targetOf(path) !== directory) {
    rmSync(path, { force: true });
    symlinkSync(directory, path);
  }
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

const LINK = 'd';
const FOLDER = new RegExp(`^sw-[0-9a-f]{${HASH_LENGTH}}$`);

/** A link whose directory still exists is left alone: a lab may live there, and the next one there takes it up. */
function sweep(parent: string, own: string): void {
  try {
    const folders = readdirSync(parent).filter((name) => FOLDER.test(name) && name !== own);
    for (const name of folders) removeDangling(join(parent, name));
  } catch {
    // Nobody needs it tidy now: the folder may not be readable at all.
  }
}

function removeDangling(folder: string): void {
  const link = join(folder, LINK);
  const target = targetOf(link);
  if (target === undefined || existsSync(target) || !isOurs(folder)) return;
  try {
    unlinkSync(link);
    rmdirSync(folder);
  } catch {
    // Another lab removes it at the same time, or something else is in it.
  }
}

const tooLong = (directory: string): string =>
  `the paths of sockets in ${directory} would be too long (at most ${LONGEST_PATH} bytes); choose a shorter directory`;

/** Everybody may make something in /tmp: a link that somebody else can change would lead wherever he likes. */
function requireOurs(folder: string, directory: string): void {
  if (!isOurs(folder))
    throw userError('DataPathTooLong', `${tooLong(directory)}, or remove ${folder}, which is not ours`);
}

function isOurs(folder: string): boolean {
  const facts = lstatSync(folder, { throwIfNoEntry: false });
  return facts?.isDirectory() === true && facts.uid === process.getuid?.() && (facts.mode & 0o022) === 0;
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
