import { type Kind, type KubeObject, keyFromText } from '../../api/object.ts';
import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { retryError } from '../../base/errors.ts';
import type { Log, LogFields } from '../../base/log.ts';
import { Turns } from '../cache/event-loop.ts';
import { isLeadershipLost, LeadershipLost } from '../client/api-error.ts';
import type { KubeClient } from '../client/kube-client.ts';
import type { Fence } from '../election/fence.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { Tracer } from '../metrics/tracing.ts';
import type { Taken, WorkQueue } from '../queue/work-queue.ts';
import { ChangeMemory } from './change-memory.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { FailureLog, type FailureState, type LoggedFailure } from './failure-log.ts';
import { readingLive } from './live-reads.ts';
import type { OutcomeWriter } from './outcome-writer.ts';
import { DONE, type ReconcileKey, type Reconciler, type Result } from './reconcile.ts';
import { ReconcileRun } from './reconcile-run.ts';
import { withinReconcile } from './reconcile-scope.ts';
import { type Failure, type Outcome, PATIENCE, type Settlement, settle } from './settle.ts';

/** What a controller does with a key. */
export type Work<T extends KubeObject> =
  | { readonly kind: Kind<T, unknown>; readonly reconciler: Reconciler<T> }
  | { readonly kind?: undefined; readonly reconcileKey: ReconcileKey };

export interface ReconcileLoopOptions<T extends KubeObject> {
  readonly name: string;
  readonly work: Work<T>;
  readonly queue: WorkQueue;
  /** Under the field manager of the controller. */
  readonly client: KubeClient;
  readonly events: EventRecorder;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: () => ControllerMetrics;
  /** Told of each reconcile (O3). */
  readonly tracer?: Tracer;
  /** Only for kinds with conditions. */
  readonly outcomes?: OutcomeWriter<T>;
  /** 0: none. */
  readonly timeoutMs: number;
}

const HANGING_EVERY_MS = 60_000;
/**
 * A fence that is closed may open again, after a step of the wall clock and the next renewal. So keys are put off, not
 * dropped; when leadership is lost for good, the stop of the process ends queue and workers.
 */
const FENCED_MS = 1000;

interface Ended {
  readonly outcome: Outcome;
  readonly isGone: boolean;
}

interface Settled extends Ended {
  readonly settlement: Settlement;
}

/** Takes keys and reconciles them, one after the other; what a reconciler need not know happens here (style S12). */
export class ReconcileLoop<T extends KubeObject> {
  readonly #options: ReconcileLoopOptions<T>;
  readonly #failures: FailureLog;
  readonly #changes = new ChangeMemory();
  readonly #turns: Turns;
  readonly #runs = new Set<ReconcileRun<T>>();
  /** Ends what the loop itself asks of the server, when a stop has no more patience. */
  readonly #cut = new AbortController();
  readonly #now: () => Date;

  constructor(options: ReconcileLoopOptions<T>) {
    this.#options = options;
    this.#failures = new FailureLog(options.clock);
    this.#turns = new Turns(options.clock);
    this.#now = () => options.clock.now();
  }

  /** Reconciles that run now. */
  get active(): number {
    return this.#runs.size;
  }

  /** One worker: resolves when the queue is shut; never rejects. Reconciles nothing while the fence is closed. */
  async work(): Promise<void> {
    const { fence, queue } = this.#options;
    for (let taken = await queue.get(); taken !== undefined; taken = await queue.get()) {
      if (fence.isValid) await this.#reconcile(taken);
      else this.#putOff(taken);
      queue.done(taken.key);
      // Reads from the cache and small reconciles never leave the microtask queue: without this, nothing else would run.
      await this.#turns.took();
    }
  }

  /** Aborts the signal of every reconcile that still runs, and the requests of the loop itself. */
  abort(reason: unknown): void {
    this.#cut.abort(reason);
    for (const run of this.#runs) run.abort('stop', reason);
  }

  #putOff({ key, priority }: Taken): void {
    this.#options.queue.add(key, { afterMs: FENCED_MS, priority });
  }

