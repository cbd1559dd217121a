import { cp, mkdir, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Volume, VolumeMount } from '../../../api/generated/core-v1-types.ts';
import type { Mount } from '../../process/mounts.ts';
import { whenMissing } from './missing-file.ts';
import { cleanPath, isInside, pathInRoot } from './node-root.ts';
import { VolumeProblem } from './pod-volumes.ts';
import { removeTree } from './tree-removal.ts';
import { isWritten } from './volume-files.ts';

/** Where a container sees a volume. Throws a VolumeProblem for a path that would hide everything. */
export function mountPathOf({ name, mountPath }: VolumeMount): string {
  const clean = cleanPath(mountPath);
  if (clean === '/') throw new VolumeProblem('FailedMount', `volume "${name}" cannot be mounted at ${mountPath}`);
  return clean;
}

/** The part of a volume that is mounted, empty for all of it. Throws a VolumeProblem for one that leaves the volume. */
export function subPathOf(
  { name, subPath = '', subPathExpr = '' }: VolumeMount,
  expand?: (text: string) => string,
) {
  if (subPathExpr === '') return checkedSubPath(name, subPath);
  if (expand !== undefined) return checkedSubPath(name, expand(subPathExpr));
  throw new VolumeProblem(
    'FailedMount',
    `subPathExpr "${subPathExpr}" of volume "${name}" cannot be expanded here`,
  );
}

function checkedSubPath(volume: string, subPath: string): string {
  const isLeaving = subPath.startsWith('/') || subPath.split('/').includes('..');
  if (!isLeaving) return subPath === '' ? '' : cleanPath(subPath).slice(1);
  throw new VolumeProblem(
    'FailedMount',
    `subPath "${subPath}" of volume "${volume}" must be relative and must not contain '..'`,
  );
}

/** A volume as it lies on this machine. */
export interface LaidOutVolume {
  readonly volume: Volume;
  readonly source: string;
  readonly isReadOnly: boolean;
}

export interface SubPath {
  readonly path: string;
  /** Where a copy of it goes, if it takes one: of this mount alone. */
  readonly copy: string;
}

/** One mount of a container. */
export async function mountOf(
  { volume, source, isReadOnly }: LaidOutVolume,
  mount: VolumeMount,
  { path, copy }: SubPath,
): Promise<Mount> {
  const rest = { mountPath: mountPathOf(mount), isReadOnly: isReadOnly || mount.readOnly === true };
  if (path === '') return { ...rest, source };
  const part = await partOf(source, path);
  if (!isWritten(volume)) return { ...rest, source: await made(part) };
  return { ...rest, source: await copied(part, copy, mount) };
}

/** Links inside a volume may lead anywhere in it, and nowhere else. */
async function partOf(source: string, path: string): Promise<string> {
  const part = await pathInRoot(source, path);
  if (isInside(source, part)) return part;
  throw new VolumeProblem('FailedMount', `subPath "${path}" is not within the volume`);
}

/** What is not there becomes a directory, as upstream. */
async function made(part: string): Promise<string> {
  if ((await stat(part).catch(whenMissing)) === undefined) await mkdir(part, { recursive: true, mode: 0o755 });
  return part;
}

/**
 * A part of a volume that is swapped as a whole would vanish with its generation. Upstream's mount keeps the file that
 * was there when the container started, and so does a copy (N28).
 */
async function copied(part: string, copy: string, { name, subPath }: VolumeMount): Promise<string> {
  if ((await stat(part).catch(whenMissing)) === undefined) {
    throw new VolumeProblem('FailedMount', `volume "${name}" has no "${subPath ?? ''}" to mount`);
  }
  await mkdir(dirname(copy), { recursive: true, mode: 0o750 });
  const fresh = join(dirname(copy), '.new');
  await removeTree(fresh);
  await cp(part, fresh, { recursive: true, dereference: true, preserveTimestamps: true });
  await removeTree(copy);
  await rename(fresh, copy);
  return copy;
}
