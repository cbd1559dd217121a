import { readlink } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { codeOf, whenMissing } from './missing-file.ts';
import { VolumeProblem } from './pod-volumes.ts';

const MOST_LINKS = 40;

/**
 * Where a path is when `root` is the root of everything: `..` stops at the root, and links lead where they would lead
 * there, so that nothing outside is reached (N29). The path need not exist. Links that change between this and the use of
 * the answer are not noticed: the lab keeps pods apart by mistake, not by malice.
 */
export async function pathInRoot(root: string, path: string): Promise<string> {
  const left = namesOf(path);
  let done: string[] = [];
  let links = 0;
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === '..') {
      done.pop();
      continue;
    }
    const target = await linkTarget(join(root, ...done, name));
    if (target === undefined) {
      done.push(name);
      continue;
    }
    if (++links > MOST_LINKS) throw new VolumeProblem('FailedMount', `${path}: too many levels of symbolic links`);
    const inside = withoutRoot(root, target);
    if (inside.startsWith('/')) done = [];
    left.unshift(...namesOf(inside));
  }
  return join(root, ...done);
}

const namesOf = (path: string): string[] => path.split('/').filter((name) => name !== '' && name !== '.');

/** The lab itself links by real paths, such as devices. */
const withoutRoot = (root: string, target: string): string =>
  root !== '/' && isInside(root, target) ? target.slice(root.length) || '/' : target;

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // It is there, and no link.
    return codeOf(error) === 'EINVAL' ? undefined : whenMissing(error);
  }
}

/** Whether a path is a directory or below it; both absolute and clean. */
export const isInside = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);

/** Absolute, without dots and doubled slashes, without a slash at the end. */
export function cleanPath(path: string): string {
  const clean = posix.normalize(`/${path}`);
  return clean.length > 1 && clean.endsWith('/') ? clean.slice(0, -1) : clean;
}
