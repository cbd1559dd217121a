import { renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { lackOfRoom } from './disk-room.ts';
import type { CompactionStep, Journal, JournalFailure } from './journal.ts';
import { syncPath } from './layout.ts';
import { packBatch, rowOf } from './packed-batch.ts';
import type { SqliteFile } from './sqlite-file.ts';
import type { StoreEvent } from './store.ts';
import { makePrivate } from './store-file.ts';
import { StoreLog, type StoreLogOptions } from './store-log.ts';
import { WorkerLog } from './worker-log.ts';

export interface SqliteJournalOptions {
  readonly log: StoreLogOptions;
  /**
   * A reading connection, open for as long as the journal: while it is, closing the writing one does not touch the
   * files, which is what must happen after a failed sync.
   */
  readonly anchor: SqliteFile;
  readonly lock: Disposable;
  /** False: everything happens on the calling thread, so that a test can stop it anywhere. */
  readonly hasThread: boolean;
  readonly onFailure: (failure: JournalFailure) => void;
  /** The thread has taken over. */
  readonly onTakeover: () => void;
}

/**
 * The database behind a store. A thread takes a while to start, so the first commits happen on the calling thread: a
 * server is ready before the thread is.
 */
export class SqliteJournal implements Journal {
  readonly #options: SqliteJournalOptions;
  readonly #worker: WorkerLog | undefined;
  /** Undefined once the thread has taken over. */
  #own: StoreLog | undefined;
  #takeover: Promise<void> | undefined;

  constructor(options: SqliteJournalOptions) {
    this.#options = options;
    this.#own = new StoreLog(options.log);
    this.#worker = options.hasThread
      ? new WorkerLog({ onReady: () => this.#handOver(), onFailure: (failure) => this.#onFailure(failure) })
      : undefined;
  }

  /** After all callbacks of this turn: requests that came together are committed together. */
  schedule(run: () => void): void {
    setImmediate(run);
  }

  append(events: readonly StoreEvent[]): Promise<void> | undefined {
    if (this.#own === undefined) return this.#ask(packBatch(events));
    this.#own.append(events.map(rowOf));
    if (this.#own.isCheckpointDue) this.#own.checkpoint();
    return undefined;
  }

  compact(step: CompactionStep): Promise<void> | undefined {
    if (this.#own === undefined) return this.#ask({ kind: 'compact', step });
    this.#own.compact(step);
    if (this.#own.isCheckpointDue) this.#own.checkpoint();
    return undefined;
  }

  /** Empties the write-ahead log, with whatever was left behind the last transaction. Only at the start. */
  discardTail(): void {
    this.#own?.checkpoint('TRUNCATE');
  }

  async backup(file: string): Promise<void> {
    const draft = `${file}.draft`;
    rmSync(draft, { force: true });
    makePrivate(draft);
    await this.#options.anchor.backupTo(draft);
    syncPath(draft);
    renameSync(draft, file);
    syncPath(dirname(file));
  }

  lackOfRoom(): string | undefined {
    return lackOfRoom(this.#options.log.layout);
  }

  async close(isSound: boolean): Promise<void> {
    using _ = this.#options.lock;
    using anchor = this.#options.anchor;
    try {
      await this.#takeover?.catch(() => undefined);
      if (!isSound) return;
      // The last connection to be closed tidies up, so it has to be one that may.
      anchor[Symbol.dispose]();
      if (this.#own === undefined) await this.#worker?.request({ kind: 'finish' });
      else this.#own.finish();
      this.#own = undefined;
    } finally {
      await this.#worker?.end();
      this.#own?.abandon();
    }
  }

  /** Between two operations: those on this thread are over when a message is handled. */
  #handOver(): void {
    if (this.#own === undefined || this.#worker === undefined || this.#own.isBroken) return;
    const { meta, revision } = this.#own;
    const { onPoint: _, ...options } = this.#options.log;
    this.#own.abandon();
    this.#own = undefined;
    this.#takeover = this.#worker.request({ kind: 'begin', options: { ...options, meta, revision } });
    this.#takeover.then(this.#options.onTakeover, (failure: JournalFailure) => this.#options.onFailure(failure));
  }

  async #ask(request: Parameters<WorkerLog['request']>[0]): Promise<void> {
    if (this.#takeover !== undefined) {
      await this.#takeover;
      this.#takeover = undefined;
    }
    await this.#worker?.request(request);
  }

  /** A thread that cannot even start is not needed: this one goes on. */
  #onFailure(failure: JournalFailure): void {
    if (this.#own === undefined) this.#options.onFailure(failure);
  }
}
