/** One process of this machine that has not ended. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Opaque. With the boot it tells a process from a later one that got the same number (P5). */
  readonly startTime: string;
}

export interface ProcessUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
}

/** What this machine knows about its processes. What ended but was not reaped by its parent is not in it (P5). */
export interface ProcessTable {
  /** Changes with every boot: numbers and start times mean nothing beyond it. */
  readonly bootId: string;
  /** Rejects when the machine does not tell. */
  entries(): Promise<readonly ProcessEntry[]>;
  /** Undefined when there is no such process; a child that was not reaped yet still has one. */
  startTimeOf(pid: number): Promise<string | undefined>;
  /** Those of the given processes that were started with all of these `NAME=value`. */
  carrying(variables: readonly string[], among: readonly ProcessEntry[]): Promise<readonly ProcessEntry[]>;
  usageOf(pids: readonly number[]): Promise<ProcessUsage>;
}

/** How the processes of one container are told from all others. */
export interface Family {
  /** The group of the first process. */
  readonly group?: number;
  /** The first process was reaped: who has its number now is somebody else, and so is everybody of that group (P5). */
  readonly isReaped?: boolean;
  /** What everything that it started has in its environment, even after it left the group. */
  readonly variables: readonly string[];
  /** Seen before: they may have lost both since. */
  readonly known?: readonly ProcessEntry[];
}

/** All that belong to a family, with all that they started. Never this process itself. */
export async function membersOf(table: ProcessTable, family: Family): Promise<readonly ProcessEntry[]> {
  const { variables, known = [] } = family;
  const entries = (await table.entries()).filter(({ pid }) => pid !== process.pid);
  const isStrange = family.isReaped === true && entries.some(({ pid }) => pid === family.group);
  const group = isStrange ? undefined : family.group;
  const carriers = new Set(await table.carrying(variables, entries));
  const isKnown = (entry: ProcessEntry) => known.some((other) => isSame(entry, other));
  return withDescendants(
    entries,
    entries.filter((entry) => entry.group === group || carriers.has(entry) || isKnown(entry)),
  );
}

/** A number alone may belong to somebody else by now (P5). */
const isSame = (a: ProcessEntry, b: ProcessEntry): boolean => a.pid === b.pid && a.startTime === b.startTime;

/** A program may clean its children's environment and group, but they have a parent as long as it lives. */
export function withDescendants(
  entries: readonly ProcessEntry[],
  ancestors: readonly ProcessEntry[],
): readonly ProcessEntry[] {
  const found = new Map(ancestors.map((entry) => [entry.pid, entry]));
  const childrenOf = Map.groupBy(entries, ({ parent }) => parent);
  // A map hands out what is added while it is walked.
  for (const { pid } of found.values()) {
    for (const child of childrenOf.get(pid) ?? []) found.set(child.pid, child);
  }
  return [...found.values()];
}

/** Sends a signal to one process, or to a group by its negative number. False when there is nobody to get it. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    // A process that became somebody else's cannot be signalled, but it is there.
    if (error instanceof Error && 'code' in error && error.code === 'EPERM') return true;
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    throw error;
  }
}
