import type { Address, ProgressRow, Suggestion } from '../../api/journey.ts';
import type { Clock } from '../../base/clock.ts';
import type { FailureCode } from '../failures.ts';

/** The phases of the journey, in their order (experience 4.1). */
export const PHASE_IDS = ['hub', 'definition', 'cluster', 'cloud', 'storage', 'hardware', 'onboarding'] as const;
export type PhaseId = (typeof PHASE_IDS)[number];

/** What a component adds to the journey. */
export interface Phase {
  readonly id: PhaseId;
  /** Instead of those of the phase that will be here one day: what stands in for it until then. */
  readonly provisional?: { readonly title: string; readonly promise: string };
  /** It is skipped when one of these failed or was skipped itself. */
  readonly needs: readonly PhaseId[];
  /** Runs again after a failure (experience X32), so it must find its own half-done work and go on from there. */
  run(context: PhaseContext): Promise<PhaseOutcome>;
  /** Asked in this order when the phase failed; the first false one is the cause (experience X31). */
  readonly probes: readonly Probe[];
}

/** A statement that is true when all is well, and the evidence when it is not. */
export interface Probe {
  readonly predicate: string;
  /** Has the context of the phase, with a signal that also aborts when there is no more time to answer. */
  ask(context: PhaseContext): Promise<ProbeAnswer>;
}

export type ProbeAnswer =
  | { readonly isTrue: true }
  | {
      readonly isTrue: false;
      readonly evidence: string;
      readonly look?: readonly string[];
      readonly next?: readonly string[];
    };

export type PhaseOutcome = PhaseSuccess | PhaseSkip | PhaseFailure;

export interface PhaseSuccess {
  /** `attention`: it worked, and there is something the user should do. */
  readonly health: 'done' | 'attention';
  readonly detail: string;
  readonly addresses?: readonly PhaseAddress[];
  readonly tries?: readonly Suggestion[];
}

export interface PhaseAddress extends Address {
  /** Shown instead of `value` on a live terminal and nowhere else: it may hold a token, so no event has it (experience X13). */
  readonly liveValue?: string;
}

/** There was nothing to do, or it cannot be done here; what needs the phase is skipped too. */
export interface PhaseSkip {
  readonly health: 'skipped';
  /** The reason, in a few words. */
  readonly detail: string;
}

export interface PhaseFailure {
  readonly health: 'failed';
  /** A few words for the phase's line. */
  readonly detail: string;
  /** The full sentence; `detail` when left out. */
  readonly what?: string;
  /** Where it is known already, so that no probe need be asked. */
  readonly cause?: string;
  readonly code: FailureCode;
  readonly look?: readonly string[];
  readonly next?: readonly string[];
}

/** Something a phase leaves running. */
export interface Running extends AsyncDisposable {
  /** Ends it without waiting, when nobody waits any more: a second Ctrl-C, a crash. Must not throw. */
  kill?(): void;
  /** Resolves with a sentence when it ends without having been asked to; the phase has failed then. */
  readonly ended?: Promise<string>;
}

/** What a phase may use, and how it speaks. What it says about its progress after its end is not heard. */
export interface PhaseContext {
  readonly clock: Clock;
  /** Aborts when the user wants to stop; the phase then ends at once, leaving the clean-up to what it kept. */
  readonly signal: AbortSignal;
  /** The folder the user is in. */
  readonly folder: string;
  /** Where data is kept between runs. */
  readonly data: string;
  /** The port the user asked for; 0 = any free one, undefined = the phase chooses. */
  readonly port: number | undefined;
  /** Identity of the running journey: what {@link Handover} stores values by. */
  readonly journey: object;
  progress(detail: string, percent?: number): void;
  /** Adds or changes a line below the phase. */
  row(row: ProgressRow): void;
  /** Takes away a line and those below it. */
  removeRow(path: readonly string[]): void;
  /** Names the predicate that is false right now; a wait without one is a bug (experience X31). */
  waitingFor(predicate: string): void;
  warn(detail: string): void;
  /**
   * Leaves something running until the journey stops; `name` is what the user reads when it is stopped. Phases are stopped
   * in reverse order; the things of one phase at the same time.
   */
  keep(name: string, running: Running): void;
}

/** A typed value that one phase leaves for later ones, without either knowing the other's module. */
export class Handover<Value> {
  readonly #name: string;
  readonly #values = new WeakMap<object, Value>();

  constructor(name: string) {
    this.#name = name;
  }

  put({ journey }: PhaseContext, value: Value): void {
    this.#values.set(journey, value);
  }

  /** Throws when the phase that puts it has not run: `needs` is incomplete. */
  get({ journey }: PhaseContext): Value {
    const value = this.#values.get(journey);
    if (value === undefined) throw new Error(`nothing was handed over as "${this.#name}" yet`);
    return value;
  }
}
