import { hostname as hostOfMachine } from 'node:os';
import { type Clock, SystemClock } from '../../base/clock.ts';
import { createLog, type Log } from '../../base/log.ts';
import type { Cache } from '../cache/cache.ts';
import { createClient } from '../client/create-client.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { RuntimeConfig } from '../config/runtime-config.ts';
import { validateRuntimeConfig } from '../config/runtime-config-check.ts';
import type { Controller } from '../controller/controller.ts';
import type { Fence } from '../election/fence.ts';
import { createEventRecorder, type RunningEventRecorder } from '../events/create-event-recorder.ts';
import { type Metrics, PrometheusMetrics } from '../metrics/metrics.ts';
import { watchProcess } from '../metrics/process-metrics.ts';
import { type Tracer, tracedTransport } from '../metrics/tracing.ts';
import type { Need } from '../rbac/need.ts';
import { eventNeeds, reviewNeeds } from '../rbac/runtime-needs.ts';
import { BoundControllers } from './bound-controllers.ts';
import { syncChecks } from './cache-sync.ts';
import { CACHE_SYNC_TIMEOUT_MS, type Cluster, createCluster } from './cluster.ts';
import { type Election, electionOf } from './election-part.ts';
import { HealthChecks } from './health-checks.ts';
import type { ManagerContext } from './manager-context.ts';
import { ManagerRun } from './manager-run.ts';
import type { Runnable } from './runnable.ts';
import { checkPermissions } from './self-check.ts';
import { healthServer, metricsServer, reviewsScrapes } from './servers.ts';
import { waysTo } from './ways.ts';

/** A part of its own, with what it asks of the API server, or a controller. */
export type Addable = (Runnable & { readonly needs?: readonly Need[] }) | Controller;

/** What a program is told, and what it is. */
export interface ManagerOptions extends RuntimeConfig {
  /** The server, or a transport to it. */
  readonly kube: NonNullable<RuntimeConfig['kube']>;
  /** Of the program: user agent, field manager and events carry it. */
  readonly name: string;
  readonly version?: string;
  /** Instead of that of the machine, for the identity of the candidate. */
  readonly hostname?: string;
  /** What the program does besides what its parts say. */
  readonly needs?: readonly Need[];
  /** Ask at the start whether every need is granted; true unless told otherwise. */
  readonly selfCheck?: boolean;
  /** A registry to share with others. */
  readonly registry?: Metrics;
  /**
   * A cache to share with other managers, who act as other users: somebody else runs it. What any of them writes is seen
   * by the reads of all (I20).
   */
  readonly sharedCache?: Cache;
  /** Events that differ only in their note are events of their own; one series unless told otherwise. */
  readonly distinctNotes?: boolean;
  /**
   * Events say that they come from here, in the core group, whose `source.component` other programs look for; from the
   * name of the program in events.k8s.io unless told otherwise.
   */
  readonly eventSource?: string;
  /** Writes are allowed while this holds, besides the election of this manager: that of the manager which runs this one (E7). */
  readonly fence?: Fence;
  /** Told of reconciles, requests and the election; `findTracer` gives one of OpenTelemetry (O3). */
  readonly tracer?: Tracer;
}

/** Everything that runs in one program, and the way in for its controllers. */
export interface Manager extends AsyncDisposable {
  readonly name: string;
  /** Reads from the cache, writes only while this process leads (E7). */
  readonly client: KubeClient;
  /** Reads and writes at the server, leader or not: for what every replica does. */
  readonly unfencedClient: KubeClient;
  readonly cache: Cache;
  readonly metrics: Metrics;
  readonly events: RunningEventRecorder;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: RuntimeConfig;
  readonly healthz: HealthChecks;
  readonly readyz: HealthChecks;
  /** Ports of the servers of this manager, once they listen. */
  readonly ports: { readonly health?: Promise<number>; readonly metrics?: Promise<number> };
  /** Whether this process leads; true without election once it runs. */
  readonly isLeader: boolean;
  /** No controller has work left that it may do. */
  readonly isIdle: boolean;
  /** Everything that the program asks of the API server, as far as it was added; its roles are made from this (B1). */
  readonly needs: readonly Need[];
  /** Starts with its group, or at once when that runs; throws during the stop (M4). */
  add(part: Addable): void;
  /** Stops because of an error; the first one is what `start` rejects with. */
  fail(error: unknown): void;
  /** Runs until the signal (or that of the configuration) aborts: then resolves. Rejects when a part fails. Only once. */
  start(signal?: AbortSignal): Promise<void>;
  /** All parts have started that do not wait for leadership. Rejects when the manager stops before. */
  whenReady(): Promise<void>;
  /** The parts of the leader have started too. Rejects when the manager stops before. */
  whenLeading(): Promise<void>;
}

