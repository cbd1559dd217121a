import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { DIGEST_FILE, sourceDigest } from '../src/app/init/source-digest.ts';

const NODE = 'node_modules/.bin/node';
/** As the installed command starts it. */
const { NODE_ARGS }: { readonly NODE_ARGS: readonly string[] } = createRequire(import.meta.url)(
  '../bin/own-node.cjs',
);

export interface Published {
  /** Before the words of a command. */
  readonly words: readonly string[];
  /** For the table. */
  readonly form: 'as published' | 'from sources';
}

/** Our command as it is published; what is built is built again when the sources are others, unless there is no time for it. */
export function publishedCommand(mayBuild: boolean): Published {
  if (!isBuilt() && mayBuild) execFileSync(NODE, ['scripts/build.ts'], { stdio: 'ignore' });
  const [main, form, flags] = isBuilt()
    ? (['dist/cli/main.js', 'as published', []] as const)
    : (['src/cli/main.ts', 'from sources', ['--conditions=slipway-source']] as const);
  return { words: [NODE, ...NODE_ARGS, ...flags, main], form };
}

function isBuilt(): boolean {
  const file = join('dist', DIGEST_FILE);
  return existsSync(file) && readFileSync(file, 'utf8').trim() === sourceDigest(process.cwd());
}
