import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WriterOptions } from './writer.ts';

const WRITER = fileURLToPath(new URL('./writer.ts', import.meta.url));

/** A writing process, started but waiting. `wrapper` comes before the program: strace, for one. */
export class Victim implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #onLine: (line: string) => void;
  readonly #lines = new Set<string>();
  readonly #waiting = new Map<string, () => void>();
  readonly #ended: Promise<unknown>;
  #rest = '';
  #errors = '';

  constructor(options: WriterOptions, onLine: (line: string) => void, wrapper: readonly string[] = []) {
    const command = [...wrapper, process.execPath, WRITER, JSON.stringify(options)];
    // NODE_TEST_CONTEXT would make the child report tests; io_uring would hide its writes from strace.
    const variables = Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT');
    const env = { ...Object.fromEntries(variables), UV_USE_IO_URING: '0' };
    this.#onLine = onLine;
    this.#child = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'pipe'], env });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => void (this.#errors += text));
    this.#child.stdin?.on('error', () => undefined);
    this.#ended = once(this.#child, 'close');
  }

  get errors(): string {
    return this.#errors;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when a line begins with this word, or the process has ended. */
  async said(word: string): Promise<void> {
    if (this.#lines.has(word)) return;
    await Promise.race([new Promise<void>((resolve) => this.#waiting.set(word, resolve)), this.#ended]);
  }

  /** The first time: begin. The second time: stop in good order. */
  go(): void {
    this.#child.stdin?.write('go\n');
  }

  /** No line is lost: what was written to the pipe before the end is read. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** A test that fails leaves nothing running. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }

  async ended(): Promise<number | null> {
    await this.#ended;
    return this.#child.exitCode;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split('\n');
    // A line that was cut by the kill was not said.
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const word = line.split(' ', 1)[0] ?? '';
      this.#onLine(line);
      this.#lines.add(word);
      this.#waiting.get(word)?.();
    }
  }
}
