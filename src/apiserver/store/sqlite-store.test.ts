import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { CONFIG_MAPS, contentOf, dataOf, openTestStore, PODS, rendered } from '../../../test/support/store.ts';
import { SystemClock, VirtualClock } from '../../base/clock.ts';
import { layoutOf } from './layout.ts';
import { restoreStore } from './restore.ts';
import { SqliteFile } from './sqlite-file.ts';
import { openSqliteStore } from './sqlite-store.ts';
import type { Store } from './store.ts';
import { readMeta, writeMeta } from './store-file.ts';

const KEY = `${CONFIG_MAPS}default/a`;

const replay = (store: Store, after: number) =>
  [...store.history('', after)].map(({ revision, key, isRemoval, entry, previous }) =>
    [revision, key, isRemoval, dataOf(entry.bytes), dataOf(previous?.bytes)].join(' '),
  );

/** Some of everything: objects created, changed, removed and created again. */
async function fill(store: Store): Promise<void> {
  await store.put(KEY, 0, rendered('one'));
  await Promise.all([store.put(KEY, 2, rendered('two')), store.put(`${PODS}ns/p`, 0, rendered('p'))]);
  await store.remove(KEY, 3, rendered('two, at its end'));
  await store.put(KEY, 0, rendered('three'));
}

