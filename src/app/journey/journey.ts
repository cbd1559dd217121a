import { type Address, type JourneyPlan, WHOLE_JOURNEY } from '../../api/journey.ts';
import type { Clock } from '../../base/clock.ts';
import { onceAborted } from './abort-listener.ts';
import type { Circumstances } from './cause.ts';
import { EventStream, type JourneyListener, type Untimed } from './event-stream.ts';
import { Keeper, STOP_LIMIT_MS } from './keeper.ts';
import type { Phase, PhaseFailure, PhaseId } from './phase.ts';
import { PhaseRun } from './phase-run.ts';
import { shellWord, shownPath } from './plain-text.ts';
import { dependants } from './plan.ts';
import { failedPhases, type JourneyState } from './state.ts';
import { endSentence, lastWords } from './verdict.ts';

export interface JourneyOptions {
  readonly plan: JourneyPlan;
  readonly phases: readonly Phase[];
  /** Phases that `--from` leaves out. */
  readonly leftOut: ReadonlySet<PhaseId>;
  readonly from: PhaseId | undefined;
  readonly clock: Clock;
  readonly folder: string;
  readonly data: string;
  readonly port: number | undefined;
  /** The command that goes on at a phase, with the settings of this one. */
  readonly continueCommand: (phase: PhaseId) => string;
  /** Takes what must not be shown: the error behind something that ended in a way nobody foresaw. */
  readonly recordError: (subject: string, thrown: unknown) => void;
}

export interface JourneyEnd {
  /** The signal came before the last phase ended. */
  readonly wasInterrupted: boolean;
  /** Names of what did not stop. */
  readonly stillRunning: readonly string[];
}

/** Runs the phases in order, tells everybody what happens, and stops what they left running. */
export class Journey {
  readonly #options: JourneyOptions;
  readonly #stream: EventStream;
  readonly #keeper: Keeper;
  readonly #deafPhases: string[] = [];
  #atWork: PhaseRun | undefined;
  /** Time spent in phases, without the time in which the journey only stood. */
  #workedMs = 0;
  #wasInterrupted = false;
  #stopDeadlineMs: number | undefined;
  #retryWanted: (() => void) | undefined;

  constructor(options: JourneyOptions) {
    this.#options = options;
    this.#stream = new EventStream(options.clock);
    this.#keeper = new Keeper(options.clock, (phase, name, why) => this.#lose(phase, name, why));
  }

  /** For those who come late: everything told so far. */
  get state(): JourneyState {
    return this.#stream.state;
  }

  /** The time of events (`atMs`) right now. */
  get elapsedMs(): number {
    return this.#stream.elapsedMs;
  }

  /** The file that has what is shown nowhere else. */
  get log(): string {
    return this.#options.plan.log;
  }

  subscribe(listener: JourneyListener): Disposable {
    return this.#stream.subscribe(listener);
  }

  /** Runs until the journey is over and everything is stopped. */
  async run(signal: AbortSignal): Promise<JourneyEnd> {
    try {
      return await this.#travel(signal);
    } finally {
      // Only when a listener threw is there something left; then nobody can be told, but it must be stopped.
      await this.#keeper.stopAll(this.#stopBy(), () => {});
    }
  }

  /** Runs what failed again, and what was skipped because of it. Does something only while the journey stays up. */
  retry(): void {
    this.#retryWanted?.();
  }

  /** Tells the user about something beside the phases that is not as it should be. */
  warn(detail: string): void {
    this.#tell({ kind: 'warn', detail });
  }

  /** Records an error that ends the process. */
  recordCrash(thrown: unknown): void {
    this.#options.recordError(WHOLE_JOURNEY, thrown);
  }

  /** Ends what was left running, without waiting; for the end of the process. */
  kill(): void {
    this.#keeper.kill();
  }

  /** The address as a live terminal may show it. */
  liveAddress(address: Address): Address {
    return this.#stream.liveAddress(address);
  }

  async #travel(signal: AbortSignal): Promise<JourneyEnd> {
    const { plan } = this.#options;
    this.#tell({ kind: 'start', detail: 'the journey of a new provider', stage: 'running', plan });
    using _stop = onceAborted(signal, () => this.#noteStop());
    const ids = plan.phases.map(({ id }) => id);
    await this.#runPhases(signal, ids);
    await this.#stayUp(signal);
    return this.#stop();
  }

