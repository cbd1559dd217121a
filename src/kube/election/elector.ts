import type { Lease, LeaseSpec } from '../../api/generated/coordination-v1.ts';
import type { Clock } from '../../base/clock.ts';
import { goDuration } from '../../base/duration.ts';
import { messageOf, SlipwayError, terminalError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isAlreadyExists, isConflict, isNotFound, NetworkError } from '../client/api-error.ts';
import type { CallOptions } from '../client/kube-client.ts';
import type { EventRecorder } from '../events/event-recorder.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ElectionTiming } from './election-timing.ts';
import { RETRY_JITTER } from './election-timing.ts';
import type { Fence } from './fence.ts';
import { LeadershipFence, momentOf } from './leadership-fence.ts';
import { decide, type Observation, observe, released, renewed } from './lease-decision.ts';
import type { LeaseStore } from './lease-store.ts';

export interface ElectorOptions {
  /** The id of the election: the name of the Lease. */
  readonly name: string;
  /** Different in every process: `<hostname>_<uuid>`. */
  readonly identity: string;
  readonly timing: ElectionTiming;
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly events?: EventRecorder;
  /** Called once, when this process leads. */
  readonly elected: () => void;
}

const RELEASE_TRIES = 5;
const SHORTEST_REQUEST_MS = 1000;

/** Competes for one Lease, once: after it was lost or released, the process has to end (M5). */
export class Elector {
  readonly #options: ElectorOptions;
  readonly #fence: LeadershipFence;
  readonly #status;
  readonly #slowPath;
  #observed: Observation | undefined;
  /** The Lease as we wrote it last: the fast path needs no read. */
  #held: Lease | undefined;
  /** A write of ours may have come through, whether we know it or not. */
  #mayHold = false;
  #isLeader = false;
  #isReleasing = false;
  #problem = '';

