import { parseRequest, USAGE } from './arguments.ts';
import { buildMissing } from './build.ts';
import { findOracle } from './find.ts';
import { listing, type Row } from './listing.ts';
import { hostMachine } from './machine.ts';
import { Progress } from './progress.ts';
import { ORACLES } from './registry.ts';

const EXIT = { ok: 0, requiredMissing: 1, wrongUsage: 2, environment: 3, interrupted: 130 } as const;

/** `npm run oracles`: the only place in this folder that reads the environment and writes to the terminal. */
async function main(argv: readonly string[]): Promise<number> {
  const request = parseRequest(
    argv,
    ORACLES.map(({ name }) => name),
  );
  if (request.kind === 'help') return print(USAGE, EXIT.ok);
  if (request.kind === 'wrong')
    return complain(`${request.message} (see npm run oracles -- --help)\n`, EXIT.wrongUsage);

  const machine = hostMachine(process.env);
  const find = (names: readonly string[]): Row[] =>
    ORACLES.filter(({ name }) => names.includes(name)).map((oracle) => ({
      oracle,
      finding: findOracle(oracle, machine),
    }));

  const found = find(request.names);
  const problems = request.isListOnly ? [] : await buildMissing(found, buildContext(machine.cacheDirectory));
  print(listing(request.isListOnly ? found : find(request.names)), EXIT.ok);

  for (const { message } of problems) complain(`\n${message}\n`, EXIT.environment);
  const absent = find(request.required).filter(({ finding }) => finding.state !== 'supported');
  for (const { oracle } of absent)
    complain(`required oracle ${oracle.name} is not available\n`, EXIT.requiredMissing);
  if (absent.length > 0) return EXIT.requiredMissing;
  return problems.length > 0 ? EXIT.environment : EXIT.ok;
}

function buildContext(cacheDirectory: string) {
  const { isTTY, columns } = process.stdout;
  const screen = { isTerminal: Boolean(isTTY), columns, write: (text: string) => void process.stdout.write(text) };
  const progress = new Progress(screen);
  const isRoot = process.getuid?.() === 0;
  return { cacheDirectory, variables: process.env, arch: process.arch, isRoot, progress, signal: interrupted() };
}

/** Ends running compilers and removes drafts before we go. */
function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return controller.signal;
}

function print(text: string, code: number): number {
  process.stdout.write(text);
  return code;
}

function complain(text: string, code: number): number {
  process.stderr.write(text);
  return code;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Error && error.name === 'AbortError')) throw error;
  process.exitCode = complain('\ninterrupted; what was built so far is kept\n', EXIT.interrupted);
}
