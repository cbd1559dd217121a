import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface UserOptions {
  readonly cwd: string;
  /** Instead of the host's PATH. */
  readonly path?: string;
  readonly signal?: AbortSignal;
}

// A program that waits for a network that is not there must not outlive its test.
const LIMIT_MS = 200_000;

/** Runs a program as a user would: without the Node, the npm settings and the markers of this test run. */
export function asUser(
  program: string,
  args: readonly string[],
  { cwd, path, signal }: UserOptions,
): Promise<Ended> {
  const options = {
    cwd,
    env: { ...userEnvironment(), PATH: path ?? hostPath() },
    timeout: LIMIT_MS,
    killSignal: 'SIGKILL' as const,
    ...(signal && { signal }),
  };
  return new Promise((resolve) => {
    execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : Number(error !== null), stdout, stderr });
    });
  });
}

/** What npm and node:test put into the environment of this run; the machine's own npm settings stay. */
const MARKERS =
  /^npm_(execpath|node_execpath|command|lifecycle_|package_|config_(local_prefix|user_agent|global_prefix|noproxy))|^SLIPWAY_|^NODE_TEST|^NODE_OPTIONS$|^INIT_CWD$/;

function userEnvironment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !MARKERS.test(name)));
}

/** The PATH as it was before npm put our own Node in front. */
export const hostPath = (): string =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter);

/** What a clone of this tree would hold, uncommitted changes included; never node_modules. */
export function cloneTree(target: string): void {
  const listed = execFileSync('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '-z',
    '--deduplicate',
  ]);
  for (const file of listed.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(target, file)), { recursive: true });
    cpSync(file, join(target, file), { force: true, errorOnExist: false });
  }
}
