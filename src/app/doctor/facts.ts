import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, statfsSync } from 'node:fs';
import { promisify } from 'node:util';
import type { Environment } from '../config.ts';
import { isPortFree } from '../port.ts';

const run = promisify(execFile);
const PROGRAM_TIMEOUT_MS = 2000;
const REGISTRY_TIMEOUT_MS = 5000;

/** What is true of this machine; the judgement is in `checks.ts`. Undefined = could not be found out. */
export interface Facts {
  readonly node: string;
  readonly folder: string;
  readonly isWritable: boolean;
  readonly freeMegabytes: number | undefined;
  readonly openFiles: number | undefined;
  readonly locale: string;
  readonly dashboardPort: { readonly port: number; readonly isFree: boolean };
  readonly openssl: string;
  /** First line of the version output of each optional program, or undefined where it is not on the PATH. */
  readonly programs: Readonly<Record<'kubectl' | 'chromium' | 'go', string | undefined>>;
  /** Names of the proxy variables that are set; never their values, which may hold passwords. */
  readonly proxies: readonly string[];
  /** Only with --online. */
  readonly registry?: { readonly isReachable: boolean; readonly clockSkewSeconds: number | undefined };
}

export interface FactsOptions {
  readonly folder: string;
  readonly env: Environment;
  readonly isOnline: boolean;
  readonly dashboardPort: number;
  readonly now: () => Date;
}

export async function gatherFacts({ folder, env, isOnline, dashboardPort, now }: FactsOptions): Promise<Facts> {
  const [isFree, kubectl, chromium, go, registry] = await Promise.all([
    isPortFree(dashboardPort),
    firstLine('kubectl', ['version', '--client']),
    firstLine('chromium', ['--version']),
    firstLine('go', ['version']),
    isOnline ? askRegistry(now) : undefined,
  ]);
  return {
    node: process.versions.node,
    folder,
    isWritable: isWritable(folder),
    freeMegabytes: freeMegabytes(folder),
    openFiles: openFileLimit(),
    locale: env['LC_ALL'] ?? env['LC_CTYPE'] ?? env['LANG'] ?? '',
    dashboardPort: { port: dashboardPort, isFree },
    openssl: process.versions.openssl,
    programs: { kubectl, chromium, go },
    proxies: Object.keys(env).filter((name) => /^(https?|no|all)_proxy$/i.test(name) && env[name] !== ''),
    ...(registry !== undefined && { registry }),
  };
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function freeMegabytes(folder: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return Math.floor((bavail * bsize) / 1e6);
  } catch {
    return undefined;
  }
}

/** Node has no call for it; Linux tells it in a file. */
function openFileLimit(): number | undefined {
  try {
    const soft = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft);
  } catch {
    return undefined;
  }
}

async function firstLine(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const { stdout } = await run(program, args, { timeout: PROGRAM_TIMEOUT_MS });
    return stdout.split('\n')[0]?.trim();
  } catch {
    return undefined;
  }
}

/** One request tells both: whether packages can be had, and how far our clock is off (header `Date`). */
async function askRegistry(now: () => Date): Promise<Facts['registry']> {
  try {
    const { stdout } = await run('npm', ['config', 'get', 'registry'], { timeout: REGISTRY_TIMEOUT_MS });
    const response = await fetch(stdout.trim(), {
      method: 'HEAD',
      signal: AbortSignal.timeout(REGISTRY_TIMEOUT_MS),
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    const skewSeconds = Math.round((now().getTime() - date) / 1000);
    return { isReachable: true, clockSkewSeconds: Number.isNaN(skewSeconds) ? undefined : skewSeconds };
  } catch {
    return { isReachable: false, clockSkewSeconds: undefined };
  }
}
