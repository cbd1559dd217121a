import { statSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isProcessIdentity, livenessOf, type ProcessIdentity, processIdentity } from './process-identity.ts';

const OWNER_FILE = 'owner.json';
const RUNNING = 'run-';
const FAILED = 'failed-';
/** Directories of failed starts are evidence, but not for ever. */
const KEPT_FAILURES = 5;
const STOP_TIMEOUT_MS = 2000;
const POLL_MS = 50;

/** A new directory for one instance under `base`, marked with who owns it (oracles/P3). */
export async function createInstanceDirectory(base: string): Promise<string> {
  await mkdir(base, { recursive: true, mode: 0o700 });
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
 * are recognised by pid file and start time, never by name (oracles/P6). What belongs to a living owner, or to another
 * process namespace, stays untouched.
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
  await Promise.all(recorded.filter((program) => program !== undefined).map(endProgram));
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

async function recordedProcess(file: string): Promise<ProcessIdentity | undefined> {
  try {
    const recorded: unknown = JSON.parse(await readFile(file, 'utf8'));
    return isProcessIdentity(recorded) ? recorded : undefined;
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
