import { existsSync, readdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  isProcessIdentity,
  livenessOf,
  type ProcessIdentity,
  processIdentity,
} from '../../src/app/process-identity.ts';

const OWNER_FILE = 'owner.json';
const RUNNING = 'run-';
const FAILED = 'failed-';
/** Directories of failed starts are evidence, but not for ever. */
const KEPT_FAILURES = 5;
const STOP_TIMEOUT_MS = 2000;
const POLL_MS = 50;

/**
 * Makes sure that only we can write to `base`. Its name in a shared temporary directory is known to everybody, and who
 * plants a pid file there chooses which process the sweep ends; so what is already there must be ours alone.
 */
export async function ensureOwnDirectory(base: string): Promise<void> {
  // Looked at first: making a folder fails in other words where there is a file or a dangling link.
  await lstat(base).catch(() => mkdir(base, { recursive: true, mode: 0o700 }));
  const flaw = ownershipFlaw(await lstat(base), process.geteuid?.());
  if (flaw === undefined) return;
  throw new Error(
    `${base} ${flaw}, so it is not safe to use; remove it, or set TMPDIR to a directory of your own`,
  );
}

/** Why somebody else could have put something into that directory; undefined when nobody could. */
export function ownershipFlaw(
  stats: Pick<Stats, 'isDirectory' | 'uid' | 'mode'>,
  uid: number | undefined,
): string | undefined {
  if (!stats.isDirectory()) return 'is not a directory of its own';
  // No user ids (Windows): the temporary directory is the user's own there.
  if (uid === undefined) return undefined;
  if (stats.uid !== uid) return `belongs to user ${stats.uid}, not to user ${uid}`;
  const others = stats.mode & 0o077;
  return others === 0
    ? undefined
    : `can be used by others (mode ${(stats.mode & 0o777).toString(8)} instead of 700)`;
}

/** A new directory for one instance under `base`, marked with who owns it (oracles/P3). */
export async function createInstanceDirectory(base: string): Promise<string> {
  const directory = await mkdtemp(join(base, RUNNING));
  const owner = processIdentity(process.pid);
  if (owner !== undefined) await writeFile(join(directory, OWNER_FILE), JSON.stringify(owner));
  return directory;
}

/** Puts a failed instance aside, out of reach of the sweep; returns its new place. */
export async function keepFailedInstance(directory: string): Promise<string> {
  const kept = join(dirname(directory), basename(directory).replace(RUNNING, FAILED));
  await rename(directory, kept);
  return kept;
}

/**
 * Ends the programs of instances whose owner is gone without stopping them, and removes their directories. Programs
 * are recognised by pid file and start time, never by name (oracles/P6); those of an owner that was killed before it
 * could write the pid file, by the home it gave them. What belongs to a living owner, or to another process namespace,
 * stays untouched.
 */
export async function sweepLeftovers(base: string): Promise<void> {
  const names = await entries(base);
  for (const name of names.filter((candidate) => candidate.startsWith(RUNNING))) {
    const directory = join(base, name);
    const owner = await recordedProcess(join(directory, OWNER_FILE));
    // Without an owner it is being made right now, or the machine cannot tell processes apart.
    if (owner === undefined || livenessOf(owner) !== 'gone') continue;
    await endPrograms(directory);
    await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: POLL_MS });
  }
  await pruneFailures(base, names);
}

async function endPrograms(directory: string): Promise<void> {
  const pidFiles = (await entries(directory)).filter((name) => name.endsWith('.pid'));
  const recorded = await Promise.all(pidFiles.map((name) => recordedProcess(join(directory, name))));
  const unrecorded = processesAtHome(directory).map((pid) => processIdentity(pid));
  const programs = [...recorded, ...unrecorded].filter((program) => program !== undefined);
  await Promise.all(programs.map(endProgram));
}

/** Our processes that were started with this HOME; none where there is no /proc. */
function processesAtHome(directory: string): number[] {
  const isAtHome = (pid: string): boolean => {
    try {
      if (statSync(`/proc/${pid}`).uid !== process.geteuid?.()) return false;
      return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`HOME=${directory}`);
    } catch {
      // It ended meanwhile, or is not for us to read.
      return false;
    }
  };
  const pids = existsSync('/proc') ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
  return pids.filter(isAtHome).map(Number);
}

async function endProgram(program: ProcessIdentity): Promise<void> {
  signalIfAlive(program, 'SIGTERM');
  for (let waitedMs = 0; waitedMs < STOP_TIMEOUT_MS && livenessOf(program) === 'alive'; waitedMs += POLL_MS) {
    await sleep(POLL_MS);
  }
  signalIfAlive(program, 'SIGKILL');
}

function signalIfAlive(program: ProcessIdentity, signal: NodeJS.Signals): void {
  if (livenessOf(program) !== 'alive') return;
  try {
    process.kill(program.pid, signal);
  } catch {
    // It ended between the look and the signal.
  }
}

/** Two runs may sweep the same left-overs at the same time: what is gone already is as good as swept. */
async function entries(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined also where the record has no start time: it could be anybody's number by now. */
async function recordedProcess(file: string): Promise<ProcessIdentity | undefined> {
  try {
    const recorded: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isProcessIdentity(recorded) && recorded.startTicks !== undefined ? recorded : undefined;
  } catch {
    // Not written yet, half written by a killed process, or swept by somebody else meanwhile.
    return undefined;
  }
}

async function pruneFailures(base: string, names: readonly string[]): Promise<void> {
  const failed = names.filter((name) => name.startsWith(FAILED)).map((name) => join(base, name));
  const dated = failed.map((path) => ({ path, mtimeMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }));
  const old = dated.toSorted((a, b) => b.mtimeMs - a.mtimeMs).slice(KEPT_FAILURES);
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
}
