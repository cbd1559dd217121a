import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { MachineReport } from '../../lab/index.ts';
import type { Environment } from '../config.ts';
import { isPortFree } from '../port.ts';

const run = promisify(execFile);
const PROGRAM_TIMEOUT_MS = 2000;
const REGISTRY_TIMEOUT_MS = 8000;

/** The first line a program prints about its version, or why there is none. */
export type Program =
  | { readonly state: 'found'; readonly version: string }
  | { readonly state: 'absent' }
  | { readonly state: 'broken'; readonly why: string };

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
  readonly programs: Readonly<Record<'kubectl' | 'chromium' | 'go', Program>>;
  /** Names of the proxy variables that are set; never their values, which may hold passwords. */
  readonly proxies: readonly string[];
  /** Processes and threads that this user, or the container, may have; infinite where nothing limits them. */
  readonly processes: number | undefined;
  /** Who ends as child of nobody is reaped, or stays as a zombie; undefined where it cannot be seen. */
  readonly orphans: { readonly isReaped: boolean; readonly isFirstProcess: boolean } | undefined;
  /** What a lab would find here. */
  readonly lab: MachineReport;
  /** Only with --online. */
  readonly registry?: { readonly isReachable: boolean; readonly clockSkewSeconds: number | undefined };
}

export interface FactsOptions {
  readonly folder: string;
  readonly env: Environment;
  readonly isOnline: boolean;
  readonly dashboardPort: number;
  readonly now: () => Date;
  readonly signal: AbortSignal;
}

export async function gatherFacts(options: FactsOptions): Promise<Facts> {
  const { folder, env, isOnline, dashboardPort, now, signal } = options;
  const { inspectMachine } = await import('../../lab/index.ts');
  const [isFree, lab, isReaped, kubectl, chromium, go, registry] = await Promise.all([
    isPortFree(dashboardPort),
    inspectMachine(),
    isOrphanReaped(signal),
    versionOf('kubectl', ['version', '--client'], signal),
    versionOf('chromium', ['--version'], signal),
    versionOf('go', ['version'], signal),
    isOnline ? askRegistry(now, signal) : undefined,
  ]);
  return {
    node: process.versions.node,
    folder,
    isWritable: isWritable(folder),
    freeMegabytes: freeMegabytes(folder),
    openFiles: limitOf('Max open files'),
    processes: processLimit(),
    orphans: isReaped === undefined ? undefined : { isReaped, isFirstProcess: process.pid === 1 },
    lab,
    locale:
      [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((value) => value !== undefined && value !== '') ?? '',
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
function limitOf(name: string): number | undefined {
  const line = textOf('/proc/self/limits')
    ?.split('\n')
    .find((text) => text.startsWith(name));
  return line === undefined ? undefined : limitNumber(line.slice(name.length).trim().split(/\s+/)[0] ?? '');
}

/** That of the user, or that of the container if it is lower. */
function processLimit(): number | undefined {
  const limits = [limitOf('Max processes'), limitNumber(textOf('/sys/fs/cgroup/pids.max')?.trim() ?? '')];
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function limitNumber(text: string): number | undefined {
  if (text === 'unlimited' || text === 'max') return Number.POSITIVE_INFINITY;
  return /^\d+$/.test(text) ? Number(text) : undefined;
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

const ORPHAN_MS = 1000;

/** Leaves a process without a parent and looks whether it goes away when it has ended (lab P6). */
async function isOrphanReaped(signal: AbortSignal): Promise<boolean | undefined> {
  if (textOf('/proc/self/stat') === undefined) return undefined;
  try {
    const { stdout } = await run('sh', ['-c', 'sleep 0.05 >/dev/null 2>&1 & echo $!'], {
      timeout: ORPHAN_MS,
      signal,
    });
    const pid = Number(stdout.trim());
    for (let waitedMs = 0; waitedMs < ORPHAN_MS; waitedMs += 50) {
      await sleep(50, undefined, { signal });
      if (!existsSync(`/proc/${pid}`)) return true;
    }
    return false;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}

async function versionOf(program: string, args: readonly string[], signal: AbortSignal): Promise<Program> {
  try {
    const { stdout } = await run(program, args, { timeout: PROGRAM_TIMEOUT_MS, signal });
    return { state: 'found', version: stdout.split('\n')[0]?.trim() ?? '' };
  } catch (error) {
    signal.throwIfAborted();
    const { code, killed } = error as { code?: unknown; killed?: boolean };
    if (code === 'ENOENT') return { state: 'absent' };
    const why = killed === true ? `no answer within ${PROGRAM_TIMEOUT_MS / 1000} s` : 'its version command fails';
    return { state: 'broken', why };
  }
}

/** npm itself asks, because it knows the proxy, the certificates and the registry that an install would use. */
async function askRegistry(now: () => Date, signal: AbortSignal): Promise<Facts['registry']> {
  try {
    await run('npm', ['ping'], { timeout: REGISTRY_TIMEOUT_MS, signal });
    return { isReachable: true, clockSkewSeconds: await clockSkew(now, signal) };
  } catch {
    signal.throwIfAborted();
    return { isReachable: false, clockSkewSeconds: undefined };
  }
}

/** Directly, so only where no proxy is in between; a clock that cannot be compared is not a problem. */
async function clockSkew(now: () => Date, signal: AbortSignal): Promise<number | undefined> {
  try {
    const { stdout } = await run('npm', ['config', 'get', 'registry'], { timeout: REGISTRY_TIMEOUT_MS, signal });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(REGISTRY_TIMEOUT_MS)]);
    const response = await fetch(stdout.trim(), { method: 'HEAD', signal: limit });
    const skewSeconds = Math.round((now().getTime() - Date.parse(response.headers.get('date') ?? '')) / 1000);
    return Number.isNaN(skewSeconds) ? undefined : skewSeconds;
  } catch {
    return undefined;
  }
}