  async #reconcile(taken: Taken): Promise<void> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonicMs();
    const run = this.#begin(taken.key);
    this.#trace(run, 'Reconciling');
    const ended = await this.#attempt(run);
    const settlement = settle(ended.outcome);
    const durationMs = clock.monotonicMs() - startMs;
    metrics().ended(settlement.verdict, durationMs);
    this.#trace(run, 'Reconciled', { durationMs, result: settlement.verdict });
    if (settlement.isFenced === true) this.#putOff(taken);
    else await this.#conclude(run, taken, { ...ended, settlement });
  }

  /** Tells the world how it ended; what the loop itself writes must neither hide that nor get lost. */
  async #conclude(run: ReconcileRun<T>, taken: Taken, ended: Settled): Promise<void> {
    const { queue } = this.#options;
    const { key, priority } = taken;
    const { requeue } = ended.settlement;
    let isLimited = requeue.type === 'backoff';
    try {
      await this.#write(run, ended);
      if (requeue.type === 'never') queue.forget(key);
    } catch (error) {
      if (isLeadershipLost(error)) return this.#putOff(taken);
      run.log.warn({ err: error }, 'Could not write the outcome of a reconcile');
      isLimited = true;
    }
    // Once, whatever failed: the limiter counts each of these as a failure.
    if (isLimited) queue.add(key, { isRateLimited: true, priority });
    if (requeue.type === 'after') queue.add(key, { afterMs: requeue.ms, priority: requeue.priority ?? priority });
  }

  async #write(run: ReconcileRun<T>, { isGone, outcome, settlement }: Settled): Promise<void> {
    const { failure, verdict } = settlement;
    if (isGone) this.#gone(run.key);
    else if (outcome.type === 'returned') await this.#succeeded(run);
    else if (failure !== undefined) await this.#failed(run, { thrown: outcome.thrown, verdict, failure });
  }

  /** Without a child log, which costs more than most reconciles. */
  #trace({ key, reconcileId }: ReconcileRun<T>, message: string, fields: LogFields = {}): void {
    const { log, name } = this.#options;
    log.debug({ controller: name, reconcileId, key, ...fields }, message);
  }

  #begin(key: string): ReconcileRun<T> {
    const { client, clock, events, fence, log, name, work } = this.#options;
    const mustReadLive = this.#failures.get(key)?.isUncertain === true;
    return new ReconcileRun<T>({
      controller: name,
      key,
      client: mustReadLive ? readingLive(client) : client,
      events,
      now: this.#now,
      reconcileId: clock.uuid(),
      fencingToken: fence.token,
      makeLog: (reconcileId) =>
        log.child({ controller: name, reconcileId, [work.kind?.kind ?? 'key']: { ...keyFromText(key) } }),
      changes: this.#changes,
    });
  }

  /** Waits for the promise of the reconciler, however long: a promise cannot be killed, and its key stays taken (R8). */
  async #attempt(run: ReconcileRun<T>): Promise<Ended> {
    const timer = this.#watch(run);
    this.#runs.add(run);
    try {
      const result = await withinReconcile(run, () => this.#traced(run));
      return {
        outcome: { type: 'returned', result: result ?? DONE },
        isGone: result === undefined && this.#isGone(run),
      };
    } catch (thrown) {
      const failures = (this.#failures.get(run.key)?.failures ?? 0) + 1;
      const { abortion } = run;
      return {
        outcome: { type: 'threw', thrown, failures, ...(abortion !== undefined && { abort: abortion }) },
        isGone: false,
      };
    } finally {
      this.#runs.delete(run);
      timer?.[Symbol.dispose]();
    }
  }

  #traced(run: ReconcileRun<T>): Promise<Result | undefined> {
    const { tracer, name: controller } = this.#options;
    if (tracer === undefined) return this.#call(run);
    const { key, reconcileId } = run;
    return tracer.span('reconcile', { attributes: { controller, key, reconcileId } }, () => this.#call(run));
  }

  async #call(run: ReconcileRun<T>): Promise<Result | undefined> {
    const { work } = this.#options;
    const key = keyFromText(run.key);
    if (work.kind === undefined) return await work.reconcileKey(key, run);
    // A read from the cache does not wait; one from the server may have to be cut off.
    const isLive = run.client !== this.#options.client;
    run.object = await run.client.find(work.kind, key, isLive ? { signal: run.signal } : {});
    return run.object === undefined ? undefined : await work.reconciler.reconcile(run.object, run);
  }

  #isGone(run: ReconcileRun<T>): boolean {
    return this.#options.work.kind !== undefined && run.object === undefined;
  }

  #watch(run: ReconcileRun<T>): Disposable | undefined {
    const { clock, metrics, timeoutMs } = this.#options;
    if (timeoutMs <= 0) return undefined;
    let overdueMs = 0;
    const hanging = () => {
      overdueMs += HANGING_EVERY_MS;
      run.log.warn({ runningMs: timeoutMs + overdueMs }, 'Reconcile does not end though its signal was aborted');
      timer = clock.timer(HANGING_EVERY_MS, hanging);
    };
    let timer = clock.timer(timeoutMs, () => {
      metrics().timedOut();
      run.abort(
        'timeout',
        retryError('ReconcileTimeout', `the reconcile took longer than ${goDuration(timeoutMs)}`),
      );
      timer = clock.timer(HANGING_EVERY_MS, hanging);
    });
    return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
  }

  #gone(key: string): void {
    this.#failures.forget(key);
    this.#options.queue.forget(key);
    this.#options.outcomes?.gone(key);
  }

  async #succeeded({ key, log, object }: ReconcileRun<T>): Promise<void> {
    const state = this.#failures.get(key);
    const wasShown = state !== undefined && state.shownAtMs > -Infinity;
    if (object !== undefined) await this.#options.outcomes?.clear(object, wasShown, this.#cut.signal);
    // Only now: a key whose outcome could not be taken back is not well yet, and must not be retried every 5 ms.
    this.#failures.forget(key);
    this.#options.queue.forget(key);
    if (state !== undefined && state.failures >= PATIENCE)
      log.info({ failures: state.failures }, 'Reconciled after failures');
  }

  async #failed({ key, log, object }: ReconcileRun<T>, failed: LoggedFailure): Promise<void> {
    const { events, outcomes } = this.#options;
    const { failure, thrown } = failed;
    if (object !== undefined && (await outcomes?.yields(object, thrown, this.#cut.signal)) === true) return;
    const state = this.#failures.failed(key);
    state.isUncertain = failure.isUncertain;
    this.#failures.write(log, state, failed);
    if (object === undefined) return;
    let isKnown = false;
    try {
      isKnown = await this.#show(object, failure, state);
    } finally {
      if (this.#failures.mustTell(state, failure) && !isKnown)
        events.warning(object, failure.reason, failure.message, { action: 'Reconcile' });
    }
  }

  /** Whether the object showed this failure before this process met it. */
  async #show(object: T, failure: Failure, state: FailureState): Promise<boolean> {
    const { clock, fence, outcomes } = this.#options;
    if (outcomes === undefined || !failure.isShown || !fence.isValid) return false;
    const showing = await outcomes.show(object, failure, state.shownAtMs, this.#cut.signal);
    if (showing === 'shown') state.shownAtMs = clock.monotonicMs();
    return showing === 'was shown' && state.failures === 1;
  }
}

/** The reason for reconciles that are cut off: `LeadershipLost` when that is why the process stops. */
export const stopReason = (fence: Fence): Error =>
  fence.isValid ? retryError('ShuttingDown', 'the process stops') : new LeadershipLost();
