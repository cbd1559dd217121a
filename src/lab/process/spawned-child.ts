import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { type Launch, notCreated } from './launch.ts';
import { READY } from './namespace-script.ts';
import { StartFailure } from './process-host.ts';
import { signal } from './process-table.ts';

/** Of what goes wrong before the program runs. */
const MOST_TEXT = 4096;
/** Mounts take milliseconds; a file system that does not answer takes for ever. */
const MOUNT_MS = 10_000;

export type SpawnedChild = ChildProcess & { readonly pid: number };

export interface SpawnOptions<T extends Disposable> {
  readonly launch: Launch;
  /** Real time. */
  readonly clock: Clock;
  /** Called in the turn of the start, before the child can be reaped. Disposed when the start fails. */
  readonly register: (pid: number) => T;
}

/** Starts a program in a session and a process group of its own (P1). Rejects with a StartFailure (P2). */
export async function spawnChild<T extends Disposable>(
  options: SpawnOptions<T>,
): Promise<{ readonly child: SpawnedChild; readonly registration: T }> {
  const { launch, clock, register } = options;
  using cleanup = new DisposableStack();
  try {
    const child = spawned(launch);
    const registration = hasPid(child) ? cleanup.use(register(child.pid)) : undefined;
    await once(child, 'spawn');
    // Whatever it says later, for example that it could not be told something, is no news.
    child.on('error', () => {});
    if (!hasPid(child) || registration === undefined) throw new Error('it has no process id');
    if (launch.isAnnounced) await announced(child, clock);
    // It started: the registration is the caller's now.
    cleanup.move();
    return { child, registration };
  } catch (error) {
    throw error instanceof StartFailure ? error : startFailure(launch, error);
  } finally {
    await Promise.all(launch.scripts.map((script) => rm(script, { force: true })));
  }
}

const hasPid = (child: ChildProcess): child is SpawnedChild => child.pid !== undefined;

function spawned({ file, argv, workdir, env, isAnnounced }: Launch): ChildProcess {
  const [argv0 = file, ...programArguments] = argv;
  const child = spawn(file, programArguments, {
    argv0,
    cwd: workdir,
    // Node hands its own on unless it is named.
    env: { NODE_V8_COVERAGE: undefined, ...env },
    detached: true,
    shell: false,
    stdio: ['ignore', 'pipe', 'pipe', ...(isAnnounced ? (['pipe'] as const) : [])],
  });
  // Node throws away what nobody reads when the child exits; somebody will, but perhaps only then.
  child.stdout?.on('readable', () => {});
  child.stderr?.on('readable', () => {});
  return child;
}

function startFailure({ file, argv }: Launch, error: unknown): StartFailure {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const name = argv[0] ?? file;
  // The file itself was there a moment ago: what is missing is what its first line names.
  if (code === 'ENOENT') {
    return new StartFailure('RunContainerError', `cannot run ${name}: its interpreter does not exist`, 127);
  }
  return new StartFailure('RunContainerError', `cannot run ${name}: ${messageOf(error)}`, 126);
}

/** Waits until the mounts are there and the program is about to start; ends it otherwise. */
async function announced(child: SpawnedChild, clock: Clock): Promise<void> {
  using _ = clock.timer(MOUNT_MS, () => signal(-child.pid, 'SIGKILL'));
  const text = await textOf(child.stdio[3]);
  if (text.endsWith(READY)) return;
  child.stdout?.destroy();
  child.stderr?.destroy();
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit');
    signal(-child.pid, 'SIGKILL');
    await exited;
  }
  throw notCreated(`cannot make the mounts of the container: ${text.trim() || 'no reason was given'}`);
}

async function textOf(stream: unknown): Promise<string> {
  if (!(stream instanceof Readable)) return '';
  let text = '';
  for await (const bytes of stream) text = (text + String(bytes)).slice(-MOST_TEXT);
  return text;
}
