import type { Clock } from '../../base/clock.ts';
import { causeChain, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Failure, Verdict } from './settle.ts';

/** What is remembered of a key from its first failure to its next success. */
export interface FailureState {
  /** In a row. */
  failures: number;
  /** The next reconcile must not trust the cache. */
  isUncertain: boolean;
  /** Reasons that an event told already. */
  readonly told: Set<string>;
  /** When the condition was last written, on the monotonic clock. */
  shownAtMs: number;
  /** What the last line said, how often in a row, and when that was last written. */
  line: string;
  lines: number;
  writtenAtMs: number;
}

export interface LoggedFailure {
  readonly thrown: unknown;
  readonly verdict: Verdict;
  readonly failure: Failure;
}

/** Lines that are written before equal ones are only counted (O1). */
const FULL_LINES = 5;
// Reasons are a closed set of a few words; this only stops one that is made of variable text.
const MOST_TOLD = 16;

/** The failing keys of one controller: how often, what was told, and which lines were written. */
export class FailureLog {
  // Bounded: keys leave it when they succeed or are gone, and the oldest ones beyond the limit.
  readonly #states = new Map<string, FailureState>();
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #limit: number;

  constructor(clock: Pick<Clock, 'monotonicMs'>, limit = 100_000) {
    this.#clock = clock;
    this.#limit = limit;
  }

  get(key: string): FailureState | undefined {
    return this.#states.get(key);
  }

  /** Counts one more failure in a row. */
  failed(key: string): FailureState {
    const state = this.#states.get(key) ?? {
      failures: 0,
      isUncertain: false,
      told: new Set(),
      shownAtMs: -Infinity,
      line: '',
      lines: 0,
      writtenAtMs: -Infinity,
    };
    state.failures++;
    this.#states.set(key, state);
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= this.#limit) break;
      this.#states.delete(oldest);
    }
    return state;
  }

  /** The key is well, or gone. */
  forget(key: string): FailureState | undefined {
    const state = this.#states.get(key);
    if (state !== undefined) this.#states.delete(key);
    return state;
  }

  /** Whether an event has to tell this now: once per reason until the key succeeds (S16). */
  mustTell({ told }: FailureState, { isTold, reason }: Failure): boolean {
    if (!isTold || told.has(reason) || told.size >= MOST_TOLD) return false;
    told.add(reason);
    return true;
  }

  /** One line, or none when it would be the same again: then at 10, 20, 40 … of them, with their number. */
  write(log: Log, state: FailureState, { thrown, verdict, failure }: LoggedFailure): void {
    const line = `${verdict}/${failure.reason}/${failure.hasStack ? messageOf(thrown) : ''}`;
    state.lines = line === state.line ? state.lines + 1 : 1;
    state.line = line;
    const fields = {
      reason: failure.reason,
      failures: state.failures,
      ...(state.lines > FULL_LINES && { repeated: state.lines }),
      ...errorFields(thrown, failure),
    };
    log[this.#levelOf(state, failure)](fields, 'Reconcile failed');
  }

  #levelOf(state: FailureState, failure: Failure): Failure['level'] {
    const isFirstOfMany = isPowerOfTwo(state.lines / FULL_LINES);
    if (state.lines > FULL_LINES && !isFirstOfMany) return 'debug';
    if (failure.oncePerMs === undefined) return failure.level;
    const nowMs = this.#clock.monotonicMs();
    if (state.lines > 1 && nowMs - state.writtenAtMs < failure.oncePerMs) return 'debug';
    state.writtenAtMs = nowMs;
    return failure.level;
  }
}

/** The stack only where somebody has to look into our code. */
function errorFields(thrown: unknown, { hasStack, message }: Failure): Readonly<Record<string, unknown>> {
  if (hasStack) return { err: thrown };
  const causes = causeChain(thrown).slice(1).map(messageOf);
  return { error: message, ...(causes.length > 0 && { causes }) };
}

const isPowerOfTwo = (value: number): boolean => Number.isInteger(Math.log2(value));
