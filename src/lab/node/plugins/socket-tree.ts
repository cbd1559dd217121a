import type { BigIntStats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { whenMissing } from '../volumes/missing-file.ts';

/** Nobody nests them deeper; a mistake must not make the node read a whole disk. */
const DEEPEST = 8;
const MOST_SOCKETS = 256;

/** Both by path: what changes when it is another one, though it has the same path. */
export interface SocketTree {
  readonly sockets: ReadonlyMap<string, string>;
  readonly directories: ReadonlyMap<string, string>;
}

/** The sockets in a directory and below, without what begins with a dot. What goes away meanwhile is left out. */
export async function socketTree(root: string): Promise<SocketTree> {
  const sockets = new Map<string, string>();
  const directories = new Map<string, string>();
  const visit = async (directory: string, depth: number): Promise<void> => {
    const here = await lstat(directory, { bigint: true }).catch(whenMissing);
    const names = (await readdir(directory).catch(whenMissing)) ?? [];
    if (here === undefined) return;
    directories.set(directory, markOf(here));
    for (const name of names.filter((one) => !one.startsWith('.')).sort()) {
      const path = join(directory, name);
      const found = await lstat(path, { bigint: true }).catch(whenMissing);
      if (found?.isDirectory() === true && depth < DEEPEST) await visit(path, depth + 1);
      if (found?.isSocket() === true && sockets.size < MOST_SOCKETS) sockets.set(path, markOf(found));
    }
  };
  await visit(root, 0);
  return { sockets, directories };
}

const markOf = ({ dev, ino, birthtimeNs }: BigIntStats): string => `${dev} ${ino} ${birthtimeNs}`;
