// Writes the reference pages that are made from code, or compares them with the ones on disk.
//   docs.ts [--check]
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedPages } from './docs-pages.ts';

const root = join(import.meta.dirname, '..');
const words = process.argv.slice(2);
const unknown = words.find((word) => word !== '--check');
if (unknown === undefined) run(words.includes('--check'));
else {
  process.stderr.write(`unknown argument "${unknown}"; known: --check\n`);
  process.exitCode = 2;
}

function run(isCheck: boolean): void {
  const pages = generatedPages(root);
  const stale = pages.filter(({ path, text }) => onDisk(path) !== text);
  for (const { path, text } of stale) {
    if (isCheck) process.stderr.write(`${path} differs from the code; run npm run docs\n`);
    else {
      writeFileSync(join(root, path), text);
      process.stdout.write(`wrote ${path}\n`);
    }
  }
  if (isCheck && stale.length > 0) process.exitCode = 1;
  if (stale.length === 0) process.stdout.write(`${pages.length} generated pages are up to date\n`);
}

function onDisk(path: string): string | undefined {
  const file = join(root, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}
