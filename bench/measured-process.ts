import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { ExitGuard } from '../oracles/run/exit-guard.ts';

/** The last that a program has said is enough to see why it ended. */
const LONGEST_TAIL = 2000;
/** Linux counts processor time in hundredths of a second, whatever its kernel was built with. */
const TICKS_PER_SECOND = 100;
/** Of the fields of /proc/PID/stat, counted from the state of the process on. */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

export interface MeasuredProgram {
  readonly words: readonly string[];
  /** Instead of that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /** Ends it when this process goes before. */
  readonly guard: ExitGuard;
}

/** A program under measurement, from its start on. Disposing kills it: nothing is to be told any more, nor tidied up. */
export class MeasuredProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #ended = new AbortController();
  #said = '';

  constructor({ words: [file = '', ...words], env = process.env, guard }: MeasuredProgram) {
    const child = spawn(file, words, { stdio: ['ignore', 'ignore', 'pipe'], env });
    this.#child = child;
    const { pid = 0 } = child;
    if (pid !== 0) guard.add(pid);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#said = (this.#said + text).slice(-LONGEST_TAIL);
    });
    this.#exited = new Promise<void>((done) => {
      const end = (reason: Error): void => {
        guard.delete(pid);
        this.#ended.abort(reason);
        done();
      };
      child.once('exit', (code) => end(new Error(`${file} ended with ${code}: ${this.#said}`)));
      child.once('error', end);
    });
  }

  /** Aborts when it ends by itself. */
  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  /** The most memory that it ever held. */
  get peakBytes(): number {
    const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(this.#file('status')) ?? [];
    return Number(kilobytes) * 1024;
  }

  /** How long processors have worked for it. */
  get processorSeconds(): number {
    const stat = this.#file('stat');
    // Before this there may be anything: the name of the program.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) / TICKS_PER_SECOND;
  }

  #file(name: string): string {
    return readFileSync(`/proc/${this.#child.pid}/${name}`, 'utf8');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exited;
  }
}
