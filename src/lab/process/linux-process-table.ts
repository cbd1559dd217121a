import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessEntry, ProcessTable, ProcessUsage } from './process-table.ts';

/** Lets others have their turn; no time passes. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** USER_HZ: a constant of the interface between Linux and programs, whatever the kernel itself uses. */
const MS_PER_TICK = 10;
/** States that only wait for somebody to read them: zombie and dead. */
const ENDED = new Set(['Z', 'X', 'x']);

/** It ended meanwhile, or is somebody else's. */
const NOT_TOLD: ReadonlySet<unknown> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

interface Stat extends ProcessEntry {
  readonly state: string;
  readonly cpuTicks: number;
}

/**
 * Reads `/proc`. Its files are made in memory, so reading them does not wait for a disk: about 10 µs for each.
 * `proc` is for tests.
 */
export class LinuxProcessTable implements ProcessTable {
  readonly bootId: string;
  readonly #proc: string;
  /** Of one look: gone with its entries. */
  readonly #environments = new WeakMap<ProcessEntry, ReadonlySet<string>>();
  #look: Promise<readonly ProcessEntry[]> | undefined;

  constructor(proc = '/proc') {
    this.#proc = proc;
    this.bootId = readFileSync(join(proc, 'sys/kernel/random/boot_id'), 'utf8').trim();
  }

  /** One look serves all who ask in the same turn: at the end of a lab every child does. */
  entries(): Promise<readonly ProcessEntry[]> {
    this.#look ??= turn().then(() => {
      this.#look = undefined;
      return this.#running();
    });
    return this.#look;
  }

  // Reads before its first `await`: whoever asks right after the start of a child is told before the child can be reaped.
  async startTimeOf(pid: number): Promise<string | undefined> {
    return this.#stat(pid)?.startTime;
  }

  async carrying(variables: readonly string[], among: readonly ProcessEntry[]): Promise<readonly ProcessEntry[]> {
    return among.filter((entry) => {
      const environment = this.#environment(entry);
      return variables.every((variable) => environment.has(variable));
    });
  }

  async usageOf(pids: readonly number[]): Promise<ProcessUsage> {
    const cpuTicks = pids.map((pid) => this.#stat(pid)?.cpuTicks ?? 0);
    const rssKiB = pids.map((pid) =>
      Number(/^VmRSS:\s*(\d+) kB$/m.exec(this.#read(pid, 'status') ?? '')?.[1] ?? 0),
    );
    return { cpuMs: sum(cpuTicks) * MS_PER_TICK, rssBytes: sum(rssKiB) * 1024 };
  }

  #running(): readonly ProcessEntry[] {
    const pids = readdirSync(this.#proc).filter((name) => /^\d+$/.test(name));
    return pids
      .map((name) => this.#stat(Number(name)))
      .filter((stat) => stat !== undefined)
      .filter(({ state }) => !ENDED.has(state));
  }

  #environment(entry: ProcessEntry): ReadonlySet<string> {
    const known = this.#environments.get(entry);
    if (known !== undefined) return known;
    const environment = new Set(this.#read(entry.pid, 'environ')?.split('\0'));
    this.#environments.set(entry, environment);
    return environment;
  }

  #stat(pid: number): Stat | undefined {
    const text = this.#read(pid, 'stat');
    return text === undefined ? undefined : statOf(pid, text);
  }

  /** Undefined when it ended meanwhile, or is somebody else's. */
  #read(pid: number, file: string): string | undefined {
    try {
      return readFileSync(join(this.#proc, String(pid), file), 'utf8');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (NOT_TOLD.has(code)) return undefined;
      // No more files can be opened, for example: that says nothing about the process.
      throw error;
    }
  }
}

/** A program may call itself `a) Z (b`: the fields begin after the last bracket. See proc_pid_stat(5). */
function statOf(pid: number, text: string): Stat {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = '', parent = '', group = ''] = fields;
  // Own time and that of ended children, in user and in system mode.
  const cpuTicks = sum(fields.slice(11, 15).map(Number));
  return { pid, state, parent: Number(parent), group: Number(group), startTime: fields[19] ?? '', cpuTicks };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