/** A manager that has sent nothing yet. Throws one error with every problem of the configuration (C8). */
export function createManager(options: ManagerOptions): Manager {
  const { name, version, hostname = hostOfMachine(), needs = [], selfCheck = true, ...rest } = options;
  const { registry, tracer, sharedCache, distinctNotes = false, eventSource, fence, ...config } = rest;
  validateRuntimeConfig(config);
  const clock = config.clock ?? new SystemClock();
  const log =
    config.log ??
    createLog({ level: 'info', write: (line) => process.stderr.write(line), now: () => clock.now() });
  const metrics = registry ?? new PrometheusMetrics();
  const ways = waysTo(options.kube, { name, version: version ?? '0.0.0', clock, log, metrics });
  const context = { name, hostname, clock, log, metrics, config, ways, ...(tracer !== undefined && { tracer }) };
  const recording = eventNeeds({ inCoreGroup: eventSource !== undefined });
  const election = electionOf(context, { outer: fence, recording });
  const cluster = clusterOf(context, election, sharedCache);
  const events = createEventRecorder({
    client: cluster.unfencedClient,
    controller: eventSource ?? name,
    instance: `${eventSource ?? name}-${hostname}`.slice(0, 128),
    inCoreGroup: eventSource !== undefined,
    clock,
    log,
    metrics,
    distinctNotes,
  });
  return new AssembledManager({ ...context, election, cluster, events, needs, recording, selfCheck });
}

const GRACE_MS = 30_000;

const syncTimeoutMs = ({ controllers }: RuntimeConfig): number =>
  controllers?.cacheSyncTimeoutMs ?? CACHE_SYNC_TIMEOUT_MS;

const concurrency = ({ controllers: { maxConcurrent, byGroupKind = {} } = {} }: RuntimeConfig) => ({
  ...(maxConcurrent !== undefined && { maxConcurrent }),
  maxConcurrentByKind: new Map(Object.entries(byGroupKind)),
});

function clusterOf(
  { name, clock, log, metrics, config, ways, tracer }: ManagerContext,
  { fence }: Election,
  sharedCache: Cache | undefined,
): Cluster {
  const { fieldManager = name, namespaces, cache: cacheConfig } = config;
  return createCluster({
    name: ways.host === '' ? 'this process' : ways.host,
    transport: tracer === undefined ? ways.transport : tracedTransport(ways.transport, tracer),
    host: ways.host,
    userAgent: ways.userAgent,
    fieldManager,
    clock,
    log,
    metrics,
    fence: () => fence,
    cache: {
      ...cacheConfig,
      ...(namespaces !== undefined && { namespaces }),
      refreshCredentials: () => ways.refreshCredentials(),
    },
    cacheSyncTimeoutMs: syncTimeoutMs(config),
    ...(sharedCache !== undefined && { sharedCache }),
  });
}

interface Assembly extends ManagerContext {
  readonly election: Election;
  readonly cluster: Cluster;
  readonly events: RunningEventRecorder;
  readonly needs: readonly Need[];
  /** Of its events. */
  readonly recording: readonly Need[];
  readonly selfCheck: boolean;
}

class AssembledManager implements Manager {
  readonly name: string;
  readonly client: KubeClient;
  readonly unfencedClient: KubeClient;
  readonly cache: Cache;
  readonly metrics: Metrics;
  readonly events: RunningEventRecorder;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: RuntimeConfig;
  readonly healthz = new HealthChecks();
  readonly readyz = new HealthChecks();
  readonly ports: Manager['ports'];
  readonly #assembly: Assembly;
  readonly #run: ManagerRun;
  readonly #controllers: BoundControllers;
  readonly #needs: Need[];