describe('a store on disk', () => {
  it('apiserver/K7: has its objects, revisions and the retained history again after a restart', async () => {
    await using directory = await scratchDirectory();
    const before = await openTestStore(directory.path);
    await fill(before);
    const [content, events] = [contentOf(before), replay(before, 0)];
    await before[Symbol.asyncDispose]();
    await using after = await openTestStore(directory.path);
    assert.deepEqual([after.revision, after.incarnation], [6, before.incarnation]);
    assert.deepEqual(contentOf(after), content);
    assert.deepEqual(replay(after, 0), events);
    assert.equal((await after.put(`${PODS}ns/q`, 0, rendered('q'))).revision, 7);
  });

  it('reliability/P18: lets a watch go on after a restart from any revision that is retained', async () => {
    await using directory = await scratchDirectory();
    const before = await openTestStore(directory.path);
    await fill(before);
    await before.compact(3);
    const events = [3, 4, 5, 6].map((revision) => replay(before, revision));
    await before[Symbol.asyncDispose]();
    await using after = await openTestStore(directory.path);
    assert.deepEqual(
      [3, 4, 5, 6].map((revision) => replay(after, revision)),
      events,
    );
    assert.throws(() => after.history('', 2), /compacted/);
  });

  it('apiserver/K4: commits what arrives together in one transaction', async () => {
    await using directory = await scratchDirectory();
    let syncs = 0;
    const onPoint = (point: string) => void (syncs += point === 'after-sync' ? 1 : 0);
    await using store = await openTestStore(directory.path, { onPoint });
    await Promise.all(Array.from({ length: 50 }, (_, at) => store.put(`${PODS}ns/${at}`, 0, rendered('x'))));
    assert.deepEqual([syncs, store.revision], [1, 51]);
  });

  it('apiserver/K3: acknowledges and publishes only after the sync', async () => {
    await using directory = await scratchDirectory();
    const steps: string[] = [];
    await using store = await openTestStore(directory.path, { onPoint: (point) => steps.push(point) });
    using _ = store.subscribe('', () => steps.push('event'));
    await store.put(KEY, 0, rendered('x')).then(() => steps.push('acknowledged'));
    assert.deepEqual(steps.slice(steps.indexOf('before-append')), [
      'before-append',
      'after-append',
      'before-sync',
      'after-sync',
      'before-publish',
      'event',
      'after-publish',
      'acknowledged',
    ]);
  });

  it('does not sync in the mode that survives the end of the process only', async () => {
    await using directory = await scratchDirectory();
    const steps: string[] = [];
    const onPoint = (point: string) => void steps.push(point);
    const store = await openTestStore(directory.path, { onPoint, durability: 'normal' });
    await store.put(KEY, 0, rendered('x'));
    assert.ok(steps.includes('after-append') && !steps.includes('before-sync'));
    await store[Symbol.asyncDispose]();
    await using again = await openTestStore(directory.path, { durability: 'normal' });
    assert.equal(again.revision, 2);
  });

  it('reliability/P5: is the same to readers after a compaction and a restart', async () => {
    await using directory = await scratchDirectory();
    const before = await openTestStore(directory.path);
    await fill(before);
    await before.remove(`${PODS}ns/p`, 4, rendered('p'));
    const content = contentOf(before);
    // The removal is the last operation, and all that lives is older than the compact revision.
    await before.compact(before.revision);
    assert.deepEqual(contentOf(before), content);
    await before[Symbol.asyncDispose]();
    await using after = await openTestStore(directory.path);
    assert.deepEqual([after.revision, after.compactRevision], [7, 7]);
    assert.deepEqual(contentOf(after), content);
    assert.equal((await after.put(`${PODS}ns/p`, 0, rendered('p'))).revision, 8);
  });

  it('apiserver/I4: compacts thousands of revisions in steps, and drops superseded rows and tombstones only', async () => {
    await using directory = await scratchDirectory();
    const store = await openTestStore(directory.path);
    for (let at = 0; at < 2500; at++) {
      const revision = store.head(KEY)?.revision ?? 0;
      const written =
        at % 10 === 9 ? store.remove(KEY, revision, rendered('x')) : store.put(KEY, revision, rendered(`${at}`));
      if (at % 100 === 0) await written;
    }
    await store.put(`${PODS}ns/p`, 0, rendered('p'));
    await store.compact(2400);
    const [content, events] = [contentOf(store), replay(store, 2400)];
    await store[Symbol.asyncDispose]();
    {
      using database = new SqliteFile(layoutOf(directory.path).database, { readOnly: true });
      assert.deepEqual(database.prepare('SELECT count(*) FROM log').first(), [103]);
    }
    await using after = await openTestStore(directory.path);
    assert.deepEqual([contentOf(after), replay(after, 2400)], [content, events]);
  });

  it('empties the write-ahead log now and then, and moves the mark', async () => {
    await using directory = await scratchDirectory();
    const points: string[] = [];
    const store = await openTestStore(directory.path, { onPoint: (point) => points.push(point) });
    const big = 'x'.repeat(1_000_000);
    for (let at = 0; at < 5; at++) await store.put(`${PODS}ns/${at}`, 0, rendered(big));
    assert.equal(points.filter((point) => point === 'after-checkpoint').length, 1);
    assert.equal(points.filter((point) => point === 'after-dirsync').length, 1);
    await store[Symbol.asyncDispose]();
    await using again = await openTestStore(directory.path);
    assert.equal(again.count(''), 5);
  });

  it('leaves only what it needs when it is closed, and does its work on a thread', async () => {
    await using directory = await scratchDirectory();
    const store = await openSqliteStore({
      directory: directory.path,
      durability: 'full',
      clock: new SystemClock(),
    });
    const written: Promise<unknown>[] = [];
    // The thread takes over at some moment in between.
    const started = performance.now();
    for (let at = 0; performance.now() - started < 250 && at < 5000; at++) {
      const last = store.put(`${PODS}ns/${at}`, 0, rendered(`${at}`));
      written.push(last);
      await last;
    }
    await store.compact(store.revision - 10);
    const content = contentOf(store);
    assert.equal(content.length, written.length);
    await store[Symbol.asyncDispose]();
    assert.deepEqual(readdirSync(directory.path), ['store.db', 'store.lock', 'store.mark', 'store.reserve']);
    await using again = await openTestStore(directory.path);
    assert.deepEqual(contentOf(again), content);
  });
});

describe('a disk that fails', () => {
  it('reliability/P7: is not written to again before the store was opened anew', async () => {
    await using directory = await scratchDirectory();
    let isFailing = false;
    const points: string[] = [];
    const onPoint = (point: string) => {
      points.push(point);
      if (isFailing && point === 'before-sync') throw new Error('EIO: i/o error, fdatasync');
    };
    const store = await openTestStore(directory.path, { onPoint });
    await store.put(KEY, 0, rendered('one'));
    isFailing = true;
    await assert.rejects(store.put(KEY, 2, rendered('two')), {
      name: 'StoreUnavailable',
      message:
        `the object was not stored: writing to ${layoutOf(directory.path).database} failed (EIO: i/o error, fdatasync). ` +
        'What the disk holds is no longer certain, so writes are refused until the server is started again; reads still work',
    });
    isFailing = false;
    assert.match(store.problem ?? '', /^the object was not stored: writing to/);
    assert.equal(dataOf(store.get(KEY)?.bytes), 'one');
    points.length = 0;
    await assert.rejects(store.remove(KEY, 2, rendered('two')));
    await store[Symbol.asyncDispose]();
    assert.deepEqual(points, [], 'not even to tidy up');
    assert.ok(existsSync(layoutOf(directory.path).wal));
    await using again = await openTestStore(directory.path);
    assert.ok(again.revision >= 2);
  });

  it('ends a compaction like a write', async () => {
    await using directory = await scratchDirectory();
    const onPoint = (point: string) => {
      if (point === 'compact-before-commit') throw new Error('EIO: i/o error, write');
    };
    await using store = await openTestStore(directory.path, { onPoint });
    await fill(store);
    await assert.rejects(store.compact(4), /EIO/);
    assert.deepEqual([store.compactRevision, [...store.history('', 0)].length], [0, 5]);
    assert.match(store.problem ?? '', /EIO/);
  });
});

