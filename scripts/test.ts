// Runs the tests and ends with one line `N passed, N failed` that people and CI can read.
//   test.ts [unit|process|lab|oracles|e2e|full …] [--update] [--coverage] [--only TEXT]
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { styleText } from 'node:util';
import fc from 'fast-check';
import { closingLine, Tally } from './test-tally.ts';

/** Which files a suite holds, and whether each file gets a process of its own. */
const SUITES = {
  unit: { files: ['src/**/*.test.ts'], isolation: 'none' },
  process: {
    files: ['test/*.test.ts', 'test/integration/**/*.test.ts', 'examples/*/*.test.ts'],
    isolation: 'process',
  },
  oracles: { files: ['test/oracles/**/*.test.ts', 'test/conformance/**/*.test.ts'], isolation: 'process' },
  lab: { files: ['test/lab/**/*.test.ts'], isolation: 'process' },
  e2e: { files: ['test/e2e/**/*.test.ts'], isolation: 'process' },
  full: { files: ['test/full/**/*.test.ts'], isolation: 'process' },
} as const;
type Suite = keyof typeof SUITES;

// Long enough for a cold control plane on two busy cores; a test that hangs must not hang CI.
const TEST_TIMEOUT_MS = 240_000;
const COVERAGE = { lines: 90, branches: 85 };

/** Where scripts/bootstrap.cjs keeps it, too. */
const COMPILE_CACHE = join(import.meta.dirname, '..', 'node_modules', '.cache', 'node');

/** Examples import `slipway/kube` as their users do; here that leads to the sources. */
const SOURCES = '--conditions=slipway-source';

const FLAGS = ['--update', '--coverage', '--only'];

// The same examples every time: whether a change may land is no matter of luck. Another seed, or `random`, is for hunting.
const SEED = process.env['SLIPWAY_TEST_SEED'] ?? '4711';
if (SEED !== 'random') fc.configureGlobal({ seed: Number(SEED) });

const words = process.argv.slice(2);
const isCoverage = words.includes('--coverage');
const only = words.includes('--only') ? words[words.indexOf('--only') + 1] : undefined;
const named = words.filter((word): word is Suite => Object.hasOwn(SUITES, word));
const suites: readonly Suite[] = named.length > 0 ? named : ['unit', 'process'];
if (words.includes('--update')) process.env['SLIPWAY_UPDATE_GOLDEN'] = '1';

const unknown = words.find((word, at) => !isKnown(word, at));
if (unknown !== undefined) {
  process.stderr.write(
    `unknown word "${unknown}"; suites: ${Object.keys(SUITES).join(', ')}; flags: ${FLAGS.join(', ')}\n`,
  );
  process.exit(2);
}

const tally = new Tally();
let ranFiles = 0;
for (const suite of suites) await runSuite(suite);
if (ranFiles === 0) process.stderr.write(`no test file of ${suites.join(', ')} has "${only ?? ''}" in its path\n`);
report();

function isKnown(word: string, at: number): boolean {
  return Object.hasOwn(SUITES, word) || FLAGS.includes(word) || words[at - 1] === '--only';
}

async function runSuite(suite: Suite): Promise<void> {
  const { files, isolation } = SUITES[suite];
  const found = globSync([...files])
    .filter((file) => only === undefined || file.includes(only))
    .sort();
  if (found.length === 0) return;
  ranFiles += found.length;
  // Processes of their own would compile everything again: a fifth of the time of a short file.
  if (isolation === 'process') process.env['NODE_COMPILE_CACHE'] ??= COMPILE_CACHE;
  const stream = run({
    files: found,
    isolation,
    concurrency: isolation === 'process' ? 2 : false,
    ...(isolation === 'process' && { execArgv: [SOURCES] }),
    timeout: TEST_TIMEOUT_MS,
    ...(isCoverage && coverageOptions()),
  });
  stream.on('test:pass', (event) => tally.passed(event));
  stream.on('test:fail', (event) => tally.failed(event));
  if (suite === 'oracles') {
    stream.on('test:pass', (event) => tally.oracleSuite(event));
    stream.on('test:fail', (event) => tally.oracleSuite(event));
  }
  for await (const text of stream.compose(spec())) process.stdout.write(text);
}

function coverageOptions() {
  return {
    coverage: true,
    coverageIncludeGlobs: ['src/**/*.ts'],
    coverageExcludeGlobs: ['**/*.test.ts'],
    lineCoverage: COVERAGE.lines,
    branchCoverage: COVERAGE.branches,
  };
}

function report(): void {
  for (const line of tally.skipReasons()) process.stdout.write(`${styleText('yellow', 'skipped')} ${line}\n`);
  process.stdout.write(`${oracleLine()}\n${closingLine(tally)}\n`);
  // A filter that matches nothing must not look like success.
  const isEmpty = only !== undefined && tally.passes + tally.failures + tally.skips === 0;
  if (tally.failures > 0 || isEmpty) process.exitCode = 1;
}

/** How many suites were compared with a program nobody here wrote (specs/oracles.md F6). */
function oracleLine(): string {
  const { run: ran, skipped } = tally.oracleSuites;
  if (suites.includes('oracles')) return `oracle suites: ${ran} run, ${skipped} skipped`;
  const files = globSync([...SUITES.oracles.files]).length;
  return `oracle suites: 0 run; ${files} files of them run under npm run test:oracles`;
}
