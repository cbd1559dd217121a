import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log, LogFields } from '../../../src/base/log.ts';
import { SILENT_LOG } from '../../../src/base/log.ts';
import { createClient } from '../../../src/kube/client/create-client.ts';
import type { KubeClient } from '../../../src/kube/client/kube-client.ts';
import { loadKubeconfig } from '../../../src/kube/config/kubeconfig.ts';
import { createManager, type Manager } from '../../../src/kube/manager/create-manager.ts';
import { connect } from '../../../src/kube/transport/connection.ts';
import { retrying } from '../../../src/kube/transport/retrying.ts';
import { isWrite, type Transport } from '../../../src/kube/transport/transport.ts';
import { Faults } from '../../../src/testing/faults.ts';
import { FastClock } from './fast-clock.ts';
import { BOX_LABEL, TALLY_LABEL } from './kinds.ts';
import type { Mutant } from './mutants.ts';
import { Provider } from './provider.ts';
import { controllersOf, Overseer } from './reconcilers.ts';
import { Relay } from './relay.ts';
import { KUBECONFIG } from './server.ts';
import { ServerProcess } from './server-process.ts';
import { Storm } from './storm.ts';
import { populationOf, Users } from './users.ts';
import { type Sample, sampleNow } from './vitals.ts';
import { cacheDifferences, differences, sizeOf, worldNow } from './world.ts';

export interface ChaosOptions {
  readonly seconds: number;
  readonly rounds: number;
  readonly objects: number;
  readonly speed: number;
  readonly seed: number;
  readonly directory: string;
  /** How long the world may take to become what it should be, in real time. */
  readonly patienceMs: number;
  /** The share of calls to the provider that fail in a storm, before or after they are done. */
  readonly providerFailures: number;
  readonly mutant?: Mutant;
  readonly without?: readonly string[];
  readonly isVerbose?: boolean;
}

const POLL_MS = 250;
const QUIET_MS = 700;
const ACTS_PER_SECOND = 60;

