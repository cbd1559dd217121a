import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { pumpOutput } from './output-pump.ts';
import type { ExitStatus, OutputSink, RunningProcess } from './process-host.ts';
import { looks, sweep } from './process-sweep.ts';
import {
  type Family,
  membersOf,
  type ProcessEntry,
  type ProcessTable,
  type ProcessUsage,
  signal,
} from './process-table.ts';

/** A process that nobody can find may keep the pipes open; a slow log gets the time to take what is in them. */
const PIPES_AFTER_END_MS = 5000;

export interface ProcessRunOptions {
  /** Started in a session of its own, with pipes for its output. */
  readonly child: ChildProcess & { readonly pid: number };
  readonly container: string;
  /** What everything that it starts has in its environment. */
  readonly variables: readonly string[];
  readonly rewritten: readonly string[];
  readonly output: OutputSink;
  readonly table: ProcessTable;
  /** Real time. */
  readonly clock: Clock;
  readonly log: Log;
  /** The lab gives up: what cannot be ended is left. */
  readonly givenUp: AbortSignal;
}

/** One child and everything that it starts, until all of them are gone. */
export class ProcessRun implements RunningProcess {
  readonly pid: number;
  readonly container: string;
  readonly rewritten: readonly string[];
  readonly exited: Promise<ExitStatus>;
  readonly #options: ProcessRunOptions;
  /** Aborted when the grace is over. */
  readonly #grace = new AbortController();
  /** Bounded by the calls of `stop`; gone with the process. */
  readonly #timers: Disposable[] = [];
  /** Set when it was told to stop. */
  #asked: Promise<void> | undefined;
  #known: readonly ProcessEntry[] = [];
  #isGone = false;

  constructor(options: ProcessRunOptions) {
    this.#options = options;
    this.pid = options.child.pid;
    this.container = options.container;
    this.rewritten = options.rewritten;
    this.exited = this.#run();
  }

  /** Its first process has ended, or is being killed. */
  get isEnding(): boolean {
    return this.#hasExited || this.#grace.signal.aborted;
  }

  stop(graceMs: number): Promise<ExitStatus> {
    if (graceMs <= 0) this.kill();
    else if (!this.#isGone) {
      this.#asked ??= this.#ask();
      this.#timers.push(this.#options.clock.timer(graceMs, () => this.kill()));
    }
    return this.exited;
  }

  /** SIGKILL to the group, now. */
  kill(): void {
    if (this.#grace.signal.aborted) return;
    this.#grace.abort();
    // Once the first process is reaped, `#run` knows better who is left.
    if (!this.#hasExited) signal(-this.pid, 'SIGKILL');
  }

  async usage(): Promise<ProcessUsage> {
    const { table } = this.#options;
    const members = await membersOf(table, this.#family);
    return table.usageOf(members.map(({ pid }) => pid));
  }

  get #family(): Family {
    const { variables } = this.#options;
    return { group: this.pid, isReaped: this.#hasExited, variables, known: this.#known };
  }

  get #hasExited(): boolean {
    const { exitCode, signalCode } = this.#options.child;
    return exitCode !== null || signalCode !== null;
  }

  async #run(): Promise<ExitStatus> {
    const { child, output } = this.#options;
    const flowing = this.#pump();
    if (!this.#hasExited) await once(child, 'exit');
    const status = exitStatus(child);
    // Told to stop: the rest of the group has the same time. Otherwise it ends with its first process, as in a container.
    if (this.#asked !== undefined) await this.#untilGroupGone();
    await this.#sweep();
    this.#isGone = true;
    for (const timer of this.#timers) timer[Symbol.dispose]();
    using _ = this.#options.clock.timer(PIPES_AFTER_END_MS, () => this.#cutPipes());
    await flowing;
    output.end();
    return status;
  }

  /** Who belongs to it is easier to see while all of them have their parents. */
  async #ask(): Promise<void> {
    this.#known = await membersOf(this.#options.table, this.#family).catch(() => []);
    if (!this.#hasExited) signal(-this.pid, 'SIGTERM');
  }

  async #pump(): Promise<void> {
    const { child, output: sink, clock } = this.#options;
    const { stdout, stderr } = child;
    await Promise.all([
      ...(stdout === null ? [] : [pumpOutput(stdout, { stream: 'stdout', sink, clock })]),
      ...(stderr === null ? [] : [pumpOutput(stderr, { stream: 'stderr', sink, clock })]),
    ]);
  }

  async #untilGroupGone(): Promise<void> {
    const { clock, table } = this.#options;
    await this.#asked;
    for await (const _ of looks(clock, this.#grace.signal)) {
      // Cheap first: mostly nobody is left. One that is not reaped counts for the kernel, but not for us (P5).
      if (!signal(-this.pid, 0)) return;
      const entries = await table.entries().catch(() => undefined);
      if (entries?.some(({ group }) => group === this.pid) === false) return;
    }
  }

  /** A container has ended only when all that it ever started has. */
  #sweep(): Promise<void> {
    const { table, clock, givenUp, log, container } = this.#options;
    const onStuck = (pids: readonly number[]) =>
      log.warn({ container, pids }, 'Processes of a container do not end');
    return sweep(this.#family, { table, clock, givenUp, onStuck });
  }

  #cutPipes(): void {
    const { child, log, container } = this.#options;
    log.warn({ container }, 'Something keeps the output of an ended container open');
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

function exitStatus({ exitCode, signalCode }: ChildProcess): ExitStatus {
  if (signalCode === null) return { exitCode: exitCode ?? 0 };
  return { exitCode: 128 + constants.signals[signalCode], signal: signalCode };
}