  constructor(options: ElectorOptions) {
    this.#options = options;
    this.#fence = new LeadershipFence(options.clock);
    const labels = ['name'];
    this.#status = options.metrics.gauge({
      name: 'leader_election_master_status',
      help: 'Whether this process leads: 1 or 0.',
      labels,
    });
    this.#slowPath = options.metrics.counter({
      name: 'leader_election_slowpath_total',
      help: 'Renewals that had to read the Lease first.',
      labels,
    });
  }

  /** For every writer of this process (E7). */
  get fence(): Fence {
    return this.#fence;
  }

  get isLeader(): boolean {
    return this.#isLeader;
  }

  /** Who leads, as far as this process knows; empty when nobody does. */
  get leader(): string {
    return this.#observed?.spec.holderIdentity ?? '';
  }

  /** Resolves when the signal aborts, leader or not; the Lease is kept until `release`. Rejects when it was lost. */
  async run(signal: AbortSignal): Promise<void> {
    const { name } = this.#options;
    this.#status.set({ name }, 0);
    this.#slowPath.add({ name }, 0);
    try {
      while (!signal.aborted) {
        const waitMs = await this.#round(signal);
        await this.#sleep(waitMs, signal);
      }
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  }

  /**
   * Gives the Lease back, so that the next leader need not wait (E4). Only when all work of the leader has ended. Never
   * rejects: a Lease that could not be given back expires.
   */
  async release(signal: AbortSignal): Promise<void> {
    const { clock, log, name } = this.#options;
    if (!this.#mayHold) return;
    this.#fence.revoke();
    this.#isReleasing = true;
    let lease = this.#held;
    for (let attempt = 1; attempt <= RELEASE_TRIES && !signal.aborted; attempt++) {
      try {
        lease ??= await this.#request((options) => this.#options.store.get(options), signal);
        if (lease?.spec?.holderIdentity !== this.#options.identity) break;
        const next = { ...lease, spec: released(lease.spec, clock.now()) };
        await this.#request((options) => this.#options.store.update(next, options), signal);
        log.info({ lease: name }, 'Released the leader lease');
        break;
      } catch (err) {
        lease = undefined;
        if (isConflict(err)) continue;
        log.warn({ ...failureOf(err), lease: name }, 'Cannot release the leader lease');
        await clock
          .sleep(Math.min(SHORTEST_REQUEST_MS, this.#options.timing.retryMs), signal)
          .catch(() => undefined);
      }
    }
    this.#mayHold = false;
    this.#stepDown();
  }

  /** One try to get or keep the Lease; gives the time until the next. */
  async #round(signal: AbortSignal): Promise<number> {
    const { timing, clock } = this.#options;
    let forMs = Number.POSITIVE_INFINITY;
    this.#checkDeadline();
    try {
      forMs = await this.#acquireOrRenew(signal);
      this.#problem = '';
    } catch (thrown) {
      if (signal.aborted || isLeadershipLoss(thrown)) throw thrown;
      this.#complain(thrown);
    }
    if (!this.#isLeader) {
      const jittered = timing.retryMs * (1 + clock.random() * RETRY_JITTER);
      // Looks again when the lease of the leader ends, or hand-over would take up to two periods more.
      return Math.min(jittered, forMs + (clock.random() * timing.retryMs) / 10);
    }
    this.#checkDeadline();
    return Math.min(timing.retryMs, this.#fence.remainingMs);
  }

  #checkDeadline(): void {
    // In less than a millisecond no request is answered, and its failure would hide why the others failed.
    if (!this.#isLeader || this.#fence.remainingMs >= 1) return;
    throw this.#lost(`it was not renewed within ${goDuration(this.#options.timing.renewMs)}`);
  }

  async #acquireOrRenew(signal: AbortSignal): Promise<number> {
    if (this.#held !== undefined && (await this.#renewFast(this.#held, signal))) return Number.POSITIVE_INFINITY;
    const { store, clock, identity, timing } = this.#options;
    const lease = await this.#request((options) => store.get(options), signal);
    if (lease !== undefined) this.#observed = observe(this.#observed, lease.spec ?? {}, clock.monotonicMs());
    const decision = decide({
      exists: lease !== undefined,
      observed: this.#observed,
      identity,
      leaseMs: timing.leaseMs,
      now: clock.now(),
      monotonicMs: clock.monotonicMs(),
    });
    if (decision.action === 'wait') {
      if (this.#isLeader) throw this.#lost(`${decision.holder} holds it now`);
      this.#held = undefined;
      return decision.forMs;
    }
    await this.#write(lease === undefined ? undefined : { ...lease, spec: decision.spec }, decision.spec, signal);
    return Number.POSITIVE_INFINITY;
  }

  /** False when the Lease is not as we left it, so that it must be read. */
  async #renewFast(held: Lease, signal: AbortSignal): Promise<boolean> {
    const { timing, clock, name } = this.#options;
    const spec = renewed(held.spec ?? {}, timing.leaseMs, clock.now());
    try {
      await this.#write({ ...held, spec }, spec, signal);
      return true;
    } catch (thrown) {
      if (!isConflict(thrown) && !isNotFound(thrown)) throw thrown;
      this.#slowPath.add({ name });
      return false;
    }
  }

  async #write(lease: Lease | undefined, spec: LeaseSpec, signal: AbortSignal): Promise<void> {
    const { store, timing } = this.#options;
    // Before the request: whoever sees its effect starts to count later than this.
    const start = momentOf(this.#options.clock);
    this.#mayHold = true;
    const written = await this.#request(
      (options) => (lease === undefined ? store.create(spec, options) : store.update(lease, options)),
      signal,
    );
    this.#held = written;
    this.#observed = observe(undefined, written.spec ?? spec, this.#options.clock.monotonicMs());
    this.#fence.extend(start, timing.renewMs, written.spec?.leaseTransitions ?? 0);
    this.#lead();
  }

  #lead(): void {
    const { name, identity, log, events, elected, timing } = this.#options;
    // An answer that came too late proves nothing any more.
    if (this.#isLeader || !this.#fence.isValid) return;
    this.#isLeader = true;
    this.#status.set({ name }, 1);
    log.info({ lease: name, identity, transitions: this.#fence.token, renewMs: timing.renewMs }, 'Became leader');
    this.#record(events, 'BecomeLeader', 'became leader');
    elected();
  }

  #lost(why: string): SlipwayError {
    this.#stepDown();
    const last = this.#problem === '' ? '' : ` (last problem: ${this.#problem})`;
    return terminalError(LOST, `leader election lost: lease ${this.#options.name}: ${why}${last}`);
  }

  #stepDown(): void {
    const { name, events } = this.#options;
    this.#fence.revoke();
    if (!this.#isLeader) return;
    this.#isLeader = false;
    this.#status.set({ name }, 0);
    this.#record(events, 'StopLeading', 'stopped leading');
  }

  /** Each with an action of its own, or the second would only be counted as a repetition of the first (V2). */
  #record(events: EventRecorder | undefined, action: string, what: string): void {
    const note = `${this.#options.identity} ${what}`;
    if (this.#held !== undefined) events?.normal(this.#held, 'LeaderElection', note, { action });
  }

  /** Another candidate that was faster is no problem; the same one again is no news. */
  #complain(thrown: unknown): void {
    if (isConflict(thrown) || isAlreadyExists(thrown)) return;
    const problem = messageOf(thrown);
    if (problem !== this.#problem) {
      this.#options.log.warn(
        { ...failureOf(thrown), lease: this.#options.name },
        'Cannot get or renew the leader lease',
      );
    }
    this.#problem = problem;
  }

  async #sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const dueMs = clock.monotonicMs() + ms;
    await clock.sleep(ms, signal);
    this.#checkStall(clock.monotonicMs() - dueMs);
  }

  /** A process that stood still so long may have done the same between the check of the fence and the write (E8). */
  #checkStall(lateMs: number): void {
    const { leaseMs, renewMs } = this.#options.timing;
    if (!this.#isLeader || lateMs <= leaseMs - renewMs) return;
    this.#options.log.error({ lateMs, allowedMs: leaseMs - renewMs }, 'The event loop stood still for too long');
    throw this.#lost(`the process stood still for ${goDuration(Math.round(lateMs))}`);
  }

  /** A leader does not wait beyond its fence; who gives the Lease back has closed it, and has time. */
  #requestMs(): number {
    const usualMs = Math.max(SHORTEST_REQUEST_MS, this.#options.timing.renewMs / 2);
    if (!this.#isLeader || this.#isReleasing) return usualMs;
    return Math.max(1, Math.min(usualMs, this.#fence.remainingMs));
  }

  /** One request with a deadline of its own that holds even if the store ignores it (E5). */
  async #request<T>(send: (options: CallOptions) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock } = this.#options;
    const timeoutMs = this.#requestMs();
    const ended = new AbortController();
    const { promise, reject } = Promise.withResolvers<never>();
    const end = (reason: Error) => {
      ended.abort(reason);
      reject(reason);
    };
    const onAbort = () => end(new Error('the election stops'));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const startMs = clock.monotonicMs();
    using _timer = clock.timer(timeoutMs, () =>
      end(new NetworkError(`no answer within ${goDuration(timeoutMs)}`, { mayHaveHappened: true })),
    );
    try {
      return await Promise.race([send({ signal: ended.signal, timeoutMs }), promise]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#checkStall(clock.monotonicMs() - startMs - timeoutMs);
    }
  }
}

/** A stack helps only against our own mistakes. */
const failureOf = (thrown: unknown) =>
  thrown instanceof SlipwayError ? { reason: thrown.reason, problem: thrown.message } : { err: thrown };

const LOST = 'LeaderElectionLost';

/** The Lease went to somebody else, or may go at any moment. */
export const isLeadershipLoss = (thrown: unknown): boolean =>
  thrown instanceof Error && 'reason' in thrown && thrown.reason === LOST;