describe('a directory that is not ours to use', () => {
  it('reliability/D13: says who uses it', async () => {
    await using directory = await scratchDirectory();
    const clock = new VirtualClock({ start: new Date(2026, 0, 1, 12, 3) });
    await using _ = await openTestStore(directory.path, { clock, program: 'slipway apiserver' });
    await assert.rejects(openTestStore(directory.path), {
      reason: 'StoreInUse',
      message: `${directory.path} is in use by process ${process.pid} (slipway apiserver, started 12:03). Stop it or choose another --data`,
    });
    writeFileSync(layoutOf(directory.path).holder, '{"pid":7,"since":"01:02","program":"slipway up"}');
    await assert.rejects(
      openTestStore(directory.path),
      /is in use by process 7 \(slipway up, started 01:02\)\. Stop/,
    );
    writeFileSync(layoutOf(directory.path).holder, '{"pid":7,"since":"01:02"}');
    await assert.rejects(openTestStore(directory.path), /is in use by process 7 \(started 01:02\)\. Stop it/);
    rmSync(layoutOf(directory.path).holder);
    await assert.rejects(openTestStore(directory.path), /is in use by another process\. Stop it/);
  });

  it('reliability/D12: says which release to use when a later one wrote it', async () => {
    await using directory = await scratchDirectory();
    await (await openTestStore(directory.path, { release: '0.8' }))[Symbol.asyncDispose]();
    {
      using database = new SqliteFile(layoutOf(directory.path).database);
      const meta = readMeta(database);
      assert.ok(meta);
      writeMeta(database, { ...meta, format: 4, release: '0.9' });
    }
    await assert.rejects(openTestStore(directory.path, { release: '0.8' }), {
      reason: 'StoreTooNew',
      message:
        'the data directory was written by Slipway 0.9 (format 4); this is 0.8 (format 1). Use 0.9 or later',
    });
  });

  it('says what is wrong with a path that cannot be a directory', async () => {
    await using directory = await scratchDirectory();
    const file = join(directory.path, 'file');
    writeFileSync(file, '');
    const refusal = (path: string, why: string) => ({
      reason: 'DataFolderUnusable',
      message: `the data folder ${path} cannot be written: ${why}. Choose another folder with --data, or give yourself this one`,
    });
    const below = join(file, 'data');
    await assert.rejects(openTestStore(below), refusal(below, 'a part of the path is a file'));
    await assert.rejects(openTestStore(file), refusal(file, 'it is a file'));
    assert.ok(existsSync(file));
  });

  it('gives up at once where no folder and no file can be made', async (t) => {
    if (process.platform !== 'linux') return t.skip('there is no /proc here');
    await assert.rejects(
      openTestStore('/proc/x'),
      /^SlipwayError: the data folder \/proc\/x cannot be written: a folder/,
    );
    assert.throws(() => restoreStore('/nowhere', '/proc/x', { clock: new VirtualClock() }), {
      reason: 'DataFolderUnusable',
    });
    await assert.rejects(openTestStore('/proc/self/task'), { reason: 'DataFolderUnusable' });
  });

  for (const name of ['database', 'wal', 'mark', 'lock', 'holder'] as const) {
    it(`names its ${name} when that is no file`, async () => {
      await using directory = await scratchDirectory();
      await (await openTestStore(directory.path))[Symbol.asyncDispose]();
      const file = layoutOf(directory.path)[name];
      rmSync(file, { force: true });
      mkdirSync(file);
      await assert.rejects(openTestStore(directory.path), {
        reason: 'StoreFileUnusable',
        message: `the store cannot be opened: ${file}: it is a folder. Give yourself the file, or choose another folder with --data`,
      });
    });
  }
});
