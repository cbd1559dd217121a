// Runs the commands of README.md and docs/ in a copy of the tree, so that no page shows a command that fails.
//   docs-commands.ts [PAGE…]
import { join } from 'node:path';
import { type CommandBlock, commandBlocks, isSameOutput } from './docs-blocks.ts';
import { allPages } from './docs-pages.ts';
import { copyTree, openTerminal, runCommands } from './docs-sandbox.ts';

const SHOWN_LINES = 20;
const root = join(import.meta.dirname, '..');
const asked = process.argv.slice(2);
const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());

const known = allPages(root);
const pages = known.filter(({ path }) => asked.length === 0 || asked.includes(path));
const unknown = asked.find((path) => !pages.some((page) => page.path === path));
if (unknown === undefined) await runPages();
else {
  process.stderr.write(`no page "${unknown}"; known: ${known.map(({ path }) => path).join(', ')}\n`);
  process.exitCode = 2;
}

async function runPages(): Promise<void> {
  const tally = { passed: 0, failed: 0 };
  for (const page of pages) {
    const blocks = commandBlocks(page);
    if (blocks.length === 0) continue;
    // A copy per page: a page may build on its own earlier blocks, never on those of another page.
    using copy = copyTree(root);
    await using terminals = new AsyncDisposableStack();
    for (const block of blocks) tally[(await passes(block, copy.folder, terminals)) ? 'passed' : 'failed']++;
  }
  process.stdout.write(`${tally.passed} passed, ${tally.failed} failed\n`);
  if (stop.signal.aborted) process.exitCode = 130;
  else if (tally.failed > 0) process.exitCode = 1;
}

async function passes(block: CommandBlock, folder: string, terminals: AsyncDisposableStack): Promise<boolean> {
  if (stop.signal.aborted) return false;
  const started = performance.now();
  process.stdout.write(`${block.page}:${block.line}\n${indented(block.text, '  $ ')}\n`);
  if (block.ready !== undefined) return isUp(block.text, block.ready, { folder, terminals });
  const { problem, stdout, all } = await runCommands(block.text, folder, stop.signal);
  const time = `${((performance.now() - started) / 1000).toFixed(1)} s`;
  if (problem !== undefined) return fails(`${problem} after ${time}; last lines:`, all);
  if (block.output !== undefined && !isSameOutput(block.output, stdout))
    return fails(`the output shown on the page is not what was printed in ${time}:`, stdout);
  process.stdout.write(`  ✔ ${time}\n`);
  return true;
}

/** Something that stays up until the page is over, as in a second terminal. */
async function isUp(
  text: string,
  ready: string,
  { folder, terminals }: { readonly folder: string; readonly terminals: AsyncDisposableStack },
): Promise<boolean> {
  const terminal = terminals.use(await openTerminal(text, folder, { ready, signal: stop.signal }));
  if (terminal.problem !== undefined) return fails(`${terminal.problem}; last lines:`, terminal.all);
  process.stdout.write('  ✔ is up\n');
  return true;
}

function fails(what: string, output: string): false {
  const last = output.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n');
  process.stdout.write(`  ✖ ${what}\n${indented(last, '    | ')}\n`);
  return false;
}

function indented(text: string, mark: string): string {
  return text.trimEnd().replace(/^/gm, mark);
}
