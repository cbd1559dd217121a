import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** In `dist`: what it was built from. */
export const DIGEST_FILE = 'source.sha256';

/** Of everything that a build is made of: the same digest means the same `dist`. */
export function sourceDigest(root: string): string {
  const files = [...globSync('src/**/*', { cwd: root, withFileTypes: true })]
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
  const hash = createHash('sha256');
  for (const file of [...files, join(root, 'tsconfig.json'), join(root, 'tsconfig.build.json')]) {
    const content = readFileSync(file);
    hash.update(`${file.slice(root.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
