import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processIdentity } from '../../src/app/process-identity.ts';
import type { ExitGuard } from './exit-guard.ts';

const POLL_MS = 100;
const LOG_LINES = 50;

export interface Program {
  readonly name: string;
  readonly file: string;
  readonly arguments: readonly string[];
  /** For the log, the pid file and as working directory. */
  readonly directory: string;
  readonly isReady: (signal: AbortSignal) => Promise<boolean>;
}

export interface ProcessOptions {
  readonly guard: ExitGuard;
  readonly startTimeoutMs: number;
  readonly stopTimeoutMs: number;
  /** Shows the program's output on our own instead of keeping it in the log file. */
  readonly isOutputAttached?: boolean;
}

/** The program ended or was not ready in time; the message ends with its last log lines (oracles/P4). */
export class StartFailure extends Error {
  readonly isPortTaken: boolean;

  constructor(message: string, log: string) {
    super(log === '' ? message : `${message}; its last lines:\n${log}`);
    this.name = 'StartFailure';
    this.isPortTaken = /address already in use|EADDRINUSE/i.test(log);
  }
}

/** A program that has been ready once. Stopping it again, or after it ended by itself, does nothing. */
export class RunningProcess implements AsyncDisposable {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<string>;
  readonly #stopTimeoutMs: number;

  constructor(child: ChildProcess, pid: number, ended: Promise<string>, stopTimeoutMs: number) {
    this.pid = pid;
    this.#child = child;
    this.#ended = ended;
    this.#stopTimeoutMs = stopTimeoutMs;
  }

  /** SIGTERM, a grace period, SIGKILL (oracles/P5). Resolves when the process is gone. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), this.#stopTimeoutMs);
    await this.#ended;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** Resolves when the program is ready; otherwise stops it and rejects with a StartFailure, at once when it ends. */
export async function startProcess(program: Program, options: ProcessOptions): Promise<RunningProcess> {
  const { child, pid, ended } = await spawned(program, options);
  const running = new RunningProcess(child, pid, ended, options.stopTimeoutMs);
  const polling = new AbortController();
  const fail = async (reason: Promise<string>): Promise<never> => {
    throw new StartFailure(`${program.name} ${await reason}`, lastLines(logFile(program)));
  };
  try {
    await Promise.race([
      untilReady(program, polling.signal),
      fail(ended),
      fail(
        sleep(options.startTimeoutMs, `is not ready after ${options.startTimeoutMs} ms`, {
          signal: polling.signal,
        }),
      ),
    ]);
    // Ready and gone: somebody else answered, or it ended before we heard of it.
    if (processIdentity(pid) === undefined) await fail(ended);
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  } finally {
    polling.abort();
  }
}

async function spawned(program: Program, { guard, isOutputAttached = false }: ProcessOptions) {
  const log = openSync(logFile(program), 'w');
  const output = isOutputAttached ? 'inherit' : log;
  const child = spawn(program.file, program.arguments, {
    cwd: program.directory,
    // Nothing of the developer's own configuration: no proxies, no KUBECONFIG, no home.
    env: { HOME: program.directory, TMPDIR: program.directory, PATH: '/usr/local/bin:/usr/bin:/bin' },
    stdio: ['ignore', output, output],
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw await spawnError(child, program);
  guard.add(pid);
  writePidFile(program, pid);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      guard.delete(pid);
      rmSync(pidFile(program), { force: true });
      resolve(signal === null ? `ended with code ${code}` : `was ended by ${signal}`);
    });
  });
  return { child, pid, ended };
}

const spawnError = (child: ChildProcess, program: Program): Promise<StartFailure> =>
  new Promise((resolve) => {
    child.once('error', ({ message }) =>
      resolve(new StartFailure(`${program.name} cannot be run: ${message}`, '')),
    );
  });

async function untilReady({ isReady }: Program, signal: AbortSignal): Promise<void> {
  while (!(await isReady(signal))) await sleep(POLL_MS, undefined, { signal });
}

/** How a later run recognises this very process when we are killed before we can stop it (oracles/P6). */
function writePidFile(program: Program, pid: number): void {
  const identity = processIdentity(pid);
  if (identity !== undefined) writeFileSync(pidFile(program), JSON.stringify(identity));
}

const pidFile = ({ directory, name }: Program): string => join(directory, `${name}.pid`);
const logFile = ({ directory, name }: Program): string => join(directory, `${name}.log`);

const lastLines = (file: string): string =>
  readFileSync(file, 'utf8').trimEnd().split('\n').slice(-LOG_LINES).join('\n');
