import type { Clock } from '../../base/clock.ts';
import { onceAborted } from './abort-listener.ts';
import { type Circumstances, failureWithCause, thrownOutcome } from './cause.ts';
import type { Untimed } from './event-stream.ts';
import type { Phase, PhaseContext, PhaseFailure, PhaseId, PhaseOutcome, Running } from './phase.ts';

/** What a phase has of the journey it belongs to. */
export interface PhaseHost {
  readonly clock: Clock;
  readonly folder: string;
  readonly data: string;
  readonly port: number | undefined;
  readonly journey: object;
  readonly publish: (event: Untimed) => void;
  readonly keep: (phase: PhaseId, name: string, running: Running) => void;
  /** Takes what must not be shown: the error behind a phase that ended in a way nobody foresaw. */
  readonly recordError: (subject: string, thrown: unknown) => void;
  readonly circumstances: (phase: PhaseId) => Circumstances;
}

/** How long a phase may take to notice that it should stop. */
const PHASE_STOP_LIMIT_MS = 1000;

/** One phase from its start to its end, both of which it tells. */
export class PhaseRun {
  readonly phase: Phase;
  readonly #host: PhaseHost;
  readonly #lost = Promise.withResolvers<PhaseFailure>();
  readonly #stop = new AbortController();
  #isOver = false;

  constructor(phase: Phase, host: PhaseHost) {
    this.phase = phase;
    this.#host = host;
  }

  /** Something it has left running is no more, so it has failed whatever it does. */
  lose(failure: PhaseFailure): void {
    this.#lost.resolve(failure);
    this.#stop.abort(failure.detail);
  }

  /** False = it did not notice in time that it should stop. */
  async run(signal: AbortSignal): Promise<boolean> {
    const { clock, publish } = this.#host;
    const { id } = this.phase;
    const startMs = clock.monotonicMs();
    publish({ phase: id, kind: 'start', detail: '' });
    const outcome = await this.#outcome(signal);
    const durationMs = clock.monotonicMs() - startMs;
    this.#isOver = true;
    if (typeof outcome === 'string') {
      publish({ phase: id, kind: 'end', detail: 'interrupted', health: 'skipped', durationMs });
    } else if (outcome.health === 'failed') {
      const failure = await this.#failure(outcome, signal);
      publish({ phase: id, kind: 'end', ...ended(outcome), durationMs, failure, code: outcome.code });
    } else {
      publish({ phase: id, kind: 'end', durationMs, ...outcome });
    }
    return outcome !== 'deaf';
  }

  async #outcome(signal: AbortSignal): Promise<PhaseOutcome | 'interrupted' | 'deaf'> {
    const { clock, recordError } = this.#host;
    const deafness = Promise.withResolvers<'deaf'>();
    using resources = new DisposableStack();
    const wait = () => resources.use(clock.timer(PHASE_STOP_LIMIT_MS, () => deafness.resolve('deaf')));
    resources.use(onceAborted(signal, wait));
    try {
      const context = this.#context(AbortSignal.any([signal, this.#stop.signal]));
      const outcome = await Promise.race([this.#lost.promise, this.phase.run(context), deafness.promise]);
      const isSpoilt = typeof outcome !== 'string' && outcome.health === 'failed' && signal.aborted;
      return isSpoilt ? 'interrupted' : outcome;
    } catch (error) {
      if (signal.aborted) return 'interrupted';
      recordError(`phase ${this.phase.id}`, error);
      return thrownOutcome(error);
    }
  }

  #failure(outcome: PhaseFailure, signal: AbortSignal) {
    const circumstances = this.#host.circumstances(this.phase.id);
    return failureWithCause(this.phase, outcome, this.#context(signal), circumstances);
  }

  #context(signal: AbortSignal): PhaseContext {
    const { clock, folder, data, port, journey, publish, keep } = this.#host;
    const { id } = this.phase;
    const tell = (event: Omit<Untimed, 'phase' | 'kind'>) => {
      if (!this.#isOver) publish({ phase: id, kind: 'progress', ...event });
    };
    return {
      clock,
      signal,
      folder,
      data,
      port,
      journey,
      progress: (detail, percent) => tell({ detail, ...(percent !== undefined && { percent }) }),
      row: (row) => tell({ detail: `${row.path.join(' ')}: ${row.word}`, row }),
      removeRow: (path) => tell({ detail: `${path.join(' ')}: removed`, removedRow: path }),
      waitingFor: (predicate) => tell({ detail: `waiting for ${predicate}`, waitingFor: predicate }),
      warn: (detail) => publish({ phase: id, kind: 'warn', detail }),
      keep: (name, running) => keep(id, name, running),
    };
  }
}

const ended = ({ health, detail }: PhaseFailure): Pick<PhaseFailure, 'health' | 'detail'> => ({ health, detail });
