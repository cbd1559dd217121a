import { rmSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Ends programs and removes their directory when this process goes without disposing of them: normal exit, uncaught
 * exception, Ctrl-C, termination. Only a killed process (SIGKILL) escapes; its left-overs are swept at the next start.
 */
export class ExitGuard implements Disposable {
  readonly #directory: string;
  readonly #pids = new Set<number>();
  readonly #onExit = (): void => this.#cleanUp();
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.#cleanUp();
    this[Symbol.dispose]();
    // Without other listeners the signal must keep its meaning: end this process, visibly by that signal.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };

  constructor(directory: string) {
    this.#directory = directory;
    process.on('exit', this.#onExit);
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  add(pid: number): void {
    this.#pids.add(pid);
  }

  /** Must be called as soon as the program has ended, because its process id may then be given to another one. */
  delete(pid: number): void {
    this.#pids.delete(pid);
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#onExit);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  /** Synchronous, because nothing else runs while a process exits; hence no time for a gentle stop. */
  #cleanUp(): void {
    for (const pid of this.#pids) endNow(pid);
    this.#pids.clear();
    // The programs may still be writing for a moment: try again while the directory is not empty.
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
}

function endNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended on its own between the last event and now.
  }
}
