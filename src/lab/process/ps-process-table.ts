import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { ProcessEntry, ProcessTable, ProcessUsage } from './process-table.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 5000;
/** The environments of all processes of a machine. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Asks `ps`, which every Unix has: for macOS. */
export class PsProcessTable implements ProcessTable {
  readonly bootId: string;

  private constructor(bootId: string) {
    this.bootId = bootId;
  }

  static async open(): Promise<PsProcessTable> {
    const bootId = await output('sysctl', ['-n', 'kern.bootsessionuuid']);
    // Without a boot id start times still tell processes apart: they are dates.
    return new PsProcessTable(bootId.trim());
  }

  async entries(): Promise<readonly ProcessEntry[]> {
    const found = psEntries(await output('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart=']));
    if (found.length === 0) throw new Error('ps did not tell of any process');
    return found;
  }

  async startTimeOf(pid: number): Promise<string | undefined> {
    const text = await output('ps', ['-p', String(pid), '-o', 'lstart=']);
    return text.trim() === '' ? undefined : spaced(text);
  }

  async carrying(variables: readonly string[], among: readonly ProcessEntry[]): Promise<readonly ProcessEntry[]> {
    const carriers = psCarriers(await output('ps', ['axeww', '-o', 'pid=,command=']), variables);
    return among.filter(({ pid }) => carriers.has(pid));
  }

  async usageOf(pids: readonly number[]): Promise<ProcessUsage> {
    if (pids.length === 0) return { cpuMs: 0, rssBytes: 0 };
    return psUsage(await output('ps', ['-p', pids.join(','), '-o', 'rss=,time=']));
  }
}

/** `ps` fails when no process fits: that is an empty list. */
async function output(program: string, programArguments: readonly string[]): Promise<string> {
  const options = {
    timeout: TIMEOUT_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
    env: { LC_ALL: 'C', PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
  };
  return run(program, programArguments, options).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

const spaced = (text: string): string => text.trim().split(/\s+/).join(' ');

const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

/** Lines of `pid ppid pgid stat lstart`; zombies are left out. */
export const psEntries = (text: string): readonly ProcessEntry[] =>
  lines(text)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state = '']) => !state.startsWith('Z'))
    .map(([pid, parent, group, , ...start]) => ({
      pid: Number(pid),
      parent: Number(parent),
      group: Number(group),
      startTime: start.join(' '),
    }));

/** Lines of a number, a command and its environment, all separated by spaces. */
export function psCarriers(text: string, variables: readonly string[]): ReadonlySet<number> {
  const carries = (line: string) => variables.every((variable) => `${line} `.includes(` ${variable} `));
  return new Set(
    lines(text)
      .filter(carries)
      .map((line) => Number.parseInt(line, 10)),
  );
}

/** Lines of kibibytes and `[[days-]hours:]minutes:seconds[.hundredths]`. */
export function psUsage(text: string): ProcessUsage {
  const rows = lines(text).map((line) => line.trim().split(/\s+/));
  return {
    rssBytes: rows.reduce((total, [rss]) => total + Number(rss) * 1024, 0),
    cpuMs: rows.reduce((total, [, time = '']) => total + timeMs(time), 0),
  };
}

function timeMs(text: string): number {
  const [clock = '', days = '0'] = text.split('-').toReversed();
  const seconds = clock.split(':').reduce((total, part) => total * 60 + Number(part), 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1000);
}
