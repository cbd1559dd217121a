import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { ReconnectBackoff } from './reconnect-backoff.ts';
import { NOT_SERVED } from './reflector-failure.ts';

/** A stream that has not failed for so long works, also when nothing happens. */
const WORKS_AFTER_MS = 5_000;

/** A connection that breaks once and is there again is no news. */
const EVERYDAY = new Set(['Network', 'ShortStream']);

export interface Pause {
  /** Stable, for logs. */
  readonly reason: string;
  readonly error: unknown;
  /** The first failure of a series costs no more than `atLeastMs`. */
  readonly isFirstFree?: boolean | undefined;
  readonly atLeastMs?: number | undefined;
  readonly capMs?: number | undefined;
}

/** Why a reflector does not follow the server: for programs and for people. */
export interface ReflectorProblem {
  readonly reason: string;
  readonly message: string;
}

/** Whether a reflector follows the server, why not, and how long it waits before it tries again. */
export class ReflectorHealth {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #backoff: ReconnectBackoff;
  /** Reasons that were logged; as many as there are reasons. */
  readonly #warned = new Set<string>();
  #openedMs: number | undefined;
  #problem: ReflectorProblem | undefined;
  #hasEvents = false;
  #streams = 0;
  #lastEventAt: Date | undefined;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#backoff = new ReconnectBackoff(clock);
  }

  get failures(): number {
    return this.#backoff.failures;
  }

  /** The stream that is open has brought something. */
  get hasEvents(): boolean {
    return this.#hasEvents;
  }

  get reconnects(): number {
    return Math.max(0, this.#streams - 1);
  }

  get lastEventAt(): Date | undefined {
    return this.#lastEventAt;
  }

  /** The last failure, unless a stream has been open for some seconds since. */
  problem(isLoaded: boolean): ReflectorProblem | undefined {
    const isOpen = this.#openedMs !== undefined && this.#clock.monotonicMs() - this.#openedMs >= WORKS_AFTER_MS;
    return isLoaded && isOpen ? undefined : this.#problem;
  }

  opens(): void {
    this.#streams++;
    this.#hasEvents = false;
    this.#openedMs = this.#clock.monotonicMs();
  }

  closed(): void {
    this.#openedMs = undefined;
  }

  received(): void {
    this.#hasEvents = true;
    this.#lastEventAt = this.#clock.now();
    this.#problem = undefined;
    this.#backoff.connected();
  }

  /** A list has been read, and everything is as it has to be. */
  loaded(): void {
    this.#backoff.connected();
    this.#problem = undefined;
  }

  /** Waits after a failure. Resolves also when the signal aborts. */
  async pause(
    { reason, error, isFirstFree = false, atLeastMs = 0, capMs }: Pause,
    signal: AbortSignal,
  ): Promise<void> {
    const isFirst = this.#backoff.failed();
    if (isFirst) this.#warned.clear();
    this.#openedMs = undefined;
    const message = messageOf(error);
    this.#problem = { reason, message };
    const isFree = isFirst && isFirstFree;
    if (!isFree || !EVERYDAY.has(reason)) this.warn(reason, message);
    const delayMs = isFree ? atLeastMs : Math.max(atLeastMs, this.#backoff.delayMs(capMs));
    if (delayMs > 0) await this.#clock.sleep(delayMs, signal).catch(() => {});
  }

  /** Once per reason until it has been healthy for a while: a server that is down for an hour is one line. */
  warn(reason: string, problem: string): void {
    if (this.#warned.has(reason)) return;
    this.#warned.add(reason);
    const message =
      reason === NOT_SERVED
        ? 'The API server does not serve this kind yet; waiting until its definition is installed'
        : 'watch failed, trying again';
    this.#log.warn({ reason, problem }, message);
  }
}
