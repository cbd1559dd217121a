import { mkdir, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';

/**
 * Lays out a directory in which each mapped program of an image is found by its name (N11): put first in PATH, a shell
 * command finds them. Resolves to its path. Idempotent.
 */
export async function layOutShims(directory: string, programs: Readonly<Record<string, string>>): Promise<string> {
  const shims = join(directory, 'programs');
  await mkdir(shims, { recursive: true });
  for (const [path, program] of Object.entries(programs)) {
    // A script and no link: some programs ask how they were called, and look for their files from there.
    await writeFile(join(shims, posix.basename(path)), `#!/bin/sh\nexec ${quoted(program)} "$@"\n`, {
      mode: 0o755,
    });
  }
  return shims;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
