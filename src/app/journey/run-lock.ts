import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, ensureFolder, folderRefusal, writeProblem } from '../../apiserver/store/data-folder.ts';
import { messageOf } from '../../base/errors.ts';
import { CommandError } from '../failures.ts';
import { shownPath } from './plain-text.ts';

/** What the lock file says about the process that holds it. */
export interface Holder {
  readonly pid: number;
  /** Start time in the kernel's own count: a process id alone may have been given to somebody else since. */
  readonly ticks: string;
  /** RFC 3339. */
  readonly since: string;
  /** Where the running journey can be looked at, once it has an address. */
  readonly address?: string;
}

export interface RunLockOptions {
  /** The folder the user is in; messages name paths as seen from there. */
  readonly folder: string;
  readonly data: string;
  readonly now: () => Date;
}

/** The right to use a data folder: one journey at a time (experience X27). A holder that was killed does not block. */
export class RunLock {
  readonly #file: string;
  readonly #holder: Holder;

  constructor(file: string, holder: Holder) {
    this.#file = file;
    this.#holder = holder;
  }

  /** Lets a second start say where the first can be seen. Returns what went wrong as one sentence, or undefined. */
  announce(address: string): string | undefined {
    try {
      writeFileSync(`${this.#file}.new`, JSON.stringify({ ...this.#holder, address }), { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
      return undefined;
    } catch (error) {
      return `a second start will not know the address of this one: ${messageOf(error)}`;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#file, { force: true });
  }
}

/** Takes the folder, creating it; throws with exit code 3 when somebody else has it or it cannot be written. */
export function acquireRunLock({ folder, data, now }: RunLockOptions): RunLock {
  const file = join(data, 'up.lock');
  const holder = { pid: process.pid, ticks: startTicks(process.pid), since: now().toISOString() };
  try {
    ensureFolder(data, 0o700);
    while (!wasCreated(file, holder)) clearStale(file, shownPath(folder, data));
    return new RunLock(file, holder);
  } catch (error) {
    throw error instanceof CommandError ? error : notWritable(shownPath(folder, data), error);
  }
}

/** Written aside and then given its name, so that nobody ever reads a lock without its holder and takes it for stale. */
function wasCreated(file: string, holder: Holder): boolean {
  const aside = `${file}.${process.pid}.new`;
  try {
    writeFileSync(aside, JSON.stringify(holder), { mode: 0o600 });
    linkSync(aside, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * Removes the lock of a process that is no more. Moved away first and read again there: between our look and our move
 * somebody else may have done the same and taken the lock, which must then go back to its place.
 */
function clearStale(file: string, place: string): void {
  refuseIfHeld(file, place);
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (isAlive(readHolder(aside))) renameSync(aside, file);
  else rmSync(aside, { force: true });
  refuseIfHeld(file, place);
}

function refuseIfHeld(file: string, place: string): void {
  const holder = readHolder(file);
  if (holder !== undefined && isAlive(holder)) throw new CommandError('SW1102', 3, heldMessage(holder, place));
}

export function heldMessage({ pid, since, address }: Holder, place: string): string {
  const where = address === undefined ? '' : ` It is at ${address}.`;
  const started = new Date(since).toTimeString().slice(0, 5);
  return `${place} is in use by process ${pid} (slipway up, started ${started}).${where} Stop it or choose another --data`;
}

function readHolder(file: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isHolder(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHolder(value: unknown): value is Holder {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, ticks, since, address }: Partial<Record<keyof Holder, unknown>> = value;
  const hasAddress = address === undefined || typeof address === 'string';
  return Number.isInteger(pid) && typeof ticks === 'string' && typeof since === 'string' && hasAddress;
}

function isAlive(holder: Holder | undefined): boolean {
  if (holder === undefined) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it lives, and belongs to somebody else.
    if (codeOf(error) !== 'EPERM') return false;
  }
  const stat = readStat(holder.pid);
  return stat === undefined || (stat.ticks === holder.ticks && !stat.isDead);
}

/** Start time of a process in the kernel's count; empty where there is no /proc. */
export const startTicks = (pid: number): string => readStat(pid)?.ticks ?? '';

/**
 * Fields 3 and 22 of /proc/PID/stat, counted from behind the program's name, which may hold anything. A zombie has ended,
 * but its number is taken until its parent notices, which in many containers is never.
 */
function readStat(pid: number): { readonly ticks: string; readonly isDead: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')')).split(' ');
    return { ticks: fields[20] ?? '', isDead: fields[1] === 'Z' || fields[1] === 'X' };
  } catch {
    return undefined;
  }
}

const notWritable = (place: string, error: unknown): CommandError =>
  new CommandError('SW1103', 3, folderRefusal(place, writeProblem(error)), error);