  #noteStop(): void {
    this.#stopBy();
    this.#keeper.expectEnds();
    this.#tell({ kind: 'progress', detail: 'stopping…', stage: 'stopping' });
  }

  /** One limit for everything there is to stop, counted from the first request (experience X26). */
  #stopBy(): number {
    this.#stopDeadlineMs ??= this.#options.clock.monotonicMs() + STOP_LIMIT_MS;
    return this.#stopDeadlineMs;
  }

  async #runPhases(signal: AbortSignal, ids: readonly string[]): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    for (const id of ids) {
      if (signal.aborted) break;
      await this.#advance(id, signal);
    }
    this.#workedMs += clock.monotonicMs() - startMs;
    if (signal.aborted) {
      this.#wasInterrupted = true;
      return;
    }
    const durationMs = this.#workedMs;
    const health = failedPhases(this.state).length > 0 ? 'failed' : 'done';
    this.#tell({ kind: 'end', detail: endSentence(this.state, durationMs), durationMs, stage: 'ended', health });
  }

  async #advance(id: string, signal: AbortSignal): Promise<void> {
    const phase = this.#options.phases.find((candidate) => candidate.id === id);
    const reason = phase === undefined ? 'not part of this version yet' : this.#skipReason(phase);
    if (phase === undefined || reason !== undefined) {
      this.#stream.publish({ phase: id, kind: 'end', detail: reason ?? '', health: 'skipped' });
      return;
    }
    this.#atWork = this.#phaseRun(phase);
    const hasNoticed = await this.#atWork.run(signal);
    this.#atWork = undefined;
    if (!hasNoticed) this.#deafPhases.push(`phase ${this.#titleOf(phase.id)}`);
  }

  #skipReason(phase: Phase): string | undefined {
    if (this.#options.leftOut.has(phase.id)) return `starts at ${this.#options.from ?? phase.id}`;
    const isMissing = (need: PhaseId) =>
      this.state.phases.some(({ id, health }) => id === need && (health === 'failed' || health === 'skipped'));
    const missing = phase.needs.find(isMissing);
    return missing === undefined ? undefined : `needs ${this.#titleOf(missing)}`;
  }

  #titleOf(id: PhaseId): string {
    return this.#options.plan.phases.find((phase) => phase.id === id)?.title ?? id;
  }

  #phaseRun(phase: Phase): PhaseRun {
    const { clock, folder, data, port, recordError } = this.#options;
    return new PhaseRun(phase, {
      clock,
      folder,
      data,
      port,
      recordError,
      journey: this,
      publish: (event) => this.#stream.publish(event),
      keep: (id, name, running) => this.#keeper.keep(id, name, running),
      circumstances: (id) => this.#circumstances(id),
    });
  }

  #circumstances(id: PhaseId): Circumstances {
    const { plan, continueCommand } = this.#options;
    const phase = this.state.phases.find((candidate) => candidate.id === id);
    const whenever = plan.isOnce ? [] : ['once this one is stopped:'];
    return {
      warnings: phase?.warnings ?? [],
      waitingFor: phase?.waitingFor,
      log: plan.log,
      continuation: [...whenever, continueCommand(id)],
    };
  }

  /** What a phase left running has ended by itself: the phase has failed, though perhaps long after its end. */
  #lose(id: PhaseId, name: string, why: string): void {
    const what = `${name} ended by itself`;
    const outcome: PhaseFailure = { health: 'failed', detail: why, what, cause: why, code: 'SW1201' };
    if (this.#atWork?.phase.id === id) {
      this.#atWork.lose(outcome);
      return;
    }
    const { log, continuation } = this.#circumstances(id);
    const failure = { what, cause: why, look: [log], next: continuation, code: outcome.code };
    this.#stream.publish({ phase: id, kind: 'error', detail: why, health: 'failed', failure, code: outcome.code });
  }

  /** Until the user stops it; with nothing running and nothing failed there is nothing to stay for. */
  async #stayUp(signal: AbortSignal): Promise<void> {
    const hasReason = () => !this.#keeper.isEmpty || failedPhases(this.state).length > 0;
    while (!this.#options.plan.isOnce && !signal.aborted && hasReason()) {
      const failed = failedPhases(this.state).map(({ title }) => title);
      const what = failed.length === 0 ? 'running' : `failed: ${failed.join(', ')}`;
      this.#tell({ kind: 'progress', detail: `${what} · Ctrl-C stops everything it started`, stage: 'standing' });
      if ((await this.#stoppedOrRetried(signal)) === 'retry') await this.#runAgain(signal);
    }
  }

  async #stoppedOrRetried(signal: AbortSignal): Promise<'stop' | 'retry'> {
    const decision = Promise.withResolvers<'stop' | 'retry'>();
    this.#retryWanted = () => {
      if (failedPhases(this.state).length > 0) decision.resolve('retry');
    };
    using _abort = onceAborted(signal, () => decision.resolve('stop'));
    using _awake = keptAwake(this.#options.clock);
    const wish = await decision.promise;
    this.#retryWanted = undefined;
    return wish;
  }

  async #runAgain(signal: AbortSignal): Promise<void> {
    const { phases, leftOut } = this.#options;
    const failed = failedPhases(this.state).map(({ id }) => id);
    const again = dependants(phases, failed).filter((id) => !leftOut.has(id));
    const titles = again.map((id) => this.#titleOf(id)).join(', ');
    this.#tell({ kind: 'progress', detail: `trying again: ${titles}`, stage: 'running' });
    for (const id of again.toReversed()) await this.#keeper.stopThoseOf(id, this.#report);
    await this.#runPhases(signal, again);
  }

  async #stop(): Promise<JourneyEnd> {
    const { folder, data, plan } = this.#options;
    const { isOnce } = plan;
    const wasAsked = this.state.stage === 'stopping';
    if (!this.#keeper.isEmpty && !wasAsked) this.#noteStop();
    const left = await this.#keeper.stopAll(this.#stopBy(), this.#report);
    const stillRunning = [...this.#deafPhases, ...left];
    const isFailure = isOnce && !this.#wasInterrupted;
    const failed = isFailure ? failedPhases(this.state).map(({ title }) => title) : [];
    const place = shellWord(shownPath(folder, data));
    this.#tell({ ...lastWords({ failed, stillRunning, wasAsked, isOnce, place }), stage: 'stopped' });
    return { wasInterrupted: this.#wasInterrupted, stillRunning };
  }

  readonly #report = (line: string, isBad: boolean): void =>
    this.#tell({ kind: isBad ? 'warn' : 'progress', detail: line });

  #tell(event: Omit<Untimed, 'phase'>): void {
    this.#stream.publish({ phase: WHOLE_JOURNEY, ...event });
  }
}

/** A promise alone does not keep a process running; after a failure there may be nothing else. */
function keptAwake(clock: Clock): Disposable {
  let timer = clock.timer(AWAKE_EVERY_MS, function again() {
    timer = clock.timer(AWAKE_EVERY_MS, again);
  });
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

const AWAKE_EVERY_MS = 3_600_000;
