import { globSync, readFileSync } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { messageOf, SlipwayError } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import { shellWord, shownPath } from '../journey/plain-text.ts';
import { fileOnPath, makeFolder } from '../make-folder.ts';
import type { ExitCode, VerbContext } from '../verb.ts';
import { type ProjectFile, requireProjectName, scaffold } from './scaffold.ts';
import {
  buildPackage,
  dependencyOn,
  isBuildStale,
  type SlipwayPackage,
  slipwayPackage,
} from './slipway-package.ts';

const EXAMPLE = join('examples', 'acme-cloud');
/** Of the files with a dot only this one: others are of whoever works there. */
const PATTERNS = ['**/*', '.dockerignore'];
/** What npm leaves in a clone when somebody works in the example itself. */
const LEFT_BY_NPM = /^(node_modules\/|package-lock\.json$)/;

/** Files of the example that projects are made from, in the order of their paths. */
export function exampleFiles({ root }: SlipwayPackage): readonly ProjectFile[] {
  const folder = join(root, EXAMPLE);
  return globSync(PATTERNS, {
    cwd: folder,
    withFileTypes: true,
    exclude: (entry) => entry.name === 'node_modules',
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !LEFT_BY_NPM.test(path))
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

export interface ProjectWish {
  readonly name: string;
  /** A folder with its name unless given. */
  readonly dir?: string | undefined;
}

/** The package that the project will use, and how it is built. */
export interface Origin {
  readonly slipway: SlipwayPackage;
  readonly isStale: (slipway: SlipwayPackage) => boolean;
  readonly build: (slipway: SlipwayPackage, signal: AbortSignal) => Promise<void>;
}

const thisPackage = (): Origin => ({ slipway: slipwayPackage(), isStale: isBuildStale, build: buildPackage });

/** Makes a project for a new provider. Writes all of it or nothing, and never into a folder with something in it. */
export async function initProvider(
  { output, folder, signal }: VerbContext,
  { name, dir = name }: ProjectWish,
  { slipway, isStale, build }: Origin = thisPackage(),
): Promise<ExitCode> {
  checkName(name);
  const target = resolve(folder, dir);
  const shown = shownPath(folder, target);
  await requireEmpty(target, folder);
  if (isStale(slipway)) {
    output.hint('building dist/, which the project will use; this takes some seconds');
    await build(slipway, signal);
  }
  const files = scaffold(exampleFiles(slipway), { name, dependency: dependencyOn(slipway) });
  await writeProject(target, shown, files);
  const steps = [`cd ${shellWord(shown)}`, 'npm install', 'npm test'];
  output.result(doneText(name, shown, files, steps), {
    name,
    folder: target,
    files: files.map(({ path }) => path),
    next: steps,
  });
  return 0;
}

function checkName(name: string): void {
  try {
    requireProjectName(name);
  } catch (error) {
    if (error instanceof SlipwayError) throw new CommandError('SW1302', 2, error.message, error);
    throw error;
  }
}

/** What is not there is empty. */
async function requireEmpty(target: string, folder: string): Promise<void> {
  const file = await fileOnPath(target);
  if (file !== undefined) {
    const shown = shownPath(folder, file);
    throw new CommandError('SW1303', 2, `${shown} is no folder: choose another place with --dir`);
  }
  const names = await readdir(target).catch(() => []);
  if (names.length === 0) return;
  const some = names.slice(0, 3).join(', ');
  throw new CommandError(
    'SW1303',
    2,
    `${shownPath(folder, target)} is not empty (it holds ${some}${names.length > 3 ? ' …' : ''}): choose another place with --dir, or empty it`,
  );
}

/** Beside the place first, so that nobody finds half a project. */
async function writeProject(target: string, shown: string, files: readonly ProjectFile[]): Promise<void> {
  const draft = `${target}.slipway-new`;
  try {
    await rm(draft, { recursive: true, force: true });
    for (const { path, text } of files) {
      await makeFolder(dirname(join(draft, path)));
      await writeFile(join(draft, path), text);
    }
    await makeFolder(target);
    // Replaces a folder only when it is empty.
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => undefined);
    throw new CommandError('SW1303', 3, `${shown} cannot be written: ${messageOf(error)}`, error);
  }
}

function doneText(name: string, shown: string, files: readonly ProjectFile[], steps: readonly string[]): string {
  return [
    `✔ ${name}: ${files.length} files in ${shown}`,
    '',
    'next',
    ...steps.map((step) => `  ${step}`),
    '',
    'then put the calls of your cloud into src/client.ts, and run npm test again',
    '',
  ].join('\n');
}
