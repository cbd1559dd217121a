import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { CloudError } from '../cloud-error.ts';
import type { LiveTransaction, RecordMove } from '../state/live-transaction.ts';
import type { KindCatalogue } from './kind-catalogue.ts';
import type { CloudReader } from './resource-kind.ts';
import type { ResourceRecord, RunningTransition, StateReason } from './resource-record.ts';

export interface TransitionRunnerOptions {
  readonly kinds: KindCatalogue;
  /** Lab time. */
  readonly clock: Clock;
  readonly log: Log;
  readonly state: CloudReader;
  readonly commit: (work: (transaction: LiveTransaction) => void) => Promise<void>;
  /** How long a fault of that name keeps what it stuck: for so many milliseconds, or until it goes; undefined: it is gone. */
  readonly stuckMs: (fault: string) => number | 'always' | undefined;
  readonly hold: (reason: string) => Disposable;
}

interface Waiting {
  readonly record: ResourceRecord;
  readonly transition: RunningTransition;
  timer?: Disposable;
}

/** Ends states that end by themselves: after their time their work is done, then the next state follows (C10). */
export class TransitionRunner implements AsyncDisposable {
  readonly #options: TransitionRunnerOptions;
  readonly #stop = new AbortController();
  /** By operation; bounded by the objects of the cloud. */
  readonly #waiting = new Map<string, Waiting>();
  /** By object, so that the work of two transitions of one object never overlaps; bounded alike. */
  readonly #works = new Map<string, Promise<void>>();

  constructor(options: TransitionRunnerOptions) {
    this.#options = options;
  }

  /** Looks at what a transaction changed. */
  follow(moves: readonly RecordMove[]): void {
    for (const { before, now } of moves) {
      if (isSameTransition(before, now)) continue;
      if (before?.transition !== undefined) this.#forget(before.transition.operationId);
      if (now?.transition !== undefined) this.#await(now, now.transition);
    }
  }

  /** Faults have changed: what they stuck may go on. */
  recheck(): void {
    for (const { record, transition } of Array.from(this.#waiting.values())) {
      if (transition.stuckBy === undefined) continue;
      this.#forget(transition.operationId);
      this.#await(record, transition);
    }
  }

  /** Resolves when no work is being done. */
  async idle(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('the cloud stops'));
    for (const operationId of this.#waiting.keys()) this.#forget(operationId);
    await this.idle();
  }

  #forget(operationId: string): void {
    this.#waiting.get(operationId)?.timer?.[Symbol.dispose]();
    this.#waiting.delete(operationId);
  }

  #await(record: ResourceRecord, transition: RunningTransition): void {
    if (this.#stop.signal.aborted) return;
    const waiting: Waiting = { record, transition };
    this.#waiting.set(transition.operationId, waiting);
    const leftMs = this.#leftMs(transition);
    if (leftMs === 'always') return;
    waiting.timer = this.#options.clock.timer(leftMs, () => {
      // What keeps it may have been prolonged meanwhile.
      if (this.#stuckMs(transition) !== 0) return this.#await(record, transition);
      this.#waiting.delete(transition.operationId);
      this.#begin(record, transition);
    });
  }

  /** Lab time may have been set back by a restart: no state lasts longer than it was meant to. */
  #leftMs(transition: RunningTransition): number | 'always' {
    const { startedAt, durationMs } = transition;
    const passedMs = this.#options.clock.now().getTime() - Date.parse(startedAt);
    const leftMs = Math.min(durationMs, Math.max(0, durationMs - passedMs));
    const stuckMs = this.#stuckMs(transition);
    return stuckMs === 'always' ? 'always' : Math.max(leftMs, stuckMs);
  }

  #stuckMs({ stuckBy }: RunningTransition): number | 'always' {
    return (stuckBy === undefined ? undefined : this.#options.stuckMs(stuckBy)) ?? 0;
  }

  #begin(record: ResourceRecord, transition: RunningTransition): void {
    const key = `${record.kind}/${record.id}`;
    const earlier = this.#works.get(key) ?? Promise.resolve();
    const work = earlier.then(() => this.#run(record, transition));
    this.#works.set(key, work);
    void work.finally(() => {
      if (this.#works.get(key) === work) this.#works.delete(key);
    });
  }

  /** Never rejects. */
  async #run(record: ResourceRecord, { operationId }: RunningTransition): Promise<void> {
    using _hold = this.#options.hold(`${record.id} is ${record.state}`);
    const { kinds, state, log, commit } = this.#options;
    const transition = kinds.demand(record.kind).transitions?.[record.state];
    const isCurrent = (now: ResourceRecord | undefined): now is ResourceRecord =>
      now?.transition?.operationId === operationId && now.state === record.state;
    const current = state.get({ plural: record.kind }, record.id);
    // Somebody else was faster: it is being deleted, for one.
    if (transition === undefined || !isCurrent(current)) return;
    try {
      const { found, failure } = await workOf(() => transition.work?.(current, this.#stop.signal));
      // After the next start the work is done again.
      if (this.#stop.signal.aborted) return;
      if (failure !== undefined) log.debug({ err: failure.thrown, object: record.id }, 'Transition failed');
      await commit((transaction) => {
        const now = transaction.get({ plural: record.kind }, record.id);
        if (!isCurrent(now)) return;
        if (failure !== undefined) return transaction.fail(now, failure.reason);
        const change = transition.finish(now, transaction);
        transaction.conclude(
          now,
          change === 'gone' ? change : { ...change, fields: { ...found, ...change.fields } },
        );
      });
    } catch (err) {
      // The state cannot be written, or the kind has a fault of its own: try again, it cannot stay as it is.
      log.warn({ err, object: record.id, state: record.state }, 'Could not end a state; trying again');
      const { transition: again } = state.get({ plural: record.kind }, record.id) ?? {};
      if (again?.operationId === operationId) this.#retry(record, again);
    }
  }

  #retry(record: ResourceRecord, transition: RunningTransition): void {
    if (this.#stop.signal.aborted) return;
    const timer = this.#options.clock.timer(RETRY_MS, () => {
      this.#waiting.delete(transition.operationId);
      this.#begin(record, transition);
    });
    this.#waiting.set(transition.operationId, { record, transition, timer });
  }
}

const RETRY_MS = 1000;

/** The chain of one operation may go through several states. */
const isSameTransition = (before: ResourceRecord | undefined, now: ResourceRecord | undefined): boolean =>
  before?.transition?.operationId === now?.transition?.operationId && before?.state === now?.state;

interface Failure {
  readonly thrown: unknown;
  readonly reason: StateReason;
}

interface Worked {
  readonly found?: object | undefined;
  readonly failure?: Failure;
}

async function workOf(work: () => Promise<object | undefined> | undefined): Promise<Worked> {
  try {
    return { found: await work() };
  } catch (thrown) {
    const code = thrown instanceof CloudError ? thrown.code : 'Internal';
    return { failure: { thrown, reason: { code, message: messageOf(thrown) } } };
  }
}
