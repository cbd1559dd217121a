import { readFileSync, readlinkSync } from 'node:fs';

/**
 * One process, for ever: a process id alone is handed out again after its owner is gone. The start time tells the new
 * owner from the old one, the boot and the process namespace say whether the id means anything to us at all.
 */
export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot. */
  readonly startTicks: number;
  readonly bootId: string;
  readonly pidNamespace: string;
}

export type Liveness = 'alive' | 'gone' | 'elsewhere';

/** Undefined when there is no such process, or no /proc to ask: then nothing is ever taken for a left-over. */
export function processIdentity(pid: number): ProcessIdentity | undefined {
  try {
    // The name in parentheses may itself hold spaces and parentheses; the start time is field 22, 20 after the last ")".
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\)\s/s, '')
      .split(' ');
    // A zombie has ended; it only waits for its parent to ask how.
    if (fields[0] === 'Z') return undefined;
    return { pid, startTicks: Number(fields[19]), ...surroundings() };
  } catch {
    return undefined;
  }
}

/** Whether that very process still runs. `elsewhere`: in another process namespace of this boot, so we cannot know. */
export function livenessOf(identity: ProcessIdentity): Liveness {
  const { bootId, pidNamespace } = surroundings();
  if (identity.bootId !== bootId) return 'gone';
  if (identity.pidNamespace !== pidNamespace) return 'elsewhere';
  return processIdentity(identity.pid)?.startTicks === identity.startTicks ? 'alive' : 'gone';
}

export function isProcessIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, startTicks, bootId, pidNamespace } = value as Record<string, unknown>;
  return (
    Number.isInteger(pid) &&
    Number.isInteger(startTicks) &&
    typeof bootId === 'string' &&
    typeof pidNamespace === 'string'
  );
}

function surroundings(): { bootId: string; pidNamespace: string } {
  return {
    bootId: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    pidNamespace: readlinkSync('/proc/self/ns/pid'),
  };
}
