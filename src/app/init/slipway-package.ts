import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import { releaseVersion } from '../release.ts';
import { DIGEST_FILE, sourceDigest } from './source-digest.ts';

/** The package that this code is part of: installed, or the clone that somebody works in. */
export interface SlipwayPackage {
  readonly root: string;
  readonly isClone: boolean;
}

/** Three folders up, both in the sources and in the published package. */
const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const MOST_OUTPUT = 1 << 20;

export const slipwayPackage = (root: string = ROOT): SlipwayPackage => ({
  root,
  // Only a clone has it; the same question as in bin/slipway.cjs.
  isClone: existsSync(join(root, 'scripts', 'bootstrap.cjs')),
});

/** What a project names to depend on this package: the exact version, or the clone as it is. */
export const dependencyOn = ({ root, isClone }: SlipwayPackage): string =>
  isClone ? `file:${root}` : releaseVersion();

/** Whether a project that depends on the clone would find nothing, or something old. */
export function isBuildStale({ root, isClone }: SlipwayPackage): boolean {
  if (!isClone) return false;
  const file = join(root, 'dist', DIGEST_FILE);
  return !existsSync(file) || readFileSync(file, 'utf8').trim() !== sourceDigest(root);
}

/** Builds `dist` of a clone, as `npm run build` does. */
export async function buildPackage({ root }: SlipwayPackage, signal: AbortSignal): Promise<void> {
  try {
    const args = [join(root, 'scripts', 'build.ts')];
    await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: MOST_OUTPUT, signal });
  } catch (error) {
    signal.throwIfAborted();
    const why = `dist/ of ${root} could not be built: ${messageOf(error)}`;
    throw new CommandError('SW1301', 3, `${why}. Run npm run build there to see all of it`, error);
  }
}
