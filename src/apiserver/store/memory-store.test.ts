import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { CONFIG_MAPS, dataOf, PODS, recordedLog, rendered } from '../../../test/support/store.ts';
import { VirtualClock } from '../../base/clock.ts';
import { createMemoryStore } from './memory-store.ts';
import { RevisionCompacted, type Store, StoreConflict, type StoreEvent, StoreUnavailable } from './store.ts';

const KEY = `${CONFIG_MAPS}default/a`;
const newStore = () => createMemoryStore({ clock: new VirtualClock() });
const seen = ({ key, revision, isRemoval, entry, previous }: StoreEvent) => [
  revision,
  key,
  isRemoval ? 'removed' : dataOf(entry.bytes),
  previous === undefined ? undefined : dataOf(previous.bytes),
];

describe('revisions and compare-and-swap', () => {
  it('reliability/P1: a new store is at revision 1 and each write adds one', async () => {
    await using store = newStore();
    assert.equal(store.revision, 1);
    const created = await store.put(KEY, 0, rendered('x'));
    const changed = await store.put(KEY, 2, rendered('y'));
    assert.deepEqual([created.revision, changed.revision, changed.createRevision], [2, 3, 2]);
    const removed = await store.remove(KEY, 3, rendered('last'));
    assert.deepEqual([removed.revision, store.revision, store.get(KEY)], [4, 4, undefined]);
    assert.equal((await store.put(KEY, 0, rendered('again'))).createRevision, 5);
  });

  it('apiserver/K5: judges a write against those that are not committed yet', async () => {
    await using store = newStore();
    const first = store.put(KEY, 0, rendered('x'));
    assert.equal(store.get(KEY), undefined);
    assert.equal(store.head(KEY)?.revision, 2);
    assert.throws(() => store.put(KEY, 0, rendered('y')), StoreConflict);
    const second = store.remove(KEY, 2, rendered('x'));
    assert.equal(store.head(KEY), undefined);
    assert.throws(
      () => store.put(KEY, 2, rendered('z')),
      (error) => error instanceof StoreConflict && error.current === undefined,
    );
    await Promise.all([first, second]);
    assert.equal(store.revision, 3);
  });

  it('gives no revision to a write that could not be rendered', async () => {
    await using store = newStore();
    const broken = () => {
      throw new Error('cannot render');
    };
    assert.throws(() => store.put(KEY, 0, broken), /cannot render/);
    assert.equal((await store.put(KEY, 0, rendered('x'))).revision, 2);
  });

  it('refuses to remove what is not there, and keys outside a resource', async () => {
    await using store = newStore();
    assert.throws(() => store.remove(KEY, 0, rendered('x')), StoreConflict);
    assert.throws(() => store.put('/registry/core', 0, rendered('x')), RangeError);
  });

  it('apiserver/I2: keeps the bytes as they are, in memory of their own', async () => {
    await using store = newStore();
    const pooled = Buffer.from('pooled');
    const { bytes } = await store.put(KEY, 0, () => pooled);
    assert.deepEqual([Buffer.from(bytes).toString(), bytes.buffer.byteLength], ['pooled', 6]);
  });

  it('writes nothing after it was closed', async () => {
    const store = newStore();
    await store[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
    await assert.rejects(store.put(KEY, 0, rendered('x')), StoreUnavailable);
  });
});

describe('listeners', () => {
  it('reliability/P14: get every change below their prefix in order, after it is visible', async () => {
    await using store = newStore();
    const events: unknown[] = [];
    using _all = store.subscribe('/registry/', (event) => events.push(['all', event.revision, store.revision]));
    using _one = store.subscribe(`${CONFIG_MAPS}default/`, (event) => {
      events.push(['one', event.revision, store.get(event.key)?.revision]);
    });
    await Promise.all([
      store.put(KEY, 0, rendered('x')),
      store.put(`${CONFIG_MAPS}other/a`, 0, rendered('x')),
      store.put(`${PODS}default/a`, 0, rendered('x')),
    ]);
    assert.deepEqual(events, [
      ['one', 2, 2],
      ['all', 2, 2],
      ['all', 3, 3],
      ['all', 4, 4],
    ]);
  });

  it('reliability/P16: do not disturb each other when one fails, comes or goes meanwhile', async () => {
    const { log, lines } = recordedLog();
    await using store = createMemoryStore({ clock: new VirtualClock(), log });
    const got: string[] = [];
    using _bad = store.subscribe(CONFIG_MAPS, () => {
      throw new Error('bad listener');
    });
    const late: Disposable[] = [];
    const leaving = store.subscribe(CONFIG_MAPS, ({ revision }) => {
      got.push(`leaving ${revision}`);
      leaving[Symbol.dispose]();
      gone[Symbol.dispose]();
      late.push(store.subscribe(CONFIG_MAPS, (event) => got.push(`late ${event.revision}`)));
    });
    const gone = store.subscribe(CONFIG_MAPS, () => got.push('gone'));
    await Promise.all([store.put(KEY, 0, rendered('x')), store.put(KEY, 2, rendered('y'))]);
    assert.deepEqual(got, ['leaving 2', 'late 3']);
    assert.deepEqual(
      lines.map(({ message }) => message),
      Array(2).fill('a listener of the store failed'),
    );
    for (const one of late) one[Symbol.dispose]();
  });

  it('reliability/P15: get the writes of a listener after the event that caused them', async () => {
    await using store = newStore();
    const got: number[] = [];
    const written: Promise<unknown>[] = [];
    using _writer = store.subscribe(CONFIG_MAPS, () => {
      written.push(store.put(`${PODS}default/a`, 0, rendered('x')));
    });
    using _reader = store.subscribe('', ({ revision }) => got.push(revision));
    await store.put(KEY, 0, rendered('x'));
    await Promise.all(written);
    assert.deepEqual(got, [2, 3]);
  });

  it('reliability/P19: can wait for a revision, by which all events up to it were given, or give up', async () => {
    await using store = newStore();
    await store.reached(1, AbortSignal.abort());
    const waiting = store.reached(3, new AbortController().signal);
    const leaving = new AbortController();
    const left = store.reached(3, leaving.signal);
    leaving.abort(new Error('enough'));
    await assert.rejects(left, /enough/);
    await assert.rejects(store.reached(3, AbortSignal.abort(new Error('before'))), /before/);
    await store.put(KEY, 0, rendered('x'));
    const given: number[] = [];
    using _ = store.subscribe('', ({ revision }) => given.push(revision));
    await Promise.all([waiting.then(() => given.push(0)), store.put(KEY, 2, rendered('y'))]);
    assert.deepEqual(given, [3, 0]);
  });
});

describe('history', () => {
  it('apiserver/K1: is gone below the compact revision, while current objects stay', async () => {
    await using store = newStore();
    await store.put(KEY, 0, rendered('x'));
    await store.put(KEY, 2, rendered('y'));
    await store.put(`${PODS}default/p`, 0, rendered('p'));
    await store.compact(3);
    assert.equal(store.compactRevision, 3);
    assert.throws(() => store.history(CONFIG_MAPS, 2), new RevisionCompacted(2, 3));
    assert.throws(() => store.listAt(CONFIG_MAPS, 2), RevisionCompacted);
    assert.deepEqual([...store.history('', 3)].map(seen), [[4, `${PODS}default/p`, 'p', undefined]]);
    assert.deepEqual(
      [...store.listAt('', 3)].map(({ bytes }) => dataOf(bytes)),
      ['y'],
    );
    await store.compact(1);
    await store.compact(1000);
    assert.deepEqual([store.compactRevision, store.count('')], [4, 2]);
    assert.throws(() => store.listAt('', 5), RangeError);
  });

  it('apiserver/K6: is kept for five minutes and 10,000 revisions at least', async () => {
    const clock = new VirtualClock();
    await using store = createMemoryStore({ clock });
    const write = async (count: number) => {
      for (let done = 0; done < count; done++) await store.put(KEY, store.head(KEY)?.revision ?? 0, rendered('x'));
    };
    await write(10_500);
    await clock.advance(299_999);
    assert.equal(store.compactRevision, 0);
    await clock.advance(1);
    assert.equal(store.compactRevision, 1, 'nothing was five minutes old but the empty store');
    await write(100);
    await clock.advance(300_000);
    assert.equal(store.compactRevision, 601, 'all but the newest 10,000');
    await clock.advance(900_000);
    assert.equal(store.compactRevision, 601);
  });
});

/** What a store is, in the plainest words: a list of all changes ever. */
class Model {
  readonly changes: { readonly key: string; readonly data: string | undefined }[] = [];

  at(revision: number): ReadonlyMap<string, string> {
    const state = new Map<string, string>();
    for (const { key, data } of this.changes.slice(0, Math.max(0, revision - 1))) {
      if (data === undefined) state.delete(key);
      else state.set(key, data);
    }
    return new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  after(revision: number): unknown[] {
    return this.changes.slice(Math.max(0, revision - 1)).map(({ key, data }, index) => {
      const at = Math.max(1, revision) + index + 1;
      return [at, key, data ?? 'removed', this.at(at - 1).get(key)];
    });
  }
}

const NAMES = ['a', 'b', 'c', 'ns/a', 'ns/b', 'nt/a'];
const anyChange = fc.record({
  key: fc.constantFrom(...NAMES.flatMap((name) => [CONFIG_MAPS + name, PODS + name])),
  kind: fc.constantFrom('put', 'put', 'put', 'remove', 'stale', 'compact'),
  isAwaited: fc.boolean(),
});

const entries = (store: Iterable<{ key: string; bytes: Uint8Array }>) =>
  [...store].map(({ key, bytes }) => [key, dataOf(bytes)]);
const below = (state: ReadonlyMap<string, string>, prefix: string) =>
  [...state].filter(([key]) => key.startsWith(prefix));

type Change = typeof anyChange extends fc.Arbitrary<infer T> ? T : never;

async function apply(store: Store, model: Model, changes: readonly Change[]): Promise<void> {
  const written: Promise<unknown>[] = [];
  for (const change of changes) {
    if (change.kind === 'compact') await store.compact(store.revision - 3);
    else written.push(write(store, model, change));
    if (change.isAwaited) await Promise.all(written);
  }
  await Promise.all(written);
}

function write(store: Store, model: Model, { key, kind }: Change): Promise<unknown> {
  const expected = store.head(key)?.revision ?? 0;
  const data = `d${model.changes.length}`;
  if (kind === 'stale') {
    assert.throws(() => store.put(key, expected + 1, rendered(data)), StoreConflict);
    return Promise.resolve();
  }
  const isRemoval = kind === 'remove' && expected > 0;
  model.changes.push({ key, data: isRemoval ? undefined : data });
  return isRemoval ? store.remove(key, expected, rendered('removed')) : store.put(key, expected, rendered(data));
}

function compare(store: Store, model: Model): void {
  for (const prefix of [CONFIG_MAPS, PODS, `${PODS}ns/`, '/registry/', '/registry/none/x/']) {
    const now = below(model.at(store.revision), prefix);
    assert.deepEqual(entries(store.list(prefix)), now);
    assert.equal(store.count(prefix), now.length);
    for (let revision = store.compactRevision; revision <= store.revision; revision++) {
      const then = below(model.at(revision), prefix);
      assert.deepEqual(entries(store.listAt(prefix, revision)), then);
      const start = then.at(Math.floor(then.length / 2))?.[0] ?? prefix;
      assert.deepEqual(entries(store.listAt(prefix, revision, start)), then.slice(Math.floor(then.length / 2)));
      const events = model.after(revision).filter((event) => String((event as unknown[])[1]).startsWith(prefix));
      assert.deepEqual([...store.history(prefix, revision)].map(seen), events);
    }
  }
}

describe('the store and a plain model of it', () => {
  it('reliability/P17: agree on every list, every past state and every replay', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyChange, { maxLength: 30 }), async (changes) => {
        await using store = newStore();
        const model = new Model();
        const live: unknown[] = [];
        using _ = store.subscribe('', (event) => live.push(seen(event)));
        await apply(store, model, changes);
        compare(store, model);
        assert.deepEqual(live, model.after(0));
      }),
      { numRuns: 60 },
    );
  });
});
