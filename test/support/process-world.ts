import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SystemClock } from '../../src/base/clock.ts';
import { SILENT_LOG } from '../../src/base/log.ts';
import { openProcessTable } from '../../src/lab/process/leftovers.ts';
import type { Isolation, OutputSink, ProcessHost, ProcessSpec } from '../../src/lab/process/process-host.ts';
import { type ProcessHostOptions, startProcessHost } from '../../src/lab/process/start-process-host.ts';
import { scratchDirectory, until } from './scratch.ts';

/** Keeps everything that a process says. */
export class RecordedOutput implements OutputSink {
  readonly chunks: { readonly stream: 'stdout' | 'stderr'; readonly bytes: Buffer }[] = [];
  ends = 0;

  write(stream: 'stdout' | 'stderr', bytes: Uint8Array): boolean {
    this.chunks.push({ stream, bytes: Buffer.from(bytes) });
    return true;
  }

  async drained(): Promise<void> {}

  end(): void {
    this.ends += 1;
  }

  bytes(stream: 'stdout' | 'stderr' = 'stdout'): Buffer {
    return Buffer.concat(this.chunks.filter((chunk) => chunk.stream === stream).map(({ bytes }) => bytes));
  }

  text(stream: 'stdout' | 'stderr' = 'stdout'): string {
    return this.bytes(stream).toString('utf8');
  }
}

export interface ProcessWorld extends AsyncDisposable {
  readonly host: ProcessHost;
  /** Of the lab. */
  readonly directory: string;
  readonly identity: string;
  /** A container with an own directory and a recorded output. */
  spec(argv: readonly string[], more?: Partial<ProcessSpec>): ProcessSpec & { readonly output: RecordedOutput };
}

/** A host of processes in a directory of its own; both are gone at the end of the block. */
export async function processWorld(options: Partial<ProcessHostOptions> = {}): Promise<ProcessWorld> {
  await using stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const identity = options.identity ?? `test-${new SystemClock().uuid()}`;
  const isolation: Isolation = 'rewrite';
  const defaults = { directory: join(scratch.path, 'lab'), isEphemeral: false, isolation, stopGraceMs: 1000 };
  const given = { ...defaults, real: new SystemClock(), log: SILENT_LOG, ...options, identity };
  const host = stack.use(await startProcessHost(given));
  const owned = stack.move();
  let containers = 0;
  return {
    host,
    directory: given.directory,
    identity,
    spec: (argv, more = {}) => {
      const container = more.container ?? `pod-${containers++}/main/0`;
      const directory = join(scratch.path, 'containers', container);
      mkdirSync(directory, { recursive: true });
      return { argv, env: {}, mounts: [], directory, container, ...more, output: new RecordedOutput() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** A script, run by a shell. */
export const sh = (script: string): readonly string[] => ['sh', '-c', script];

/** Starts a shell script that prints numbers of processes, and waits for that many. */
export async function startPrinting(world: ProcessWorld, script: string, count: number) {
  const spec = world.spec(sh(script));
  const run = await world.host.start(spec);
  const pids = () => spec.output.text().split('\n').slice(0, -1).map(Number);
  await until(() => pids().length >= count, `${count} numbers were printed by: ${script}`);
  return { run, pids: pids(), output: spec.output };
}

/** Those of the processes that are there. */
export async function alive(pids: readonly number[]): Promise<readonly number[]> {
  const entries = await (await openProcessTable()).entries();
  return pids.filter((number) => entries.some(({ pid }) => pid === number));
}
