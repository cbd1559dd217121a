import {
  type ExecResult,
  type ExitStatus,
  type ProcessHost,
  type ProcessSpec,
  type RunningProcess,
  type StartFailure,
} from '../../src/lab/process/process-host.ts';

/** A process that a test ends. */
export interface PretendProcess {
  readonly spec: ProcessSpec;
  /** In order: `stop 2000`, `kill`. */
  readonly calls: string[];
  /** Whether it ends when it is told to; true unless told otherwise. */
  isObedient: boolean;
  readonly isAlive: boolean;
  exit(exitCode: number, signal?: string): void;
  /** Nobody learns how it ended. */
  vanish(): void;
  say(text: string): void;
}

/** Starts nothing; remembers what it was asked for. */
export class PretendHost implements ProcessHost {
  readonly isolation = 'rewrite';
  readonly isolationText = 'nothing is started';
  /** All that were started, oldest first. */
  readonly processes: PretendProcess[] = [];
  readonly executed: { readonly argv: readonly string[]; readonly timeoutMs: number }[] = [];
  /** What `execute` answers. */
  answer: ExecResult = { exitCode: 0, output: '', isTimedOut: false };
  /** Thrown by the next starts, one each. */
  readonly failures: StartFailure[] = [];
  rewritten: readonly string[] = [];
  areObedient = true;
  isFull = false;

  get live(): number {
    return this.processes.filter(({ isAlive }) => isAlive).length;
  }

  /** The newest process of a container. */
  of(name: string): PretendProcess {
    const found = this.processes.findLast(({ spec }) => spec.container.split('/')[1] === name);
    if (found === undefined) throw new Error(`container ${name} was never started`);
    return found;
  }

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const { promise, resolve, reject } = Promise.withResolvers<ExitStatus>();
    let isAlive = true;
    const process: PretendProcess = {
      spec,
      calls: [],
      isObedient: this.areObedient,
      get isAlive() {
        return isAlive;
      },
      exit: (exitCode, signal) => {
        isAlive = false;
        spec.output.end();
        resolve({ exitCode, ...(signal !== undefined && { signal }) });
      },
      vanish: () => {
        isAlive = false;
        reject(new Error('nobody knows'));
      },
      say: (text) => void spec.output.write('stdout', Buffer.from(text)),
    };
    this.processes.push(process);
    return {
      pid: 1000 + this.processes.length,
      rewritten: this.rewritten,
      exited: promise,
      stop: (graceMs) => {
        process.calls.push(`stop ${graceMs}`);
        if (process.isObedient && isAlive) process.exit(143, 'SIGTERM');
        return promise;
      },
      usage: async () => ({ cpuMs: 0, rssBytes: 0 }),
    };
  }

  async execute({ argv }: ProcessSpec, timeoutMs: number): Promise<ExecResult> {
    this.executed.push({ argv, timeoutMs });
    return this.answer;
  }

  killAll(prefix = ''): void {
    for (const process of this.processes) {
      if (!process.isAlive || !process.spec.container.startsWith(prefix)) continue;
      process.calls.push('kill');
      process.exit(137, 'SIGKILL');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.killAll();
  }
}
