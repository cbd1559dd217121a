import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { CommitLane } from './commit-lane.ts';
import { type Journal, JournalFailure, type OnPoint, type StoreBug } from './journal.ts';
import { type Change, type MvccCore, resourceOf } from './mvcc.ts';
import { Retention, stepsOf } from './retention.ts';
import { type Entry, type Render, type Store, type StoreEvent, StoreUnavailable } from './store.ts';
import { Subscriptions } from './subscriptions.ts';

export interface StoreParts {
  readonly core: MvccCore;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly incarnation: string;
  readonly log?: Log | undefined;
  readonly onPoint?: OnPoint | undefined;
  readonly bugs?: ReadonlySet<StoreBug> | undefined;
}

/** The store over any journal: memory answers, the journal remembers. */
export class JournaledStore implements Store {
  readonly incarnation: string;
  readonly #core: MvccCore;
  readonly #journal: Journal;
  readonly #lane: CommitLane;
  readonly #log: Log | undefined;
  readonly #onPoint: OnPoint | undefined;
  readonly #subscriptions: Subscriptions;
  readonly #retention: Retention;
  #failure: JournalFailure | undefined;
  #closing: Promise<void> | undefined;
  #compacting: Promise<void> = Promise.resolve();

  constructor({ core, journal, clock, incarnation, log, onPoint, bugs = new Set() }: StoreParts) {
    this.incarnation = incarnation;
    this.#core = core;
    this.#journal = journal;
    this.#log = log;
    this.#onPoint = onPoint;
    this.#subscriptions = new Subscriptions((err) => log?.error({ err }, 'a listener of the store failed'));
    const publish = (event: StoreEvent) => this.#publish(event);
    const onFailure = (failure: JournalFailure) => this.fail(failure);
    this.#lane = new CommitLane({ core, journal, bugs, publish, onFailure });
    this.#retention = new Retention(clock, {
      revision: () => core.revision,
      compact: (revision) => this.compact(revision),
      onError: (err) => log?.warn({ err }, 'the store could not be compacted; it is tried again later'),
    });
  }

  get revision(): number {
    return this.#core.revision;
  }

  get compactRevision(): number {
    return this.#core.compactRevision;
  }

  get problem(): string | undefined {
    return this.#refusal();
  }

  get(key: string): Entry | undefined {
    return this.#core.get(key);
  }

  head(key: string): Entry | undefined {
    return this.#core.head(key);
  }

  put(key: string, expected: number, render: Render): Promise<Entry> {
    return this.#write({ key, expected, render, isRemoval: false });
  }

  remove(key: string, expected: number, render: Render): Promise<Entry> {
    return this.#write({ key, expected, render, isRemoval: true });
  }

  list(prefix: string): Iterable<Entry> {
    return this.#core.list(prefix);
  }

  count(prefix: string): number {
    return this.#core.count(prefix);
  }

  listAt(prefix: string, revision: number, start?: string): Iterable<Entry> {
    return this.#core.listAt(prefix, revision, start);
  }

  history(prefix: string, after: number): Iterable<StoreEvent> {
    return this.#core.history(prefix, after);
  }

  subscribe(prefix: string, listener: (event: StoreEvent) => void): Disposable {
    return this.#subscriptions.add(resourceOf(prefix), prefix, listener);
  }

  async reached(revision: number, signal: AbortSignal): Promise<void> {
    if (revision > this.#core.revision) await this.#subscriptions.reached(revision, signal);
  }

  /** One after the other: the steps of two would overlap. */
  compact(revision: number): Promise<void> {
    const done = this.#compacting.then(() => this.#compact(Math.min(revision, this.#core.revision)));
    this.#compacting = done.catch(() => undefined);
    return done;
  }

  async backup(file: string): Promise<void> {
    await this.#lane.step(() => this.#journal.backup(file));
  }

  /** Ends writing for good, or until there is room; what is not committed is lost. */
  fail(failure: JournalFailure): void {
    if (this.#failure?.kind === 'broken') return;
    this.#failure = failure;
    this.#log?.error({ err: failure }, 'the store cannot write; reads go on');
  }

  /** The journal failed by itself, outside of any write. */
  abort(failure: JournalFailure): void {
    this.#lane.abort(failure);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#retention[Symbol.dispose]();
    await this.#compacting;
    await this.#lane.idle();
    await this.#journal.close(this.#failure?.kind !== 'broken');
  }

  #write(change: Change): Promise<Entry> {
    const refusal = this.#closing === undefined ? this.#refusal() : 'the store is closed';
    // A removal gets its chance on a full disk: room is kept for it (T3.7).
    const isTried = refusal === undefined || (change.isRemoval && this.#failure?.kind === 'full');
    if (!isTried) return Promise.reject(new StoreUnavailable(refusal));
    return this.#lane.write(change);
  }

  #refusal(): string | undefined {
    if (this.#failure?.kind !== 'full') return this.#failure?.message;
    const lack = this.#journal.lackOfRoom();
    if (lack === undefined) this.#failure = undefined;
    return lack;
  }

  #publish(event: StoreEvent): void {
    this.#onPoint?.('before-publish');
    this.#core.publish(event);
    this.#subscriptions.notify(resourceOf(event.key) ?? '', event);
    this.#onPoint?.('after-publish');
  }

  /** Disk and memory go together, step by step: whenever it ends, both have compacted the same. */
  async #compact(target: number): Promise<void> {
    const from = this.#core.compactRevision;
    if (target <= from || this.#closing !== undefined) return;
    for (const step of stepsOf(this.#core.history('', from), { from, to: target })) {
      if (this.#failure?.kind === 'broken') throw new StoreUnavailable(this.#failure.message);
      await this.#lane
        .step(() => this.#journal.compact(step))
        .catch((error: unknown) => this.#compactFailed(error));
      this.#core.compact(step.to);
    }
  }

  #compactFailed(error: unknown): never {
    if (error instanceof JournalFailure && error.kind === 'broken') this.#lane.abort(error);
    throw error;
  }
}