/** What a run has seen; mistakes are lines of text. */
export class ChaosRun implements AsyncDisposable {
  readonly problems: string[] = [];
  readonly samples: Sample[] = [];
  readonly convergeMs: number[] = [];
  readonly logged = new Map<string, number>();
  readonly overseer = new Overseer();
  readonly provider: Provider;
  readonly clock: FastClock;
  readonly faults: Faults;
  objects = 0;
  relists = 0;
  divergences = 0;
  attempts = 0;
  writes = 0;
  readonly #options: ChaosOptions;
  readonly #stack = new AsyncDisposableStack();
  readonly #parts: {
    readonly server: ServerProcess;
    readonly relay: Relay;
    readonly storm: Storm;
    readonly users: Users;
    readonly admin: KubeClient;
    readonly manager: Manager;
  };

  private constructor(options: ChaosOptions, server: ServerProcess, relay: Relay, ways: Ways) {
    const { seed, speed, objects, mutant, without } = options;
    this.#options = options;
    this.clock = new FastClock(speed, seed);
    const random = () => this.clock.random();
    this.provider = new Provider(random);
    this.faults = new Faults(this.clock);
    const manager = createManager({
      name: 'chaos',
      kube: this.#mutated(this.faults.around(this.#counted(ways.manager(this.clock)))),
      clock: this.clock,
      log: this.#log(),
      cache: { byKind: { configmaps: { indexLabels: [TALLY_LABEL, BOX_LABEL] } } },
    });
    const parts = { provider: this.provider, overseer: this.overseer, mutant, uuid: () => this.clock.uuid() };
    for (const controller of controllersOf(parts)) manager.add(controller);
    const storm = new Storm({
      faults: this.faults,
      relay,
      server,
      random,
      without,
      attempts: () => this.attempts,
    });
    const users = new Users(ways.admin, random, populationOf(objects));
    this.#parts = { server, relay, storm, users, admin: ways.admin, manager };
  }

  static async start(options: ChaosOptions): Promise<ChaosRun> {
    const { directory, seed, speed } = options;
    await using stack = new AsyncDisposableStack();
    const dataDir = join(directory, 'data');
    const server = stack.use(new ServerProcess({ dataDir, port: 0, seed, speed }));
    await server.start();
    const relay = stack.use(new Relay(server.port));
    const ways = await waysOf(join(dataDir, KUBECONFIG), await relay.listen(), stack);
    const run = new ChaosRun(options, server, relay, ways);
    run.#stack.use(stack.move());
    return run;
  }

  get storm(): Storm {
    return this.#parts.storm;
  }

  get acts(): number {
    return this.#parts.users.acts;
  }

  get restarts(): number {
    return this.#parts.server.restarts;
  }

  /** Storm and calm in turns; everything is checked in each calm. */
  async play(): Promise<void> {
    const { manager, users } = this.#parts;
    const { seconds, rounds } = this.#options;
    const stop = new AbortController();
    const running = manager.start(stop.signal).catch((error: unknown) => {
      this.problems.push(`the manager ended: ${String(error)}`);
    });
    await manager.whenReady();
    for (let round = 0; round < rounds && this.problems.length === 0; round++) {
      await users.settleIn();
      if (round === 0) await this.#calm('the beginning');
      if (this.problems.length > 0) break;
      await this.#storm(seconds / rounds);
      await this.#calm(`round ${round + 1}`);
    }
    stop.abort();
    await running;
    if (this.overseer.overlaps.length > 0)
      this.problems.push(`two workers had ${this.overseer.overlaps[0]} at once`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }

  async #storm(seconds: number): Promise<void> {
    const { storm, users } = this.#parts;
    const over = new AbortController();
    this.provider.failureRate = this.#options.providerFailures;
    const living = users.live(ACTS_PER_SECOND, over.signal);
    try {
      await storm.rage(seconds);
    } finally {
      over.abort();
      this.provider.failureRate = 0;
    }
    await living;
  }

  /** All is well again: the world must become what it should be, and then stay so without another write. */
  async #calm(when: string): Promise<void> {
    const { admin, manager, relay } = this.#parts;
    const startMs = performance.now();
    let wrong = await this.#wrong();
    while (wrong.length > 0 && performance.now() - startMs < this.#options.patienceMs) {
      await sleep(POLL_MS);
      if (manager.isIdle) wrong = await this.#wrong();
    }
    this.convergeMs.push(Math.round(performance.now() - startMs));
    this.#note(when, wrong);
    if (wrong.length > 0) this.#explain(wrong);
    const before = this.writes;
    await sleep(QUIET_MS);
    if (this.writes !== before) this.#note(when, [`${this.writes - before} writes though nothing changes`]);
    const world = await worldNow(admin, this.provider.things);
    this.objects = Math.max(this.objects, sizeOf(world));
    const { health } = manager.cache;
    this.relists = health.reduce((sum, { relists }) => sum + relists, 0);
    this.divergences = health.reduce((sum, { divergences }) => sum + divergences, 0);
    this.samples.push(sampleNow(relay.connections));
  }

  async #wrong(): Promise<readonly string[]> {
    const world = await worldNow(this.#parts.admin, this.provider.things);
    return [...differences(world), ...cacheDifferences(this.#parts.manager.cache, world)];
  }

  /** For whoever has to find out why. */
  #explain(wrong: readonly string[]): void {
    const { health } = this.#parts.manager.cache;
    process.stderr.write(`${wrong.join('\n')}\n${JSON.stringify(health)}\n`);
  }

  #note(when: string, wrong: readonly string[]): void {
    if (wrong.length === 0) return;
    this.problems.push(`after ${when} ${wrong.length} things are wrong: ${wrong.slice(0, 5).join('; ')}`);
  }

  #counted(transport: Transport): Transport {
    return (request) => {
      this.attempts++;
      if (isWrite(request) && !request.target.includes('/events')) this.writes++;
      return transport(request);
    };
  }

  #mutated(transport: Transport): Transport {
    if (this.#options.mutant !== 'dropped-events') return transport;
    const dropping = new Faults(this.clock);
    dropping.arm({ matches: ({ isStream }) => isStream === true, fault: { kind: 'drop', everyLines: 5 } });
    return dropping.around(transport);
  }

  #log(): Log {
    const at = (level: string) => (fields: LogFields, message: string) => {
      const text = `${level}: ${message}`;
      this.logged.set(text, (this.logged.get(text) ?? 0) + 1);
      if (this.#options.isVerbose === true) process.stderr.write(`${text} ${JSON.stringify(fields, errorText)}\n`);
    };
    const log: Log = { error: at('error'), warn: at('warn'), info: at('info'), debug: () => {}, child: () => log };
    return log;
  }
}

const errorText = (_key: string, value: unknown): unknown =>
  value instanceof Error ? (value.stack ?? '') : value;

interface Ways {
  readonly admin: KubeClient;
  manager(clock: FastClock): Transport;
}

/** The administrator's way is straight; that of the manager leads through the relay. */
async function waysOf(file: string, port: number, stack: AsyncDisposableStack): Promise<Ways> {
  const access = (kubeconfigFlag: string) => loadKubeconfig({ env: {}, homeDir: '/nowhere', kubeconfigFlag });
  const relayed = `${file}.relayed`;
  const text = await readFile(file, 'utf8');
  await writeFile(relayed, text.replace(/https:\/\/127\.0\.0\.1:\d+/, `https://127.0.0.1:${port}`), {
    mode: 0o600,
  });
  const [straight, through] = await Promise.all([access(file), access(relayed)]);
  const slow = new FastClock(1, 1);
  const direct = stack.use(connect(straight, { clock: slow, log: SILENT_LOG }));
  const transport = retrying(direct.transport, { clock: slow });
  return {
    admin: createClient({ transport, fieldManager: 'users', clock: slow, log: SILENT_LOG }),
    manager: (clock) => stack.use(connect(through, { clock, log: SILENT_LOG })).transport,
  };
}
