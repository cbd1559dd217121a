import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../base/clock.ts';
import { messageOf, terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { childEnvironment, type Membership, marks } from './child-environment.ts';
import { ChildJournal, killSurvivors } from './child-journal.ts';
import { ChildRegister, type Registration } from './child-register.ts';
import { type ChosenIsolation, chooseIsolation, removeProbes } from './isolation.ts';
import { notCreated, type Variables } from './launch.ts';
import { leftovers, openProcessTable } from './leftovers.ts';
import { OutputExcerpt } from './output-excerpt.ts';
import type {
  ExecResult,
  Isolation,
  OutputSink,
  ProcessHost,
  ProcessSpec,
  RunningProcess,
} from './process-host.ts';
import { ProcessRun } from './process-run.ts';
import { type ProcessTable, signal } from './process-table.ts';
import { removeShortPaths, ShortPaths } from './short-path.ts';
import { spawnChild } from './spawned-child.ts';
import { EPHEMERAL_MARK, Warden } from './warden.ts';

const MAX_CHILDREN = 64;
const STOP_GRACE_MS = 3000;
/** How long a killed process may take to be gone; longer is one that the kernel holds. */
const GIVE_UP_MS = 5000;

export interface ProcessHostOptions {
  /** Of the lab; `children.jsonl` is in it. */
  readonly directory: string;
  /** The directory is removed when the lab is killed. */
  readonly isEphemeral: boolean;
  readonly isolation?: 'auto' | Isolation;
  readonly maxChildren?: number;
  /** Between SIGTERM and SIGKILL at the end of the lab. */
  readonly stopGraceMs?: number;
  /** File URL of a module that Node children load first. */
  readonly preload?: string;
  /** Directory where Node children keep what V8 made of their programs. */
  readonly compileCache?: string;
  /** For all children, such as what the address plan tells them. */
  readonly environment?: Variables;
  /** Real time. */
  readonly real: Clock;
  readonly log: Log;
  /** Of this lab, unlike all others on this machine. */
  readonly identity: string;
  /** Somebody else's, who ends it; one is started unless given. */
  readonly warden?: Warden;
}

/** Ends what an earlier lab left in the directory, then starts children on demand. */
export async function startProcessHost(options: ProcessHostOptions): Promise<ProcessHost> {
  const {
    directory,
    isEphemeral,
    identity,
    isolation = 'auto',
    preload,
    compileCache,
    real: clock,
    log,
  } = options;
  await mkdir(directory, { recursive: true });
  const table = await openProcessTable();
  const journal = new ChildJournal(directory);
  await killSurvivors(journal.read(), { table, clock, log });
  journal.compact();
  await removeShortPaths(directory);
  await removeProbes(directory);
  if (isEphemeral) await writeFile(join(directory, EPHEMERAL_MARK), identity);
  await using started = new AsyncDisposableStack();
  // As early as can be: a lab that is killed before leaves its directory.
  const warden =
    options.warden ??
    started.use(
      await Warden.start({ identity, clock, log, ...(isEphemeral && { temporaryDirectory: directory }) }),
    );
  const keep = [
    directory,
    process.execPath,
    ...(preload === undefined ? [] : [fileURLToPath(preload)]),
    ...(compileCache === undefined ? [] : [compileCache]),
  ];
  const chosen = await chooseIsolation({ isolation, directory, keep, clock });
  started.move();
  return new Host({ ...options, table, journal, warden, isOwnWarden: options.warden === undefined, chosen });
}

interface HostParts extends ProcessHostOptions {
  readonly table: ProcessTable;
  readonly journal: ChildJournal;
  readonly warden: Warden;
  readonly isOwnWarden: boolean;
  readonly chosen: ChosenIsolation;
}

interface RunRequest {
  readonly spec: ProcessSpec;
  readonly when: 'start' | 'beside';
  readonly output: OutputSink;
  /** Where it belongs to. */
  readonly runs: Set<ProcessRun>;
  /** Of a program beside the container. */
  readonly name?: string;
}

class Host implements ProcessHost {
  readonly isolation: Isolation;
  readonly isolationText: string;
  readonly #parts: HostParts;
  /** Bounded by `maxChildren`, together with those that start. */
  readonly #containers = new Set<ProcessRun>();
  /** Probes and hooks: a few for each container. */
  readonly #besides = new Set<ProcessRun>();
  /** Groups that are being started, with their containers. */
  readonly #spawned = new Map<number, string>();
  readonly #starting = new Set<Promise<unknown>>();
  readonly #childRegister: ChildRegister;
  readonly #shortPaths: ShortPaths;
  readonly #givenUp = new AbortController();
  #places = 0;
  #runs = 0;
  #ending: Promise<void> | undefined;

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#childRegister = new ChildRegister(parts);
    this.#shortPaths = new ShortPaths(parts.directory);
    this.isolation = parts.chosen.isolation;
    this.isolationText = parts.chosen.text;
  }

  get live(): number {
    return this.#containers.size;
  }

  get isFull(): boolean {
    return this.#places >= (this.#parts.maxChildren ?? MAX_CHILDREN);
  }

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    if (this.isFull) throw notCreated(`the lab runs ${this.#places} children, the most that maxChildren allows`);
    this.#places += 1;
    try {
      const run = await this.#run({ spec, when: 'start', output: spec.output, runs: this.#containers });
      void run.exited.finally(() => this.#leave());
      return run;
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  async execute(spec: ProcessSpec, timeoutMs: number): Promise<ExecResult> {
    const output = new OutputExcerpt();
    const container = [...this.#containers].find((one) => one.container === spec.container);
    const run = await this.#run({ spec, when: 'beside', output, runs: this.#besides, name: String(this.#runs++) });
    let isTimedOut = false;
    using _ = this.#parts.real.timer(timeoutMs, () => {
      isTimedOut = true;
      run.kill();
    });
    // Mostly found by its environment before, but not when it was only about to start.
    void container?.exited.then(() => run.kill());
    const { exitCode } = await run.exited;
    return { exitCode, output: output.text, isTimedOut, ...(container?.isEnding === true && { isCutOff: true }) };
  }

  killAll(prefix = ''): void {
    for (const run of this.#all) if (run.container.startsWith(prefix)) run.kill();
    for (const [pid, container] of this.#spawned) if (container.startsWith(prefix)) signal(-pid, 'SIGKILL');
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  get #all(): readonly ProcessRun[] {
    return [...this.#containers, ...this.#besides];
  }

  #leave(): void {
    this.#places -= 1;
  }

  async #run(request: RunRequest): Promise<ProcessRun> {
    if (this.#ending !== undefined) throw notCreated('the lab is ending');
    const starting = this.#start(request);
    const settled = starting.catch(() => {});
    this.#starting.add(settled);
    try {
      return await starting;
    } finally {
      this.#starting.delete(settled);
    }
  }

  async #start({ spec, when, output, runs, name }: RunRequest): Promise<ProcessRun> {
    const { identity, chosen, table, real: clock, log } = this.#parts;
    const { container } = spec;
    const membership = { identity, container, ...(name !== undefined && { run: name }) };
    using used = new DisposableStack();
    const { path: home } = used.use(await this.#shortPaths.use(spec.directory));
    const environment = (env: Variables) => this.#environment(env, home, membership);
    const hostPaths = [...(spec.hostPaths ?? []), spec.directory];
    const launch = await chosen.mode.launch({ ...spec, directory: home, hostPaths }, environment, when);
    const register = (pid: number) => this.#register(pid, container, when);
    const { child, registration } = await spawnChild({ launch, clock, register });
    this.#spawned.delete(child.pid);
    const [variables, { rewritten }, givenUp] = [marks(membership), launch, this.#givenUp.signal];
    const run = new ProcessRun({ child, container, variables, rewritten, output, table, clock, log, givenUp });
    runs.add(run);
    used.use(registration);
    used.defer(() => runs.delete(run));
    const owned = used.move();
    void run.exited.finally(() => owned.dispose());
    try {
      await registration.written;
    } catch (error) {
      // If the lab were killed now, the next one would not find it.
      await run.stop(0);
      throw notCreated(`cannot write down which processes the lab has: ${messageOf(error)}`);
    }
    return run;
  }

  #register(pid: number, container: string, when: 'start' | 'beside'): Registration {
    const registration =
      when === 'start' ? this.#childRegister.addContainer(pid, container) : this.#childRegister.addProgram(pid);
    this.#spawned.set(pid, container);
    return {
      written: registration.written,
      [Symbol.dispose]: () => {
        this.#spawned.delete(pid);
        registration[Symbol.dispose]();
      },
    };
  }

  #environment(env: Variables, directory: string, membership: Membership): Variables {
    const { preload, compileCache, environment: additions = {} } = this.#parts;
    const nodeDirectory = dirname(process.execPath);
    const options = { env, directory, membership, nodeDirectory, additions };
    return childEnvironment({
      ...options,
      ...(preload !== undefined && { preload }),
      ...(compileCache !== undefined && { compileCache }),
    });
  }

  /** SIGTERM to all at once, SIGKILL after the grace (P15); what is left then is an error that names it (P16). */
  async #end(): Promise<void> {
    const {
      stopGraceMs = STOP_GRACE_MS,
      real: clock,
      warden,
      isOwnWarden,
      journal,
      identity,
      table,
      directory,
    } = this.#parts;
    await Promise.all(this.#starting);
    const givenUp = once(this.#givenUp.signal, 'abort');
    using _ = clock.timer(stopGraceMs + GIVE_UP_MS, () => this.#givenUp.abort());
    await Promise.race([givenUp, Promise.all(this.#all.map((run) => run.stop(stopGraceMs)))]);
    if (isOwnWarden) await warden[Symbol.asyncDispose]();
    if (existsSync(directory)) journal.compact();
    const left = await leftovers({ identity, table });
    if (left.length > 0) throw terminalError('ProcessesLeft', `the lab has ended, but ${left.join(', ')}`);
  }
}
