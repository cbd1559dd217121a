import { type JourneyEvent, type JourneyPlan, WHOLE_JOURNEY } from '../../api/journey.ts';
import type { Clock } from '../../base/clock.ts';
import { failureWithCause, thrownOutcome } from './cause.ts';
import { Keeper } from './keeper.ts';
import type { Phase, PhaseContext, PhaseFailure, PhaseId, PhaseOutcome, PhaseSuccess } from './phase.ts';
import { shellWord, shownPath } from './plain-text.ts';
import { phaseTitle } from './plan.ts';
import { redactedEvent } from './redaction.ts';
import { EMPTY_JOURNEY, failedPhases, type JourneyState, reduce } from './state.ts';
import { endSentence, lastWords } from './verdict.ts';

export interface JourneyOptions {
  readonly plan: JourneyPlan;
  readonly phases: readonly Phase[];
  /** Phases that `--from` leaves out. */
  readonly leftOut: ReadonlySet<PhaseId>;
  readonly from: PhaseId | undefined;
  /** End after the last phase instead of staying up. */
  readonly isOnce: boolean;
  readonly clock: Clock;
  readonly folder: string;
  readonly data: string;
  readonly port: number | undefined;
  /** Takes what must not be shown: the error behind a phase that ended in a way nobody foresaw. */
  readonly recordError: (phase: PhaseId, thrown: unknown) => void;
}

/** Told of every event, with the state before and after it. */
export type JourneyListener = (event: JourneyEvent, after: JourneyState, before: JourneyState) => void;

export type JourneyEnd = 'finished' | 'interrupted';

/** How long a phase may take to notice that it should stop; with the 3 s of the keeper a journey ends in 4 s. */
const PHASE_STOP_LIMIT_MS = 1000;

/** Runs the phases in order, tells everybody what happens, and stops what they left running. */
export class Journey {
  readonly #options: JourneyOptions;
  readonly #listeners = new Set<JourneyListener>();
  readonly #keeper: Keeper;
  readonly #unheard: JourneyEvent[] = [];
  #state = EMPTY_JOURNEY;
  #retryWanted: (() => void) | undefined;

  constructor(options: JourneyOptions) {
    this.#options = options;
    this.#keeper = new Keeper(options.clock);
  }

  /** For those who come late: everything told so far. */
  get state(): JourneyState {
    return this.#state;
  }

