// Makes `dist/`: JavaScript and type declarations from the sources, plus every file that is not TypeScript.
// Node refuses to strip types inside node_modules, so this is what is published.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DIGEST_FILE, sourceDigest } from '../src/app/init/source-digest.ts';
import { assetFiles } from './assets.ts';

// Before the compiler reads them: what changes meanwhile is built again.
const digest = sourceDigest(process.cwd());
rmSync('dist', { recursive: true, force: true });
execFileSync('node_modules/.bin/tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' });
const assets = assetFiles('src');
for (const file of assets) {
  const target = join('dist', file);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(join('src', file), target);
}
// `slipway init` builds again when this is not what the sources are.
writeFileSync(join('dist', DIGEST_FILE), `${digest}\n`);
process.stdout.write(`dist/ built, with ${assets.length} files that are not TypeScript\n`);
