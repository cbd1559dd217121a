import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import type { GivenFile } from '../../cloud-operator/index.ts';
import { CommandError } from '../failures.ts';

/** Files that are named by flags. */
export type FileFlags<Flag extends string> = { readonly [F in Flag]?: string | undefined };

/**
 * What the flags name, each a regular file that holds something. Throws a CommandError with everything that cannot be read,
 * and with what has to be named and is not.
 */
export async function givenFiles<Flag extends string, Required extends Flag>(
  folder: string,
  flags: FileFlags<Flag>,
  { all, required }: { readonly all: readonly Flag[]; readonly required: readonly Required[] },
): Promise<{ readonly [F in Flag]?: GivenFile } & { readonly [F in Required]: GivenFile }> {
  const problems: string[] = [];
  const found: { [F in Flag]?: GivenFile } = {};
  for (const flag of all) {
    const file = flags[flag];
    try {
      if (file !== undefined) found[flag] = await givenFile(folder, file);
      else if (required.some((one) => one === flag)) throw new Error('it is missing; name the file');
    } catch (error) {
      problems.push(`error reading --${flag}: ${messageOf(error)}`);
    }
  }
  if (!hasAll(found, required) || problems.length > 0) throw new CommandError('SW1002', 2, problems.join('\n'));
  return found;
}

const hasAll = <Flag extends string, Required extends Flag>(
  found: { readonly [F in Flag]?: GivenFile },
  required: readonly Required[],
): found is { readonly [F in Flag]?: GivenFile } & { readonly [F in Required]: GivenFile } =>
  required.every((flag) => found[flag] !== undefined);

const MISSING: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);
const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);

async function givenFile(folder: string, file: string): Promise<GivenFile> {
  const path = resolve(folder, file);
  const found = await stat(path).catch((error: unknown) => {
    throw MISSING.has(codeOf(error)) ? new Error(`no such file: ${file}`) : error;
  });
  if (!found.isFile()) throw new Error(`${file} is not a regular file`);
  const text = await readFile(path, 'utf8');
  if (text.trim() === '') throw new Error(`${file} is empty`);
  return { file, text };
}
