import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, sep } from 'node:path';
import type { Readable } from 'node:stream';

const TIMEOUT_MS = 180_000;
const READY_MS = 60_000;
const GRACE_MS = 2_000;
// The end of the output is what explains a failure; a command that prints without end must not fill the memory.
const KEPT_CHARACTERS = 1_000_000;

/** Ends, with its folder, when disposed of. */
export interface TreeCopy extends Disposable {
  readonly folder: string;
}

export interface CommandResult {
  /** Why it failed, or undefined. */
  readonly problem: string | undefined;
  readonly stdout: string;
  /** Both streams as they came. */
  readonly all: string;
}

/** What a fresh clone would hold, including files not yet committed, with the dependencies already there. */
export function copyTree(root: string): TreeCopy {
  const folder = mkdtempSync(join(tmpdir(), 'slipway-docs-'));
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { verbatimSymlinks: true });
  }
  // A repository of its own: tools that honour .gitignore behave as in a clone.
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  linkPackages(root, folder);
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Hard links: as fast as a link to the folder, but what a command deletes is deleted in the copy only. */
function linkPackages(root: string, folder: string): void {
  const [from, to] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  if (!existsSync(from)) return;
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'ignore' });
  } catch {
    // Another disk, or a cp without -l.
    rmSync(to, { recursive: true, force: true });
    symlinkSync(from, to);
  }
}

/** Runs shell text as a reader would paste it; whatever it started is ended when it is over. */
export async function runCommands(text: string, folder: string, signal: AbortSignal): Promise<CommandResult> {
  const { child, output } = started(text, folder);
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const closed = once(child, 'close');
  const code = await exitOf(child.pid ?? 0, once(child, 'exit'), AbortSignal.any([signal, limit]));
  endGroup(child.pid ?? 0, 'SIGKILL');
  await closed;
  return { problem: problemOf(code, limit.aborted), ...output };
}

/** A terminal in which something stays up until the page is over. */
export interface Terminal extends AsyncDisposable {
  /** Why what was started is not up, or undefined. */
  readonly problem: string | undefined;
  readonly all: string;
}

/** Starts shell text in a terminal of its own and waits until it has printed `ready`. */
export async function openTerminal(
  text: string,
  folder: string,
  { ready, signal }: { readonly ready: string; readonly signal: AbortSignal },
): Promise<Terminal> {
  const { child, output } = started(text, folder);
  const exit = once(child, 'exit');
  const over = new AbortController();
  const isUp = new Promise<true>((resolve) => {
    const look = () => output.all.includes(ready) && resolve(true);
    child.stdout.on('data', look);
    child.stderr.on('data', look);
  });
  const code = exitOf(child.pid ?? 0, exit, AbortSignal.any([signal, over.signal]));
  const limit = AbortSignal.any([signal, AbortSignal.timeout(READY_MS)]);
  const first = await Promise.race([isUp, code, once(limit, 'abort').then(() => 'late')]);
  const why = first === 'late' ? `did not print "${ready}" within ${READY_MS / 1000} s` : `ended with ${first}`;
  return {
    problem: first === true ? undefined : why,
    all: output.all,
    [Symbol.asyncDispose]: async () => {
      over.abort();
      await code;
      endGroup(child.pid ?? 0, 'SIGKILL');
    },
  };
}

function started(text: string, folder: string) {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', text], {
    cwd: folder,
    env: readersEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that what runs in the background can be ended with it.
    detached: true,
  });
  const output = { stdout: '', all: '' };
  collect(child.stdout, (chunk) => {
    output.stdout = kept(output.stdout + chunk);
    output.all = kept(output.all + chunk);
  });
  collect(child.stderr, (chunk) => {
    output.all = kept(output.all + chunk);
  });
  return { child, output };
}

async function exitOf(pid: number, exit: Promise<unknown[]>, stop: AbortSignal): Promise<number | undefined> {
  let grace: NodeJS.Timeout | undefined;
  const end = () => {
    endGroup(pid, 'SIGTERM');
    grace = setTimeout(() => endGroup(pid, 'SIGKILL'), GRACE_MS);
  };
  stop.addEventListener('abort', end, { once: true });
  const [code] = await exit;
  stop.removeEventListener('abort', end);
  clearTimeout(grace);
  // Killed by a signal: no number.
  return typeof code === 'number' ? code : undefined;
}

function problemOf(code: number | undefined, isLate: boolean): string | undefined {
  if (isLate) return `not finished within ${TIMEOUT_MS / 1000} s`;
  if (code === undefined) return 'killed';
  return code === 0 ? undefined : `exit code ${code}`;
}

function endGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(-pid, signal);
  } catch {
    // Already gone, which is what was wanted.
  }
}

function collect(stream: Readable, take: (chunk: string) => void): void {
  stream.setEncoding('utf8').on('data', take);
}

const kept = (text: string): string => text.slice(-KEPT_CHARACTERS);

/** The environment without what npm and our bootstrap add: a reader's shell has none of it. */
function readersEnvironment(): NodeJS.ProcessEnv {
  const isOurs = (name: string) =>
    /^npm_|^(INIT_CWD|NODE_OPTIONS|NODE_TEST_CONTEXT|SLIPWAY_BOOTSTRAP)$/i.test(name);
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes(`node_modules${sep}.bin`) && !entry.includes('node-gyp-bin'));
  const entries = Object.entries(process.env).filter(([name]) => !isOurs(name));
  return { ...Object.fromEntries(entries), PATH: path.join(delimiter) };
}
