import { messageOf } from '../../base/errors.ts';
import { type Journal, JournalFailure, type StoreBug } from './journal.ts';
import type { Change, MvccCore } from './mvcc.ts';
import { type Entry, type StoreEvent, StoreUnavailable } from './store.ts';

/** Bounds of one transaction: beyond, the first writers in it would wait for the disk longer than they need to. */
const MOST_WRITES = 1024;
const MOST_BYTES = 8 * 1024 * 1024;

interface Pending {
  readonly event: StoreEvent;
  readonly resolve: (entry: Entry) => void;
  readonly reject: (error: Error) => void;
}

export interface LaneOptions {
  readonly core: MvccCore;
  readonly journal: Journal;
  readonly bugs: ReadonlySet<StoreBug>;
  /** Makes one committed change visible. */
  readonly publish: (event: StoreEvent) => void;
  readonly onFailure: (failure: JournalFailure) => void;
}

/**
 * Group commit (K4): writes that arrive while the journal is busy share the next transaction. Revisions are given in
 * the order of arrival, and published in that order after the commit, never before.
 */
export class CommitLane {
  readonly #options: LaneOptions;
  #queue: Pending[] = [];
  #steps: (() => Promise<void>)[] = [];
  #isRunning = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Throws StoreConflict at once. */
  write(change: Change): Promise<Entry> {
    const event = this.#options.core.stage(change);
    const { promise, resolve, reject } = Promise.withResolvers<Entry>();
    this.#queue.push({ event, resolve, reject });
    this.#start();
    return promise;
  }

  /** Runs something of the journal between two commits, so that writers wait for one step only. */
  step(work: () => Promise<void> | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#steps.push(async () => {
      try {
        await work();
        resolve();
      } catch (error) {
        reject(error);
      }
    });
    this.#start();
    return promise;
  }

  async idle(): Promise<void> {
    if (this.#isRunning) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
  }

  /** Rejects everything that is not committed. */
  abort(failure: JournalFailure): void {
    this.#fail([], failure);
  }

  #start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#options.journal.schedule(() => void this.#run());
  }

  /** A turn of the event loop between two rounds: a journal that answers at once must not keep others from theirs. */
  async #run(): Promise<void> {
    const batch = this.#take();
    if (batch.length > 0) await this.#commit(batch);
    await this.#steps.shift()?.();
    if (this.#queue.length > 0 || this.#steps.length > 0) {
      this.#options.journal.schedule(() => void this.#run());
      return;
    }
    this.#isRunning = false;
    const waiting = this.#whenIdle;
    this.#whenIdle = [];
    for (const resolve of waiting) resolve();
  }

  #take(): readonly Pending[] {
    let bytes = 0;
    let count = 0;
    for (const { event } of this.#queue) {
      bytes += event.entry.bytes.byteLength;
      if (count > 0 && (count >= MOST_WRITES || bytes > MOST_BYTES)) break;
      count++;
    }
    const batch = this.#queue;
    this.#queue = batch.splice(count);
    return batch;
  }

  async #commit(batch: readonly Pending[]): Promise<void> {
    const { journal, publish, bugs } = this.#options;
    if (bugs.size > 0) await this.#misbehave(batch);
    try {
      const done = journal.append(batch.map(({ event }) => event));
      if (done !== undefined) await done;
    } catch (error) {
      this.#fail(batch, failureOf(error));
      return;
    }
    for (const { event, resolve } of batch) {
      if (!bugs.has('early-publish')) publish(event);
      resolve(event.entry);
    }
  }

  /** Mistakes planted by tests; with a turn for those who hear of it to tell others, before anything is stored. */
  async #misbehave(batch: readonly Pending[]): Promise<void> {
    const { publish, bugs } = this.#options;
    if (bugs.has('early-publish')) for (const { event } of batch) publish(event);
    if (bugs.has('early-acknowledge')) for (const { event, resolve } of batch) resolve(event.entry);
    await new Promise((resolve) => setImmediate(resolve));
  }

  /** Writes that wait were judged against those that failed, so they cannot be stored either. */
  #fail(batch: readonly Pending[], failure: JournalFailure): void {
    const lost = [...batch, ...this.#queue];
    this.#queue = [];
    this.#options.core.dropStaged();
    this.#options.onFailure(failure);
    for (const { reject } of lost) reject(new StoreUnavailable(failure.message, { cause: failure }));
  }
}

const failureOf = (error: unknown): JournalFailure =>
  error instanceof JournalFailure ? error : new JournalFailure('broken', messageOf(error), { cause: error });
