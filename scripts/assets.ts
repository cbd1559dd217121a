import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Files below `root` that the code reads at run time (manifests, templates, schemas, pictures); not tests, not docs. */
export function assetFiles(root: string): readonly string[] {
  return globSync('**/*', { cwd: root })
    .filter((file) => statSync(join(root, file)).isFile())
    .filter((file) => !/\.(ts|tsx)$|(^|\/)testdata\/|(^|\/)README\.md$/.test(file))
    .sort();
}
