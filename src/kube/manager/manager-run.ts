import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { messageOf, SlipwayError, terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { aborted } from '../aborted.ts';
import { isLeadershipLoss } from '../election/elector.ts';
import { failureFields, shutdownTimeout } from './exit-code.ts';
import { RunGroup } from './run-group.ts';
import type { Runnable, RunnableGroup } from './runnable.ts';
import { ALL_GROUPS, LEADER_GROUP, START_ORDER, STOP_ORDER } from './stop-order.ts';

/** What the run of a manager needs of an elector. */
export interface Candidacy {
  /** Resolves when the signal aborts; rejects when the leadership was lost. */
  run(signal: AbortSignal): Promise<void>;
  release(signal: AbortSignal): Promise<void>;
}

export interface ManagerRunOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** For the whole stop; 0 does not wait, a negative number waits for ever. */
  readonly gracefulShutdownMs: number;
  /** Runs when probes are answered and before anything is read. */
  readonly beforeCaches?: (signal: AbortSignal) => Promise<void>;
  /** Undefined without leader election: then this process leads (E10). */
  readonly candidacy?: (elected: () => void) => Candidacy;
  /** Started before and stopped after everything else, the lease included: what others use until the end. */
  readonly underneath?: readonly Runnable[];
}

type Phase = 'new' | 'starting' | 'ready' | 'stopping' | 'stopped';

/** The life of a manager, once: starts its parts in order, waits, stops them in order (M1–M5). */
export class ManagerRun {
  readonly #options: ManagerRunOptions;
  readonly #groups: ReadonlyMap<RunnableGroup, RunGroup>;
  readonly #underneath: RunGroup;
  readonly #stopping = new AbortController();
  readonly #election = new AbortController();
  readonly #patience = new AbortController();
  readonly #ready = Promise.withResolvers<void>();
  readonly #leading = Promise.withResolvers<void>();
  #phase: Phase = 'new';
  #error: unknown;
  #candidacy: { readonly elector: Candidacy; readonly ended: Promise<void> } | undefined;

  constructor(options: ManagerRunOptions) {
    this.#options = options;
    const failed = (part: Runnable, error: unknown) => this.fail(error, part.name);
    const group = () => new RunGroup({ log: options.log, failed });
    this.#groups = new Map(ALL_GROUPS.map((name) => [name, group()]));
    this.#underneath = group();
    for (const part of options.underneath ?? []) this.#underneath.add(part);
    // Whoever waits for these hears of it; nobody has to wait.
    for (const { promise } of [this.#ready, this.#leading]) promise.catch(() => undefined);
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Every part but those of the leader has started. Rejects when the manager stops before. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  /** This process leads and the parts of the leader have started. Rejects when the manager stops before. */
  get leading(): Promise<void> {
    return this.#leading.promise;
  }

  /** Aborts when the stop begins. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Started with its group, or at once when that runs. Throws when the manager stops (M4). */
  add(part: Runnable): void {
    if (this.#stopping.signal.aborted) {
      throw terminalError('ManagerStopping', `${part.name} cannot be added: the manager stops`);
    }
    this.#group(part.group).add(part);
  }

  /** Stops the manager because of `error`; the first error is the one that `start` rejects with. */
  fail(thrown: unknown, part: string): void {
    const { log } = this.#options;
    const error = thrown ?? new Error(`${part} failed without saying why`);
    if (error === this.#error) return;
    if (this.#error === undefined && !this.#stopping.signal.aborted) this.#error = error;
    else log.warn({ err: error, part }, 'Part failed during the stop');
    // Nothing of a former leader may go on: no graceful end for it (M5).
    if (isLeadershipLoss(error)) this.#patience.abort();
    this.#stopping.abort(error);
  }

  /** Resolves after a clean stop; rejects with the cause of any other end. Only once (M4). */
  async start(signal: AbortSignal): Promise<void> {
    if (this.#phase !== 'new')
      throw terminalError('ManagerStarted', 'start() was called before; make another manager');
    this.#phase = 'starting';
    const stop = () => this.#stopping.abort(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const stopped = aborted(this.#stopping.signal);
    try {
      await Promise.race([this.#startAll(), stopped]);
      await stopped;
    } catch (error) {
      this.fail(error, 'start');
    } finally {
      signal.removeEventListener('abort', stop);
    }
    await this.#stopAll();
    this.#phase = 'stopped';
    this.#conclude();
  }

  async #startAll(): Promise<void> {
    await this.#underneath.start();
    for (const name of START_ORDER) {
      if (name === 'cache') await this.#options.beforeCaches?.(this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      await this.#group(name).start();
    }
    if (this.#stopping.signal.aborted) return;
    this.#phase = 'ready';
    this.#options.log.info({}, 'Ready');
    this.#ready.resolve();
    this.#stand();
  }

  #stand(): void {
    const elector = this.#options.candidacy?.(() => this.#lead());
    if (elector === undefined) return this.#lead();
    const ended = elector
      .run(this.#election.signal)
      .catch((error: unknown) => this.fail(error, 'leader election'));
    this.#candidacy = { elector, ended };
  }

  #lead(): void {
    if (this.#stopping.signal.aborted) return;
    // A part that fails here has told the group, and with it us.
    this.#group(LEADER_GROUP)
      .start()
      .then(this.#leading.resolve, () => undefined);
  }

  async #stopAll(): Promise<void> {
    const { clock, log, gracefulShutdownMs: graceMs } = this.#options;
    this.#phase = 'stopping';
    const unstarted = terminalError('ManagerStopping', 'the manager stopped before');
    this.#ready.reject(unstarted);
    this.#leading.reject(unstarted);
    // What went wrong is said once, at the end.
    const reason = this.#error instanceof SlipwayError ? this.#error.reason : this.#cause();
    log.info({ graceMs, reason }, 'Stopping');
    if (graceMs === 0) this.#patience.abort();
    using _timer = graceMs > 0 ? clock.timer(graceMs, () => this.#patience.abort()) : undefined;
    const impatient = aborted(this.#patience.signal);
    await Promise.race([this.#stopInOrder(), impatient]);
    if (!this.#patience.signal.aborted) return;
    // Too late for an order: everybody stops now, and nobody is waited for.
    const late = [...this.#groups.values(), this.#underneath];
    const running = late.flatMap((group) => group.running);
    for (const group of late) void group.stop();
    this.#election.abort();
    if (running.length > 0) this.#error ??= shutdownTimeout(running, goDuration(Math.max(0, graceMs)));
  }

  async #stopInOrder(): Promise<void> {
    for (const stage of STOP_ORDER) {
      await Promise.all(stage.map((name) => this.#group(name).stop()));
      if (this.#patience.signal.aborted) return;
    }
    // Renewed until here: the work that has just ended was that of a leader.
    this.#election.abort();
    await this.#candidacy?.ended;
    await this.#candidacy?.elector.release(this.#patience.signal);
    await this.#underneath.stop();
  }

  #conclude(): void {
    const { log } = this.#options;
    if (this.#error === undefined) return log.info({ reason: this.#cause() }, 'Stopped');
    log.error(failureFields(this.#error), 'Stopped because of a failure');
    throw this.#error instanceof Error ? this.#error : new Error(messageOf(this.#error));
  }

  #cause(): string {
    return messageOf(this.#error ?? this.#stopping.signal.reason);
  }

  #group(name: RunnableGroup): RunGroup {
    const group = this.#groups.get(name);
    if (group === undefined) throw new Error(`there is no group ${name}`);
    return group;
  }
}
