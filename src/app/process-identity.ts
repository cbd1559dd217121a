import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * One process, for ever: a process id alone is handed out again after its owner is gone. The start time tells the new
 * owner from the old one, the boot and the process namespace say whether the id means anything to us at all. What a
 * machine without /proc cannot say is left out.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly startTicks?: number;
  readonly bootId?: string;
  readonly pidNamespace?: string;
}

/** `elsewhere`: in another process namespace of this boot (another container), so we cannot know. */
export type Liveness = 'alive' | 'gone' | 'elsewhere';

/** Undefined when there is no such process. `proc` is for tests. */
export function processIdentity(pid: number, proc = '/proc'): ProcessIdentity | undefined {
  const stat = readStat(pid, proc);
  if (stat?.hasEnded === true || !answers(pid)) return undefined;
  return { pid, ...(stat !== undefined && { startTicks: stat.startTicks }), ...surroundings(proc) };
}

/** Whether that very process still runs. Where start times cannot be read, any process with its id counts. */
export function livenessOf(identity: ProcessIdentity, proc = '/proc'): Liveness {
  const { bootId, pidNamespace } = surroundings(proc);
  if (differ(identity.bootId, bootId)) return 'gone';
  if (differ(identity.pidNamespace, pidNamespace)) return 'elsewhere';
  const now = processIdentity(identity.pid, proc);
  return now === undefined || differ(identity.startTicks, now.startTicks) ? 'gone' : 'alive';
}

export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, startTicks, bootId, pidNamespace }: Partial<Record<keyof ProcessIdentity, unknown>> = value;
  // Zero and negative numbers mean whole groups of processes to kill(2).
  const isPid = Number.isSafeInteger(pid) && Number(pid) > 0;
  const hasTicks = startTicks === undefined || Number.isSafeInteger(startTicks);
  return isPid && hasTicks && [bootId, pidNamespace].every((id) => id === undefined || typeof id === 'string');
}

/** What is not known is no difference. */
const differ = <T>(then: T | undefined, now: T | undefined): boolean =>
  then !== undefined && now !== undefined && then !== now;

/** Signal 0 only asks. EPERM: it lives, and belongs to somebody else. */
function answers(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/**
 * Fields 3 and 22 of /proc/PID/stat, counted from behind the program's name, which may hold anything. A zombie has
 * ended; it only waits for its parent to ask how, which in many containers never happens.
 */
function readStat(pid: number, proc: string): { startTicks: number; hasEnded: boolean } | undefined {
  const stat = attempt(() => readFileSync(join(proc, String(pid), 'stat'), 'utf8'));
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return { startTicks: Number(fields[19]), hasEnded: fields[0] === 'Z' || fields[0] === 'X' };
}

function surroundings(proc: string): Pick<ProcessIdentity, 'bootId' | 'pidNamespace'> {
  const bootId = attempt(() => readFileSync(join(proc, 'sys/kernel/random/boot_id'), 'utf8').trim());
  const pidNamespace = attempt(() => readlinkSync(join(proc, 'self/ns/pid')));
  return { ...(bootId !== undefined && { bootId }), ...(pidNamespace !== undefined && { pidNamespace }) };
}

/** Undefined where the kernel does not tell: no /proc, not this file, not to us. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
