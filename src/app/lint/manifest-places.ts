import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join, resolve } from 'node:path';
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

/** Looked into where nothing else is, as it is in what `slipway render` writes. */
const INNER = 'manifests';
const YAML = /\.ya?ml$/;

/**
 * The manifests that a path names: a file, a folder with `assets` and `bootstrap`, or a folder with such files, perhaps in `manifests`. Undefined for
 * whatever should be the definition of a provider.
 *
 * @throws CommandError for a folder with neither.
 */
export async function manifestPlaces(folder: string, path: string): Promise<readonly ManifestPlace[] | undefined> {
  const target = resolve(folder, path);
  const found = await stat(target).catch(() => undefined);
  if (found?.isDirectory() !== true) {
    // The project of a provider names its definition, and is no manifest.
    if (YAML.test(target) && basename(target) !== PROJECT) return [{ file: target, place: 'any' }];
    if (found !== undefined || extname(target) !== '') return undefined;
    throw nothing(
      `there is no ${printable(path)}. Name a definition such as provider.ts, manifests, or their folder`,
    );
  }
  const names = await namesIn(target, path);
  if (DEFINITION_FILES.some((name) => names.includes(name))) return undefined;
  const places = await placesIn(target, names, path);
  if (places.length > 0) return places;
  const looked = [
    ...DEFINITION_FILES,
    ...['', 'assets/', 'bootstrap/', 'manifests/'].map((part) => `${part}*.yaml`),
  ].join(', ');
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
  const beside = manifestsOf(folder, names, found.length > 0 ? 'beside' : 'any');
  if (found.length > 0 || beside.length > 0 || !names.includes(INNER)) return [...found, ...beside];
  return manifestsOf(join(folder, INNER), await namesIn(join(folder, INNER), join(path, INNER)), 'any');
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
