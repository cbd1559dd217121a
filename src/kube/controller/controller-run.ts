import { type KubeObject, keyOf, keyText } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { aborted } from '../aborted.ts';
import type { Cache } from '../cache/cache.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { Fence } from '../election/fence.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import { CACHE_SYNC_TIMEOUT } from '../manager/exit-code.ts';
import type { Runnable } from '../manager/runnable.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Tracer } from '../metrics/tracing.ts';
import type { RateLimiter } from '../queue/rate-limiter.ts';
import { type QueueActivity, WorkQueue } from '../queue/work-queue.ts';
import { ControllerMetrics } from './controller-metrics.ts';
import { OutcomeEchoes } from './outcome-echo.ts';
import { OutcomeWriter } from './outcome-writer.ts';
import { ReconcileLoop, stopReason, type Work } from './reconcile-loop.ts';
import type { Source, SourceProblem, StartedSource } from './sources.ts';

/** What a controller runs with; one for all controllers of a manager. */
export interface ControllerEnvironment {
  readonly cache: Cache;
  /** Each controller writes as `<field manager of this client>/<name of the controller>` (§10.2). */
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Told of each reconcile (O3). */
  readonly tracer?: Tracer;
  /** Reconciles at once for controllers that do not say it themselves (R10); 1 unless told otherwise. */
  readonly maxConcurrent?: number;
  /** The same by `Kind.group`, such as `Widget.example.com` or `Pod`. */
  readonly maxConcurrentByKind?: ReadonlyMap<string, number>;
  /** For controllers that do not say it themselves (R2); 2 minutes unless told otherwise. */
  readonly cacheSyncTimeoutMs?: number;
}

export interface RunSettings {
  /** Reconciles of different keys at once (R10). */
  readonly maxConcurrent?: number;
  /** After so long the signal of a reconcile aborts (R8); 2 minutes unless told otherwise, 0 for never. */
  readonly timeoutMs?: number;
  /** Sources start before this process leads, so that a change of leader is quick (R11); true unless told otherwise. */
  readonly warmUp?: boolean;
  /** 2 minutes unless told otherwise (R2). */
  readonly cacheSyncTimeoutMs?: number;
  /** What reconciles in flight get to end by themselves when the process stops, before their signal aborts; 15 s. */
  readonly stopGraceMs?: number;
  readonly limiter?: (clock: Clock) => RateLimiter;
  /** `name` in the metrics of the queue, where other programs know it under another name than that of the controller. */
  readonly queueName?: string;
  /** See WorkQueueOptions (Q6). */
  readonly maxOvertakes?: number;
}

export interface RunDefinition<T extends KubeObject> {
  readonly name: string;
  readonly work: Work<T>;
  readonly sources: readonly Source[];
  readonly settings: RunSettings;
}

/** A controller in an environment, for one run. */
export interface BoundController {
  readonly name: string;
  /** For the manager: the warm-up, if there is one, and the workers. */
  readonly runnables: readonly Runnable[];
  /** What its queue holds: nothing ready and nothing in work means that it has done what it can. */
  readonly activity: QueueActivity;
}

/** Sources, queue and workers of one controller, from the first event to the end of the last reconcile. */
export class ControllerRun<T extends KubeObject> implements BoundController {
  readonly name: string;
  readonly #definition: RunDefinition<T>;
  readonly #environment: ControllerEnvironment;
  readonly #queue: WorkQueue;
  readonly #metrics: ControllerMetrics;
  readonly #loop: ReconcileLoop<T>;
  readonly #echoes: OutcomeEchoes;
  readonly #maxConcurrent: number;
  #started: readonly StartedSource[] | undefined;
  #isLeading = false;
  #hasToldOfWait = false;

