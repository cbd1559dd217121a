import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFIG_MAPS, recordedLog, rendered } from '../../../test/support/store.ts';
import { VirtualClock } from '../../base/clock.ts';
import { fullMessage } from './disk-room.ts';
import { type CompactionStep, type Journal, JournalFailure } from './journal.ts';
import { JournaledStore } from './journaled-store.ts';
import { MvccCore } from './mvcc.ts';
import { type StoreEvent, StoreUnavailable } from './store.ts';

const KEY = `${CONFIG_MAPS}ns/a`;

/** A journal whose commits end when the test says so. */
class ManualJournal implements Journal {
  readonly batches: (readonly StoreEvent[])[] = [];
  readonly steps: CompactionStep[] = [];
  lack: string | undefined = undefined;
  isSound: boolean | undefined;
  #commit: PromiseWithResolvers<void> | undefined;
  compactFailure: Error | undefined;

  schedule(run: () => void): void {
    queueMicrotask(run);
  }

  append(events: readonly StoreEvent[]): Promise<void> {
    this.batches.push(events);
    this.#commit = Promise.withResolvers();
    return this.#commit.promise;
  }

  compact(step: CompactionStep): Promise<void> {
    this.steps.push(step);
    return this.compactFailure === undefined ? Promise.resolve() : Promise.reject(this.compactFailure);
  }

  backup(): Promise<void> {
    return Promise.resolve();
  }

  lackOfRoom(): string | undefined {
    return this.lack;
  }

  close(isSound: boolean): Promise<void> {
    this.isSound = isSound;
    return Promise.resolve();
  }

  async succeed(): Promise<void> {
    this.#commit?.resolve();
    await new Promise((resolve) => setImmediate(resolve));
  }

  fail(error: Error): void {
    this.#commit?.reject(error);
  }
}

function newStore() {
  const journal = new ManualJournal();
  const { log, lines } = recordedLog();
  const clock = new VirtualClock();
  const store = new JournaledStore({ core: new MvccCore(), journal, clock, incarnation: 'test', log });
  return { store, journal, lines };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('group commit', () => {
  it('apiserver/K2: hands the journal every object under its key, with its bytes and revision', async () => {
    const { store, journal } = newStore();
    const first = store.put(KEY, 0, rendered('a'));
    await turn();
    const others = [store.put(KEY, 2, rendered('b')), store.put(`${CONFIG_MAPS}ns/b`, 0, rendered('c'))];
    assert.equal(store.get(KEY), undefined, 'not visible before the commit');
    await journal.succeed();
    assert.equal((await first).revision, 2);
    await journal.succeed();
    await Promise.all(others);
    assert.deepEqual(
      journal.batches.map((batch) => batch.map(({ key, revision }) => `${revision} ${key}`)),
      [[`2 ${KEY}`], [`3 ${KEY}`, `4 ${CONFIG_MAPS}ns/b`]],
    );
    await store[Symbol.asyncDispose]();
    assert.equal(journal.isSound, true);
  });

  it('rejects all that is not committed when a commit fails, and reads go on', async () => {
    const { store, journal, lines } = newStore();
    const first = store.put(KEY, 0, rendered('a'));
    await turn();
    await journal.succeed();
    await first;
    const failing = store.put(KEY, 2, rendered('b'));
    await turn();
    const waiting = store.put(KEY, 3, rendered('c'));
    journal.fail(new Error('disk I/O error'));
    for (const write of [failing, waiting]) await assert.rejects(write, StoreUnavailable);
    assert.deepEqual([store.revision, store.get(KEY)?.revision, store.head(KEY)?.revision], [2, 2, 2]);
    assert.equal(store.problem, 'disk I/O error');
    for (const write of [store.put(KEY, 2, rendered('d')), store.remove(KEY, 2, rendered('d'))]) {
      await assert.rejects(write, /disk I\/O error/);
    }
    assert.equal(journal.batches.length, 2, 'the journal is left alone');
    await assert.rejects(store.compact(2), /disk I\/O error/);
    assert.deepEqual(
      lines.map(({ message }) => message),
      ['the store cannot write; reads go on'],
    );
    await store[Symbol.asyncDispose]();
    assert.equal(journal.isSound, false);
  });

  it('tries a full disk again for removals, and for all as soon as there is room', async () => {
    const { store, journal } = newStore();
    const first = store.put(KEY, 0, rendered('a'));
    await turn();
    await journal.succeed();
    await first;
    journal.lack = 'no room';
    const failing = store.put(KEY, 2, rendered('b'));
    await turn();
    journal.fail(new JournalFailure('full', 'no room'));
    await assert.rejects(failing, /no room/);
    await assert.rejects(store.put(KEY, 2, rendered('b')), /no room/);
    assert.equal(store.problem, 'no room');
    const removal = store.remove(KEY, 2, rendered('a'));
    await turn();
    await journal.succeed();
    assert.equal((await removal).revision, 3);
    journal.lack = undefined;
    const written = store.put(KEY, 0, rendered('b'));
    await turn();
    await journal.succeed();
    assert.equal((await written).revision, 4);
    assert.equal(store.problem, undefined);
    await store[Symbol.asyncDispose]();
  });

  it('stops writing when the journal fails by itself or in a compaction', async () => {
    const { store, journal } = newStore();
    store.abort(new JournalFailure('broken', 'the thread ended'));
    store.fail(new JournalFailure('full', 'too late'));
    await assert.rejects(store.put(KEY, 0, rendered('a')), /the thread ended/);
    await store[Symbol.asyncDispose]();

    const other = newStore();
    const first = other.store.put(KEY, 0, rendered('a'));
    await turn();
    await other.journal.succeed();
    await first;
    other.journal.compactFailure = new JournalFailure('broken', 'disk I/O error');
    await assert.rejects(other.store.compact(2), /disk I\/O error/);
    assert.deepEqual([other.store.compactRevision, other.store.problem], [0, 'disk I/O error']);
    await other.store[Symbol.asyncDispose]();
    assert.equal(journal.steps.length, 0);
  });
});

describe('the message of a full disk', () => {
  it('reliability/D10: says what happened, where, how much is free and what to do', () => {
    assert.match(
      fullMessage('/tmp'),
      /^the object was not stored: no space left on the data disk \(\/tmp, (0|[\d.]+ [KMGT]?i?B) of [\d.]+ [KMGT]iB free\)\. Free space and retry; reads still work$/,
    );
    assert.match(fullMessage('/nowhere'), /data disk \(\/nowhere\)\. Free space/);
  });
});
