import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const PROGRAM = new URL('./hello-program.ts', import.meta.url).href;
const SCRIPT = `const { runHello } = await import(${JSON.stringify(PROGRAM)}); await runHello(process.argv.slice(1));`;

export interface Ended {
  readonly code: number | null;
  /** What it said on standard error, as lines. */
  readonly errors: readonly string[];
}

/** The hello program in a process of its own; dies with the test. */
export class ChildProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #errors: string[] = [];
  readonly #ended: Promise<Ended>;
  readonly #waiting = new Set<() => void>();

  constructor(flags: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const words = ['--input-type=module', '--eval', SCRIPT, '--', '--metrics-bind-address=0', ...flags];
    const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', ...environment };
    this.#child = spawn(process.execPath, words, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#collect(this.#child.stdout, this.#lines);
    this.#collect(this.#child.stderr, this.#errors);
    this.#ended = once(this.#child, 'close').then(([code]) => ({
      code: code as number | null,
      errors: this.#errors,
    }));
  }

  /** Ends by itself, within 30 s. */
  async ended(): Promise<Ended> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 30_000);
    try {
      return await this.#ended;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when a line of its output, or of its messages, matches; rejects when it ends before or after 20 s. */
  async says(pattern: RegExp): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const all = () => [...this.#lines, ...this.#errors];
    const check = () => {
      if (all().some((line) => pattern.test(line))) resolve();
    };
    const fail = () => reject(new Error(`it never said ${pattern}, but: ${all().join('\n')}`));
    this.#waiting.add(check);
    const timer = setTimeout(fail, 20_000);
    check();
    void this.#ended.then(fail);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(check);
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #collect(stream: ChildProcess['stdout'], lines: string[]): void {
    if (stream === null) return;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const check of this.#waiting) check();
    });
  }
}
