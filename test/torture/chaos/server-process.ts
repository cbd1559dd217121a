import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ServerOptions } from './server.ts';

const PROGRAM = fileURLToPath(new URL('./server.ts', import.meta.url));

/** The API server: killed with SIGKILL and started again on the same data and the same port. */
export class ServerProcess implements AsyncDisposable {
  readonly #options: ServerOptions;
  #child: ChildProcess | undefined;
  #port = 0;
  restarts = 0;
  errors = '';

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  get port(): number {
    return this.#port;
  }

  async start(): Promise<void> {
    const options = { ...this.#options, port: this.#port };
    const variables = Object.entries(process.env).filter(([name]) => name !== 'NODE_TEST_CONTEXT');
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: Object.fromEntries(variables),
    });
    this.#child = child;
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (this.errors += text));
    const [line] = await Promise.race([once(child.stdout, 'data'), once(child, 'close').then(() => [''])]);
    const [, port] = /^ready (\d+)/.exec(String(line)) ?? [];
    if (port === undefined) throw new Error(`the API server does not start: ${this.errors}`);
    this.#port = Number(port);
  }

  /** As quick as a crash, and as thorough. */
  async crash(): Promise<void> {
    await this.#kill();
    this.restarts++;
    await this.start();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#kill();
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  }
}
