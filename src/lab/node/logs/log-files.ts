import { mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { userError } from '../../../base/errors.ts';
import { whenMissing } from '../volumes/missing-file.ts';

/** File systems take no longer names. */
const LONGEST_NAME = 255;
const RUN_FILE = /^(\d+)\.log(?:\.\d{8}-\d{6}-(\d+))?$/;

/** One file of a run; the one that is written now has no number yet. */
export interface LogFile {
  readonly path: string;
  /** Grows with each rotation. */
  readonly number: number;
}

/** The directory of a pod's logs: `/var/log/pods/<namespace>_<pod>_<uid>` (N39). */
function podLogDirectory(root: string, { metadata }: Pod): string {
  const { namespace = 'default', name, uid = '' } = metadata;
  // Long names are cut so that the uid, which nobody else has, stays.
  const end = `_${uid}`;
  return join(
    root,
    'var/log/pods',
    segment(`${`${namespace}_${name}`.slice(0, LONGEST_NAME - end.length)}${end}`),
  );
}

/** The log directories of all pods, with their uids. */
export async function podLogDirectories(
  root: string,
): Promise<readonly { readonly path: string; readonly uid: string }[]> {
  const directory = join(root, 'var/log/pods');
  const names = (await readdir(directory).catch(whenMissing)) ?? [];
  return names.map((name) => ({ path: join(directory, name), uid: name.slice(name.lastIndexOf('_') + 1) }));
}

export const containerLogDirectory = (root: string, pod: Pod, container: string): string =>
  join(podLogDirectory(root, pod), segment(container));

export const runFile = (directory: string, run: number): string => join(directory, `${run}.log`);

/** The name of a file that is full. */
export function rotatedFile(path: string, time: Date, number: number): string {
  const moment = time.toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return `${path}.${moment}-${String(number).padStart(6, '0')}`;
}

function segment(name: string): string {
  if (/^[A-Za-z0-9][-._A-Za-z0-9]*$/.test(name) && name.length <= LONGEST_NAME) return name;
  throw userError('UnsafeName', `"${name}" cannot name a directory of logs; use letters, digits, dashes and dots`);
}

/** The runs of a container that left files, the oldest first. */
export async function runsIn(directory: string): Promise<readonly number[]> {
  const names = (await readdir(directory).catch(whenMissing)) ?? [];
  const runs = names.flatMap((name) => RUN_FILE.exec(name)?.[1] ?? []).map(Number);
  return [...new Set(runs)].sort((one, other) => one - other);
}

/** The files of one run, the oldest first; empty when there are none. */
export async function filesOfRun(directory: string, run: number): Promise<readonly LogFile[]> {
  const names = (await readdir(directory).catch(whenMissing)) ?? [];
  const parsed = names.flatMap((name) => {
    const [, found, number] = RUN_FILE.exec(name) ?? [];
    return found === String(run) ? [{ path: join(directory, name), number }] : [];
  });
  const rotated = parsed
    .flatMap(({ path, number }) => (number === undefined ? [] : [{ path, number: Number(number) }]))
    .sort((one, other) => one.number - other.number);
  const next = (rotated.at(-1)?.number ?? 0) + 1;
  const current = parsed.filter(({ number }) => number === undefined).map(({ path }) => ({ path, number: next }));
  return [...rotated, ...current];
}

export interface LogLink {
  readonly root: string;
  readonly pod: Pod;
  readonly container: string;
  readonly run: number;
  /** Of the run, without a scheme. */
  readonly id: string;
}

/** `/var/log/containers/<pod>_<namespace>_<container>-<id>.log`, which leads to the file that is written (N39). */
export async function linkRun({ root, pod, container, run, id }: LogLink): Promise<void> {
  const { name, namespace = 'default' } = pod.metadata;
  const directory = join(root, 'var/log/containers');
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const start = `${name}_${namespace}_${container}-${id}`.slice(0, LONGEST_NAME - '.log'.length);
  const path = join(directory, `${start}.log`);
  await rm(path, { force: true });
  await symlink(linkTarget(podLogDirectory(root, pod), container, run), path);
}

/** Removes the links whose files are gone. */
export async function unlinkLost(root: string): Promise<void> {
  const directory = join(root, 'var/log/containers');
  for (const name of (await readdir(directory).catch(whenMissing)) ?? []) {
    const path = join(directory, name);
    const isLost = (await stat(path).catch(whenMissing)) === undefined;
    if (isLost) await rm(path, { force: true });
  }
}

/** Relative: the root of the node is not that of the machine. */
const linkTarget = (podDirectory: string, container: string, run: number): string =>
  join('../pods', basename(podDirectory), container, `${run}.log`);
