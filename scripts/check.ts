// Everything a machine can say about the code without running it: types, lint, format, dead code, architecture.
//   check.ts [types|lint|format|dead-code|architecture …] [--write]
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);
const FOLDERS = ['src', 'test', 'scripts', 'oracles', 'bench', 'examples', 'bin'].filter((folder) =>
  existsSync(folder),
);
const words = process.argv.slice(2);
const write = words.includes('--write') ? ['--write'] : [];

/** Name → program (its path, or its name in node_modules/.bin) and its arguments. */
const CHECKS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  types: ['tsc', '--noEmit'],
  // Paths are always given: without them oxlint walks into node_modules.
  lint: ['oxlint', '--type-aware', '--deny-warnings', ...FOLDERS],
  format: ['biome', 'check', '--linter-enabled=false', '--error-on-warnings', ...write, '.'],
  'dead-code': ['knip', '--no-progress'],
  architecture: [process.execPath, '--test', '--test-reporter=dot', 'test/architecture.test.ts'],
};

const asked = words.filter((word) => !word.startsWith('-'));
const unknown = asked.find((word) => !Object.hasOwn(CHECKS, word));
if (unknown !== undefined) {
  process.stderr.write(`unknown check "${unknown}"; known: ${Object.keys(CHECKS).join(', ')}\n`);
  process.exit(2);
}
const names = asked.length > 0 ? asked : Object.keys(CHECKS);
const started = performance.now();
const failed: string[] = [];
for (const name of names) if (!(await passes(name))) failed.push(name);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
process.stdout.write(`check: ${names.length - failed.length} passed, ${failed.length} failed in ${seconds} s\n`);
if (failed.length > 0) process.exitCode = 1;

async function passes(name: string): Promise<boolean> {
  const [program, ...args] = CHECKS[name] ?? ['false'];
  const begun = performance.now();
  const file = program === process.execPath ? program : `node_modules/.bin/${program}`;
  const result = await run(file, args, { maxBuffer: 64 * 1024 * 1024 }).then(
    () => undefined,
    (error: unknown) => error,
  );
  const time = `${((performance.now() - begun) / 1000).toFixed(1)} s`;
  process.stdout.write(`${result === undefined ? '✔' : '✖'} ${name.padEnd(13)} ${time}\n`);
  if (result !== undefined) process.stdout.write(`${outputOf(result)}\n`);
  return result === undefined;
}

function outputOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { stdout, stderr, message } = error as { stdout?: string; stderr?: string; message?: string };
  const output = `${stdout ?? ''}${stderr ?? ''}`.trim();
  return output === '' ? (message ?? 'failed without output') : output;
}
