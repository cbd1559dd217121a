import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import { printable } from '../journey/plain-text.ts';
import { DEFINITION_FILES, PROJECT } from '../provider/load-provider.ts';

/** A file with manifests, and what these are for; see `LooseFile` of the cloud operator. */
export interface ManifestPlace {
  /** Absolute. */
  readonly file: string;
  readonly place: 'assets' | 'bootstrap' | 'any' | 'beside';
}

const YAML = /\.ya?ml$/;

/**
 * The manifests that a path names: a file, a folder with `assets` and `bootstrap`, or a folder with such files. Undefined for
 * whatever should be the definition of a provider.
 *
 * @throws CommandError for a folder with neither.
 */
export async function manifestPlaces(folder: string, path: string): Promise<readonly ManifestPlace[] | undefined> {
  const target = resolve(folder, path);
  const isFolder = (await stat(target).catch(() => undefined))?.isDirectory();
  // The project of a provider names its definition, and is no manifest.
  if (isFolder !== true) {
    return YAML.test(target) && basename(target) !== PROJECT ? [{ file: target, place: 'any' }] : undefined;
  }
  const names = await namesIn(target, path);
  if (DEFINITION_FILES.some((name) => names.includes(name))) return undefined;
  const places = await placesIn(target, names, path);
  if (places.length > 0) return places;
  const looked = [...DEFINITION_FILES, '*.yaml', 'assets/*.yaml', 'bootstrap/*.yaml'].join(', ');
  throw nothing(`there is nothing to check in ${printable(path)}: looked for ${looked}`);
}

async function placesIn(
  folder: string,
  names: readonly string[],
  path: string,
): Promise<readonly ManifestPlace[]> {
  const parts = (['assets', 'bootstrap'] as const).filter((name) => names.includes(name));
  const ordered = await Promise.all(
    parts.map(async (place) => {
      const inner = await namesIn(join(folder, place), join(path, place));
      return manifestsOf(join(folder, place), inner, place);
    }),
  );
  const found = ordered.flat();
  return [...found, ...manifestsOf(folder, names, found.length > 0 ? 'beside' : 'any')];
}

const manifestsOf = (
  folder: string,
  names: readonly string[],
  place: ManifestPlace['place'],
): readonly ManifestPlace[] =>
  names
    .filter((name) => YAML.test(name) && !name.startsWith('.'))
    .toSorted()
    .map((name) => ({ file: join(folder, name), place }));

/** What is in a folder; nothing when it is none. */
async function namesIn(folder: string, path: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return [];
    throw nothing(`the folder ${printable(path)} cannot be read: ${messageOf(error)}`, error);
  });
}

const nothing = (message: string, cause?: unknown): CommandError => new CommandError('SW2105', 2, message, cause);
