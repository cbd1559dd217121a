import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock } from '../../base/clock.ts';

/** A credential is a few kilobytes; more is a program that says something else. */
const MAX_STDOUT_BYTES = 1024 * 1024;
const STDERR_TAIL = 2048;
/** How long a program may take to end after it was told to. */
const KILL_AFTER_MS = 2000;
/** A program may leave a child behind that keeps its pipes open. */
const PIPES_AFTER_EXIT_MS = 1000;

export interface ProgramRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The terminal is the program's: it may ask its user. Its stderr is then the terminal too. */
  readonly isInteractive: boolean;
  /** Gets what the program says to its user while it runs. */
  readonly stderr: (text: string) => void;
  readonly clock: Clock;
  readonly timeoutMs?: number;
  readonly signal: AbortSignal;
}

export interface ProgramResult {
  readonly outcome: 'exited' | 'not-found' | 'not-runnable' | 'timeout' | 'too-much-output' | 'aborted';
  /** Undefined when a signal ended it. */
  readonly exitCode?: number;
  readonly stdout: string;
  /** The end of what it said. */
  readonly stderr: string;
}

export type RunProgram = (request: ProgramRequest) => Promise<ProgramResult>;

/** Runs a program without a shell and collects its output; never rejects. What runs too long or says too much is ended. */
export const runProgram: RunProgram = (request) => {
  const { promise, resolve } = Promise.withResolvers<ProgramResult>();
  const run = new ProgramRun(request, resolve);
  run.start();
  return promise;
};

class ProgramRun {
  readonly #request: ProgramRequest;
  readonly #resolve: (result: ProgramResult) => void;
  readonly #chunks: Buffer[] = [];
  readonly #timers = new Set<Disposable>();
  #bytes = 0;
  #stderr = '';
  #stopped: ProgramResult['outcome'] | undefined;
  #child: ChildProcess | undefined;

  constructor(request: ProgramRequest, resolve: (result: ProgramResult) => void) {
    this.#request = request;
    this.#resolve = resolve;
  }

  start(): void {
    const { command, args, env, isInteractive, signal, timeoutMs } = this.#request;
    if (signal.aborted) return this.#end('aborted');
    const terminal = isInteractive ? 'inherit' : undefined;
    try {
      const child = spawn(command, args, { env, stdio: [terminal ?? 'ignore', 'pipe', terminal ?? 'pipe'] });
      this.#child = child;
      this.#listen(child);
    } catch (error) {
      return this.#failed(error);
    }
    signal.addEventListener('abort', this.#abort, { once: true });
    if (timeoutMs !== undefined) this.#later(timeoutMs, () => this.#stop('timeout'));
  }

  readonly #abort = (): void => this.#stop('aborted');

  #listen(child: ChildProcess): void {
    child.on('error', (error) => this.#failed(error));
    child.stdout?.on('data', (chunk: Buffer) => this.#keep(chunk));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL);
      this.#request.stderr(text);
    });
    child.on('exit', () => {
      this.#later(PIPES_AFTER_EXIT_MS, () => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      });
    });
    child.on('close', (code) => this.#end(this.#stopped ?? 'exited', code));
  }

  #keep(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_STDOUT_BYTES) return this.#stop('too-much-output');
    this.#chunks.push(chunk);
  }

  #stop(why: ProgramResult['outcome']): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = why;
    this.#child?.kill('SIGTERM');
    this.#later(KILL_AFTER_MS, () => this.#child?.kill('SIGKILL'));
  }

  #failed(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A program that could not be told to stop is still there and will close.
    if (this.#child?.pid !== undefined) return;
    this.#stderr = error instanceof Error ? error.message : '';
    this.#end(code === 'ENOENT' ? 'not-found' : 'not-runnable');
  }

  #later(ms: number, fire: () => void): void {
    this.#timers.add(this.#request.clock.timer(ms, fire));
  }

  #end(outcome: ProgramResult['outcome'], code?: number | null): void {
    for (const timer of this.#timers) timer[Symbol.dispose]();
    this.#request.signal.removeEventListener('abort', this.#abort);
    const stdout = Buffer.concat(this.#chunks).toString('utf8');
    this.#resolve({ outcome, stdout, stderr: this.#stderr, ...(typeof code === 'number' && { exitCode: code }) });
  }
}