  constructor(assembly: Assembly) {
    const { cluster, election, clock, log, config, events } = assembly;
    this.#assembly = assembly;
    this.name = assembly.name;
    this.client = cluster.client;
    this.unfencedClient = cluster.unfencedClient;
    this.cache = cluster.cache;
    this.metrics = assembly.metrics;
    this.events = events;
    this.fence = election.fence;
    this.clock = clock;
    this.log = log;
    this.config = config;
    this.#needs = [...assembly.needs];
    this.#controllers = new BoundControllers({
      ...this.#environment(),
      ...concurrency(config),
      cacheSyncTimeoutMs: syncTimeoutMs(config),
    });
    this.#run = new ManagerRun({
      clock,
      log,
      gracefulShutdownMs: config.gracefulShutdownMs ?? GRACE_MS,
      beforeCaches: (signal) => this.#checkNeeds(signal),
      underneath: [events, ...processPart(assembly)],
      ...(election.candidacy !== undefined && { candidacy: election.candidacy(events) }),
    });
    this.readyz.addSource(() => this.#readiness());
    this.ports = this.#addOwnParts();
  }

  get isLeader(): boolean {
    return this.#assembly.election.isLeader();
  }

  get isIdle(): boolean {
    return this.#controllers.isIdle(this.isLeader);
  }

  get needs(): readonly Need[] {
    const { config, election, recording } = this.#assembly;
    const reviews = reviewsScrapes(config) ? reviewNeeds() : [];
    return [...this.#needs, ...election.needs, ...reviews, ...recording];
  }

  add(part: Addable): void {
    for (const single of 'bind' in part ? this.#controllers.bind(part) : [part]) this.#run.add(single);
    this.#needs.push(...(part.needs ?? []));
  }

  fail(error: unknown): void {
    this.#run.fail(error, 'program');
  }

  async start(signal?: AbortSignal): Promise<void> {
    const signals = AbortSignal.any([signal, this.config.signal].filter((one) => one !== undefined));
    // Refuses; the connections belong to the run that goes on.
    if (this.#run.phase !== 'new') return await this.#run.start(signals);
    try {
      await this.#run.start(signals);
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }

  whenReady(): Promise<void> {
    return this.#run.ready;
  }

  whenLeading(): Promise<void> {
    return this.#run.leading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#assembly.ways[Symbol.asyncDispose]();
  }

  #environment() {
    const { cache, client, events, fence, clock, log, metrics } = this;
    const { tracer } = this.#assembly;
    return { cache, client, events, fence, clock, log, metrics, ...(tracer !== undefined && { tracer }) };
  }

  #addOwnParts(): Manager['ports'] {
    const { cluster } = this.#assembly;
    const endpoints = new Map([
      ['healthz', this.healthz],
      ['readyz', this.readyz],
    ]);
    const health = healthServer(this.#assembly, endpoints);
    const metrics = metricsServer(this.#assembly, cluster.unfencedClient);
    for (const part of [health, metrics, cluster]) if (part !== undefined) this.#run.add(part);
    return {
      ...(health !== undefined && { health: health.port }),
      ...(metrics !== undefined && { metrics: metrics.port }),
    };
  }

  #readiness(): ReadonlyMap<string, () => void> {
    const phase = this.#run.phase;
    const started = () => {
      if (this.#run.stopping.aborted) throw new Error('the program stops');
      if (phase !== 'ready') throw new Error(`the program is ${phase}`);
    };
    return new Map([...syncChecks(this.cache.health), ['manager', started] as const]);
  }

  async #checkNeeds(signal: AbortSignal): Promise<void> {
    const { config, selfCheck, clock, log, ways, name } = this.#assembly;
    if (!selfCheck) return;
    const { transport, userAgent } = ways;
    const client = createClient({ transport, userAgent, fieldManager: name, clock, log });
    const { needs } = this;
    const timeoutMs = syncTimeoutMs(config);
    const namespaces = config.namespaces ?? [];
    await checkPermissions({ client, needs, namespaces, clock, log, timeoutMs }, signal);
  }
}

/** Only where somebody can read the numbers. */
function processPart({ config, metrics, clock, log }: ManagerContext): readonly Runnable[] {
  if ((config.metrics?.bind ?? '0') === '0') return [];
  return [
    { name: 'process metrics', group: 'http', run: (signal) => watchProcess({ metrics, clock, log }, signal) },
  ];
}