  subscribe(listener: JourneyListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Runs until the journey is over and everything is stopped; `interrupted` = the signal came before the last phase ended. */
  async run(signal: AbortSignal): Promise<JourneyEnd> {
    const onAbort = () => this.#tell({ kind: 'progress', detail: 'stopping…', stage: 'stopping' });
    this.#tell({
      kind: 'start',
      detail: 'the journey of a new provider',
      stage: 'running',
      plan: this.#options.plan,
    });
    signal.addEventListener('abort', onAbort, { once: true });
    await this.#runPhases(
      signal,
      this.#options.plan.phases.map(({ id }) => id),
    );
    const end = signal.aborted ? 'interrupted' : 'finished';
    await this.#stayUp(signal);
    signal.removeEventListener('abort', onAbort);
    await this.#stop(end);
    return end;
  }

  /** Runs what failed again, and what was skipped because of it. Does something only while the journey stays up. */
  retry(): void {
    this.#retryWanted?.();
  }

  /** Tells the user about something beside the phases that is not as it should be. */
  warn(detail: string): void {
    this.#tell({ kind: 'warn', detail });
  }

  async #runPhases(signal: AbortSignal, ids: readonly string[]): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    for (const id of ids) {
      if (signal.aborted) break;
      await this.#advance(id, signal);
    }
    if (signal.aborted) return;
    const durationMs = clock.monotonicMs() - startMs;
    const isBad = failedPhases(this.#state).length > 0;
    const detail = endSentence(this.#state, durationMs);
    this.#tell({ kind: 'end', detail, durationMs, stage: 'ended', health: isBad ? 'failed' : 'done' });
  }

  async #advance(id: string, signal: AbortSignal): Promise<void> {
    const phase = this.#options.phases.find((candidate) => candidate.id === id);
    const reason = phase === undefined ? 'not part of this version yet' : this.#skipReason(phase);
    if (phase !== undefined && reason === undefined) return this.#runPhase(phase, signal);
    this.#publish({ phase: id, kind: 'end', detail: reason ?? '', health: 'skipped' });
  }

  #skipReason(phase: Phase): string | undefined {
    if (this.#options.leftOut.has(phase.id)) return `starts at ${this.#options.from ?? phase.id}`;
    const isMissing = (need: PhaseId) =>
      this.#state.phases.some(({ id, health }) => id === need && (health === 'failed' || health === 'skipped'));
    const missing = phase.needs.find(isMissing);
    return missing === undefined ? undefined : `needs ${phaseTitle(missing)}`;
  }

  async #runPhase(phase: Phase, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const startMs = clock.monotonicMs();
    this.#publish({ phase: phase.id, kind: 'start', detail: '' });
    const outcome = await this.#outcome(phase, signal);
    const durationMs = clock.monotonicMs() - startMs;
    if (outcome === undefined) {
      this.#publish({ phase: phase.id, kind: 'end', detail: 'interrupted', health: 'skipped', durationMs });
    } else if (outcome.health === 'failed') {
      await this.#fail(phase, outcome, durationMs);
    } else {
      this.#publish({ phase: phase.id, kind: 'end', durationMs, ...outcome } satisfies Untimed & PhaseSuccess);
    }
  }

  /** Undefined = interrupted. */
  async #outcome(phase: Phase, signal: AbortSignal): Promise<PhaseOutcome | undefined> {
    const { clock } = this.#options;
    const given = Promise.withResolvers<undefined>();
    using _abort = onceAborted(signal, () => clock.timer(PHASE_STOP_LIMIT_MS, () => given.resolve(undefined)));
    try {
      const outcome = await Promise.race([phase.run(this.#context(phase, signal)), given.promise]);
      return outcome?.health === 'failed' && signal.aborted ? undefined : outcome;
    } catch (error) {
      if (signal.aborted) return undefined;
      this.#options.recordError(phase.id, error);
      return thrownOutcome(error);
    }
  }

  async #fail(phase: Phase, outcome: PhaseFailure, durationMs: number): Promise<void> {
    const { clock } = this.#options;
    const warnings = this.#state.phases.find(({ id }) => id === phase.id)?.warnings ?? [];
    const failure = await failureWithCause(phase, outcome, warnings, clock);
    const { detail, code } = outcome;
    this.#publish({ phase: phase.id, kind: 'end', detail, health: 'failed', durationMs, failure, code });
  }

  #context({ id }: Phase, signal: AbortSignal): PhaseContext {
    const { clock, folder, data, port } = this.#options;
    return {
      clock,
      signal,
      folder,
      data,
      port,
      journey: this,
      progress: (detail, percent) =>
        this.#publish({ phase: id, kind: 'progress', detail, ...(percent !== undefined && { percent }) }),
      row: (row) =>
        this.#publish({ phase: id, kind: 'progress', detail: `${row.path.join(' ')}: ${row.word}`, row }),
      waitingFor: (predicate) =>
        this.#publish({ phase: id, kind: 'progress', detail: `waiting for ${predicate}`, waitingFor: predicate }),
      warn: (detail) => this.#publish({ phase: id, kind: 'warn', detail }),
      keep: (name, running) => this.#keeper.keep(id, name, running),
    };
  }

  /** Until the user stops it; with nothing running and nothing failed there is nothing to stay for. */
  async #stayUp(signal: AbortSignal): Promise<void> {
    const hasReason = () => !this.#keeper.isEmpty || failedPhases(this.#state).length > 0;
    while (!this.#options.isOnce && !signal.aborted && hasReason()) {
      this.#tell({ kind: 'progress', detail: 'running · Ctrl-C stops everything it started', stage: 'standing' });
      if ((await this.#stoppedOrRetried(signal)) === 'retry') await this.#runAgain(signal);
    }
  }

  async #stoppedOrRetried(signal: AbortSignal): Promise<'stop' | 'retry'> {
    const decision = Promise.withResolvers<'stop' | 'retry'>();
    const onAbort = () => decision.resolve('stop');
    this.#retryWanted = () => {
      if (failedPhases(this.#state).length > 0) decision.resolve('retry');
    };
    signal.addEventListener('abort', onAbort, { once: true });
    using _awake = keptAwake(this.#options.clock);
    const wish = await decision.promise;
    signal.removeEventListener('abort', onAbort);
    this.#retryWanted = undefined;
    return wish;
  }

  async #runAgain(signal: AbortSignal): Promise<void> {
    const isOpen = ({ health, isRegistered }: JourneyState['phases'][number]) =>
      isRegistered && (health === 'failed' || health === 'skipped');
    const again = this.#state.phases.filter(isOpen).map(({ id }) => id);
    this.#tell({ kind: 'progress', detail: `trying again: ${again.join(', ')}`, stage: 'running' });
    for (const id of again.toReversed()) await this.#keeper.stopThoseOf(id, () => {});
    await this.#runPhases(signal, again);
  }

  async #stop(end: JourneyEnd): Promise<void> {
    const { isOnce, folder, data } = this.#options;
    const wasAsked = this.#state.stage === 'stopping';
    if (!this.#keeper.isEmpty && !wasAsked) {
      this.#tell({ kind: 'progress', detail: 'stopping…', stage: 'stopping' });
    }
    await this.#keeper.stopAll((line, isBad) => this.#tell({ kind: isBad ? 'warn' : 'progress', detail: line }));
    const failed = isOnce && end === 'finished' ? failedPhases(this.#state) : [];
    const place = shellWord(shownPath(folder, data));
    this.#tell({ ...lastWords({ failed, wasAsked, isOnce, place }), stage: 'stopped' });
  }

  #tell(event: Omit<Untimed, 'phase'>): void {
    this.#publish({ phase: WHOLE_JOURNEY, ...event });
  }

  /** A listener may publish too (the log, when the disk is full); its event waits until all have heard the one before. */
  #publish(untimed: Untimed): void {
    this.#unheard.push(redactedEvent({ ts: this.#options.clock.now().toISOString(), ...untimed }));
    if (this.#unheard.length > 1) return;
    for (let event = this.#unheard[0]; event !== undefined; event = this.#unheard[0]) {
      this.#deliver(event);
      this.#unheard.shift();
    }
  }

  #deliver(event: JourneyEvent): void {
    const before = this.#state;
    this.#state = reduce(before, event);
    for (const listener of this.#listeners) listener(event, this.#state, before);
  }
}

type Untimed = Omit<JourneyEvent, 'ts'>;

/** Runs `start` when the signal aborts; disposal undoes it. */
function onceAborted(signal: AbortSignal, start: () => Disposable): Disposable {
  let started: Disposable | undefined;
  const onAbort = () => {
    started = start();
  };
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', onAbort);
      started?.[Symbol.dispose]();
    },
  };
}

/** A promise alone does not keep a process running; after a failure there may be nothing else. */
function keptAwake(clock: Clock): Disposable {
  let timer = clock.timer(AWAKE_EVERY_MS, function again() {
    timer = clock.timer(AWAKE_EVERY_MS, again);
  });
  return { [Symbol.dispose]: () => timer[Symbol.dispose]() };
}

const AWAKE_EVERY_MS = 3_600_000;
