import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Pod } from '../../src/api/generated/core-v1.ts';
import type { LabOptions } from '../../src/lab/index.ts';
import type { PodPicture } from './lab-trial.ts';

const PROGRAM = fileURLToPath(new URL('lab-program.ts', import.meta.url));

const sh = (script: string): Pod['spec'] => ({ containers: [{ name: 'c', image: 'sh', args: [script] }] });

/** Pods whose processes do what makes them hard to end. `$$$$` is `$$` when the variables are expanded. */
const STUBBORN: Readonly<Record<string, Pod['spec']>> = {
  forks: sh('sleep 600 & sleep 600 & (sleep 600 & sleep 600) & wait'),
  deaf: sh('trap "" TERM INT HUP; while :; do sleep 0.1; done'),
  leaves: sh('setsid sh -c \'trap "" TERM; while :; do sleep 0.1; done\' & setsid sleep 600 & wait'),
  web: {
    containers: [{ name: 'c', image: 'web', readinessProbe: { httpGet: { port: 18_417 }, periodSeconds: 1 } }],
  },
};

export interface LabWords {
  readonly event: 'started' | 'up' | 'ended';
  readonly directory?: string;
  readonly url?: string;
  readonly pods?: readonly (PodPicture & { readonly name: string; readonly address?: string })[];
}

export interface LabPlace {
  readonly scratch: string;
  /** Of compiled modules. */
  readonly cache: string;
  readonly options?: LabOptions;
}

/** A lab in a process of its own, with the stubborn pods. Its temporary files are below `scratch`. */
export class LabProcess {
  readonly child: ChildProcess;
  readonly words: LabWords[] = [];
  readonly #problems: Promise<string>;
  #told = Promise.withResolvers<void>();

  private constructor(child: ChildProcess) {
    this.child = child;
    this.#problems = child.stderr === null ? Promise.resolve('') : text(child.stderr);
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.words.push(JSON.parse(line));
      this.#tell();
    });
    child.once('exit', () => this.#tell());
  }

  static start({ scratch, cache, options = {} }: LabPlace): LabProcess {
    const program = ['--conditions=slipway-source', PROGRAM, JSON.stringify(options), JSON.stringify(STUBBORN)];
    // What one has compiled the next ones need not: most of their start is that.
    const env = { PATH: process.env['PATH'], TMPDIR: scratch, NODE_COMPILE_CACHE: cache };
    return new LabProcess(spawn(process.execPath, program, { env, stdio: ['pipe', 'pipe', 'pipe'] }));
  }

  /** What it says next of a kind; fails with its last words when it ends before. */
  async said(event: LabWords['event']): Promise<LabWords> {
    for (;;) {
      const found = this.words.find((one) => one.event === event);
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(`the lab ended before it was ${event}: ${await this.#problems}`);
      await this.#told.promise;
    }
  }

  async kill(): Promise<void> {
    if (this.#hasEnded) assert.fail(`the lab ended by itself: ${await this.#problems}`);
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  /** Ends it as people do. */
  async end(): Promise<void> {
    const exit = once(this.child, 'exit');
    this.child.stdin?.end();
    const [code] = await exit;
    assert.equal(code, 0, await this.#problems);
  }

  get #hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  #tell(): void {
    this.#told.resolve();
    this.#told = Promise.withResolvers<void>();
  }
}

/** What is left of labs whose files are below a directory: processes, wardens. One line each. */
export function processesOf(scratch: string): readonly string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid)
    .map((pid) => ({ pid, environment: procFile(pid, 'environ'), command: procFile(pid, 'cmdline') }))
    .filter(
      ({ environment, command }) =>
        environment.includes(`SLIPWAY_LAB=${scratch}`) || command.includes(`slipway-warden\0${scratch}`),
    )
    .map(({ pid, command }) => `process ${pid}: ${command.replaceAll('\0', ' ').slice(0, 200)}`);
}

function procFile(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** Sockets of this machine that listen at 127.L.x.y. */
export function listenersIn(octet: number): readonly string[] {
  const network = `${octet.toString(16).padStart(2, '0')}7F`.toUpperCase();
  return readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local = '', , state]) => state === '0A' && local.slice(4, 8) === network)
    .map(([, local = '']) => local);
}

/** Temporary directories of labs. */
export const directoriesIn = (scratch: string): readonly string[] =>
  readdirSync(scratch).filter((name) => name.startsWith('sw-'));

/** How long it takes until nothing is left, in milliseconds. Fails with what is left. */
export async function goneMs(left: () => readonly string[], limitMs: number): Promise<number> {
  for (const startMs = performance.now(); ; await sleep(50)) {
    const found = left();
    const tookMs = performance.now() - startMs;
    if (found.length === 0) return tookMs;
    if (tookMs > limitMs) assert.fail(`${limitMs} ms after the lab was killed there is still ${found.join('; ')}`);
  }
}

/** A directory of its own below another. */
export function below(scratch: string, name: string): string {
  const path = join(scratch, name);
  if (!existsSync(path)) mkdirSync(path);
  return path;
}
