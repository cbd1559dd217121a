import { mkdir, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { HostPathVolumeSource } from '../../../api/generated/core-v1-types.ts';
import { whenMissing } from './missing-file.ts';
import { cleanPath, isInside, pathInRoot } from './node-root.ts';
import { VolumeProblem } from './pod-volumes.ts';

export interface NodeFiles {
  /** What the node takes for `/`. */
  readonly root: string;
  /** Paths of this machine that pods of the node may see as they are, such as `/sys`. */
  readonly realPaths: readonly string[];
}

type HostPathType = NonNullable<HostPathVolumeSource['type']>;

/** The path as it is on this machine; real paths are never written to. */
export interface HostPath {
  readonly source: string;
  readonly isReal: boolean;
}

/** Where a path of the node is (N29). Rejects with a VolumeProblem for a real path whose links leave what is allowed. */
export async function locateHostPath({ root, realPaths }: NodeFiles, path: string): Promise<HostPath> {
  const clean = cleanPath(path);
  const allowed = realPaths.map(cleanPath);
  if (!allowed.some((one) => isInside(one, clean))) {
    return { source: await pathInRoot(root, clean), isReal: false };
  }
  const source = await pathInRoot('/', clean);
  const ends = await Promise.all(allowed.map((one) => pathInRoot('/', one)));
  if (ends.some((end) => isInside(end, source))) return { source, isReal: true };
  throw new VolumeProblem('FailedMount', `${path} leads to ${source}, which this node may not see`);
}

/** What a thing must be, and how it is called when it is not. */
const CHECKS: Readonly<Record<Exclude<HostPathType, ''>, { readonly is: Check; readonly text: string }>> = {
  Directory: { is: (found) => found.isDirectory(), text: 'a directory' },
  DirectoryOrCreate: { is: (found) => found.isDirectory(), text: 'a directory' },
  File: { is: (found) => !found.isDirectory(), text: 'a file' },
  FileOrCreate: { is: (found) => !found.isDirectory(), text: 'a file' },
  Socket: { is: (found) => found.isSocket(), text: 'a socket file' },
  CharDevice: { is: (found) => found.isCharacterDevice(), text: 'a character device' },
  BlockDevice: { is: (found) => found.isBlockDevice(), text: 'a block device' },
};

type Check = (found: Awaited<ReturnType<typeof stat>>) => boolean;

/** Checks and makes what a volume names. Rejects with a VolumeProblem that says what it is not. Idempotent. */
export async function ensureHostPath(
  files: NodeFiles,
  { path, type = '' }: HostPathVolumeSource,
): Promise<HostPath> {
  if (type !== '' && !Object.hasOwn(CHECKS, type)) {
    throw new VolumeProblem('FailedMount', `${type} is an invalid volume type`);
  }
  const found = await locateHostPath(files, path);
  const { source, isReal } = found;
  const there = await stat(source).catch(whenMissing);
  if (there === undefined && !isReal && (await make(source, type))) return found;
  if (type === '') {
    if (there !== undefined) return found;
    throw new VolumeProblem(
      'FailedMount',
      `${path} does not exist on this machine, and the lab makes nothing there`,
    );
  }
  const { is, text } = CHECKS[type];
  if (there !== undefined && is(there)) return found;
  throw new VolumeProblem('FailedMount', `hostPath type check failed: ${path} is not ${text}`);
}

/** Without a type it is the container runtime that makes a directory. False for types that must be there already. */
async function make(source: string, type: HostPathType): Promise<boolean> {
  if (type === '' || type === 'DirectoryOrCreate') {
    await mkdir(source, { recursive: true, mode: 0o755 });
    return true;
  }
  if (type !== 'FileOrCreate') return false;
  // As upstream: the directory must be there.
  if ((await stat(dirname(source)).catch(whenMissing)) === undefined) return false;
  await using _file = await open(source, 'a', 0o644);
  return true;
}