  constructor(definition: RunDefinition<T>, environment: ControllerEnvironment) {
    const { name, settings, work } = definition;
    const { clock, log, metrics } = environment;
    this.name = name;
    this.#definition = definition;
    this.#environment = environment;
    this.#maxConcurrent = concurrencyOf(definition, environment);
    this.#queue = new WorkQueue({
      clock,
      name: settings.queueName ?? name,
      metrics,
      ...(settings.limiter !== undefined && { limiter: settings.limiter(clock) }),
      ...(settings.maxOvertakes !== undefined && { maxOvertakes: settings.maxOvertakes }),
    });
    this.#echoes = new OutcomeEchoes((key) => this.#queue.add(key));
    const client = environment.client.as(`${environment.client.fieldManager}/${name}`);
    const hasConditions = work.kind?.hasConditions === true;
    this.#loop = new ReconcileLoop({
      ...environment,
      ...definition,
      client,
      queue: this.#queue,
      log,
      metrics: () => this.#metrics,
      timeoutMs: settings.timeoutMs ?? 120_000,
      ...(hasConditions && {
        outcomes: new OutcomeWriter({ kind: work.kind, client, clock, echoes: this.#echoes }),
      }),
    });
    this.#metrics = new ControllerMetrics({
      metrics,
      controller: name,
      maxConcurrent: this.#maxConcurrent,
      active: () => this.#loop.active,
    });
  }

  get activity(): QueueActivity {
    return this.#queue.activity;
  }

  get runnables(): readonly Runnable[] {
    const leader: Runnable = { name: this.name, group: 'leader', run: (signal) => this.#lead(signal) };
    if (this.#definition.settings.warmUp === false) return [leader];
    const warmUp: Runnable = {
      name: `${this.name} warm-up`,
      group: 'warm-up',
      run: (signal) => this.#warmUp(signal),
      ready: (signal) => this.#synced(signal),
    };
    return [warmUp, leader];
  }

  async #warmUp(signal: AbortSignal): Promise<void> {
    this.#sources();
    await aborted(signal);
    if (!this.#isLeading) this.#release();
  }

  async #lead(signal: AbortSignal): Promise<void> {
    if (this.#isLeading) throw terminalError('ControllerStarted', `controller ${this.name} was started before`);
    this.#isLeading = true;
    try {
      await this.#synced(signal);
      if (!signal.aborted) await this.#reconcileUntil(signal);
    } finally {
      this.#release();
    }
  }

  async #reconcileUntil(signal: AbortSignal): Promise<void> {
    const { clock, fence, log } = this.#environment;
    log.debug({ controller: this.name, workers: this.#maxConcurrent }, 'Starting workers');
    const workers = Array.from({ length: this.#maxConcurrent }, () => this.#loop.work());
    await aborted(signal);
    this.#queue.shutdown();
    const graceMs = fence.isValid ? (this.#definition.settings.stopGraceMs ?? 15_000) : 0;
    const timer = clock.timer(graceMs, () => this.#loop.abort(stopReason(fence)));
    await Promise.all(workers);
    timer[Symbol.dispose]();
  }

  /** Resolves when every source has told its initial list, or the signal aborts; rejects when that takes too long (R2). */
  async #synced(signal: AbortSignal): Promise<void> {
    const sources = this.#sources();
    const late = Promise.withResolvers<never>();
    using _deadline = this.#syncDeadline(sources, late.reject);
    const stopped = Promise.withResolvers<void>();
    const stop = () => stopped.resolve();
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      const synced = Promise.all(sources.map((source) => source.synced));
      await Promise.race([synced, late.promise, stopped.promise]);
      if (!signal.aborted) for (const source of sources) source.tellEarly();
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /**
   * A kind that the server does not serve is waited for without end: its definition may be applied any moment, and a
   * program that ends would only be started again. Everything else has until the deadline.
   */
  #syncDeadline(sources: readonly StartedSource[], late: (error: Error) => void): Disposable {
    const { clock, log, cacheSyncTimeoutMs: usualMs = 120_000 } = this.#environment;
    const { cacheSyncTimeoutMs: timeoutMs = usualMs } = this.#definition.settings;
    let timer: Disposable;
    const arm = () => {
      timer = clock.timer(timeoutMs, () => {
        const problems = sources.map((source) => source.problem()).filter((problem) => problem !== undefined);
        const isWaiting = problems.length > 0 && problems.every(({ isNotServed }) => isNotServed);
        if (!isWaiting) return late(this.#syncTimeout(problems, timeoutMs));
        const kinds = problems.map(({ source }) => source).join(', ');
        const controller = this.name;
        if (!this.#hasToldOfWait)
          log.warn({ controller, kinds }, 'Waiting for kinds that the API server does not serve');
        this.#hasToldOfWait = true;
        arm();
      });
    };
    arm();
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  #syncTimeout(problems: readonly SourceProblem[], timeoutMs: number): Error {
    const kinds = problems.map(({ source, text }) => `${source} (${text})`).join(', ');
    const message = `controller ${this.name} could not read these kinds within ${goDuration(timeoutMs)}: `;
    const advice = 'check that they are installed and that this program may list and watch them';
    return terminalError(CACHE_SYNC_TIMEOUT, `${message}${kinds}; ${advice}`);
  }

  /** Started once, by the warm-up or by the workers. */
  #sources(): readonly StartedSource[] {
    const { cache, log } = this.#environment;
    this.#started ??= this.#definition.sources.map((source) =>
      source.start({
        cache,
        log: log.child({ controller: this.name }),
        enqueue: (key, options) => this.#queue.add(key, options),
        handlerFailed: () => this.#metrics.handlerFailed(),
        isEcho: (event) => this.#echoes.hears(keyText(keyOf(event.object)), event),
      }),
    );
    return this.#started;
  }

  #release(): void {
    for (const source of this.#started ?? []) source[Symbol.dispose]();
    this.#queue[Symbol.dispose]();
    this.#metrics[Symbol.dispose]();
  }
}

function concurrencyOf<T extends KubeObject>(
  { settings, work }: RunDefinition<T>,
  { maxConcurrent = 1, maxConcurrentByKind }: ControllerEnvironment,
): number {
  const { group = '', kind = '' } = work.kind ?? {};
  const byKind = maxConcurrentByKind?.get(group === '' ? kind : `${kind}.${group}`);
  return settings.maxConcurrent ?? byKind ?? maxConcurrent;
}
