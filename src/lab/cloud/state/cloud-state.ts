import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { KindCatalogue } from '../resources/kind-catalogue.ts';
import type { CloudReader } from '../resources/resource-kind.ts';
import type { KindName, ResourceRecord, ShelfName } from '../resources/resource-record.ts';
import { isExpired, LiveTransaction, type RecordMove } from './live-transaction.ts';
import type { StateLog } from './state-log.ts';
import type { Tables } from './tables.ts';
import { VersionHistory } from './version-history.ts';

export interface CloudStateOptions {
  readonly tables: Tables;
  readonly log: Pick<StateLog, 'append' | 'compactIfLarge'>;
  readonly kinds: KindCatalogue;
  readonly seed: number;
  /** Lab time. */
  readonly clock: Clock;
  readonly logger: Log;
}

export interface CommitOptions {
  /** Transitions that begin do not end while this fault is there. */
  readonly stuckBy?: string | undefined;
  /** No read is so stale that it misses this. */
  readonly isSeenAtOnce?: boolean;
}

export interface Committed<T> {
  readonly result: T;
  readonly moves: readonly RecordMove[];
}

/** The longest that a fault may make a read lag behind. */
export const LONGEST_STALE_MS = 60_000;

/** What is true in the cloud, and what was a moment ago. */
export class CloudState implements CloudReader {
  readonly #options: CloudStateOptions;
  readonly #history: VersionHistory;

  constructor(options: CloudStateOptions) {
    this.#options = options;
    this.#history = new VersionHistory(Math.max(LONGEST_STALE_MS, options.kinds.longestWindowMs));
  }

  get now(): Date {
    return this.#options.clock.now();
  }

  get<Fields extends object>(kind: KindName<Fields>, id: string): ResourceRecord<Fields> | undefined {
    return this.#look().get(kind, id);
  }

  list<Fields extends object>(kind: KindName<Fields>): readonly ResourceRecord<Fields>[] {
    return this.#look().list(kind);
  }

  peek<Value extends object>(shelf: ShelfName<Value>, key: string): Value | undefined {
    return this.#look().peek(shelf, key);
  }

  entries<Value extends object>(shelf: ShelfName<Value>): readonly (readonly [string, Value])[] {
    return this.#look().entries(shelf);
  }

  /** An object as it was so many milliseconds ago. */
  getEarlier(kind: KindName<object>, id: string, agoMs: number): ResourceRecord | undefined {
    const current = this.get(kind, id);
    if (agoMs === 0) return current;
    const thenMs = this.#options.clock.monotonicMs() - agoMs;
    const record = this.#history.get({ kind: kind.plural, id }, current, thenMs);
    return record === undefined || isExpired(record, this.now) ? undefined : record;
  }

  /** The objects of a kind as they were so many milliseconds ago. */
  listEarlier(kind: KindName<object>, agoMs: number): readonly ResourceRecord[] {
    const current = this.list(kind);
    if (agoMs === 0) return current;
    const thenMs = this.#options.clock.monotonicMs() - agoMs;
    return this.#history.list(kind.plural, current, thenMs).filter((record) => !isExpired(record, this.now));
  }

  /** All or nothing: when it throws, whether by itself or because it cannot be kept, nothing has happened. */
  commit<T>(work: (transaction: LiveTransaction) => T, more: CommitOptions = {}): Committed<T> {
    const { tables, log, clock } = this.#options;
    const transaction = this.#look(more.stuckBy);
    transaction.prune();
    const result = work(transaction);
    if (transaction.isEmpty) return { result, moves: [] };
    const { changeset, moves } = transaction;
    log.append(changeset);
    tables.apply(changeset);
    if (more.isSeenAtOnce !== true)
      for (const { before, now } of moves) this.#history.note(before, now, clock.monotonicMs());
    this.#compact();
    return { result, moves };
  }

  #look(stuckBy?: string): LiveTransaction {
    const { tables, kinds, seed } = this.#options;
    return new LiveTransaction({ tables, kinds, seed, now: this.now, stuckBy });
  }

  /** The transaction is kept already: a log that stays long is no reason to refuse it. */
  #compact(): void {
    try {
      this.#options.log.compactIfLarge();
    } catch (error) {
      this.#options.logger.warn({ reason: messageOf(error) }, 'Could not compact the state of the cloud');
    }
  }
}
