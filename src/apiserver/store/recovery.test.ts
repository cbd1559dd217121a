import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { CONFIG_MAPS, contentOf, openTestStore, PODS, rendered } from '../../../test/support/store.ts';
import { VirtualClock } from '../../base/clock.ts';
import { layoutOf } from './layout.ts';
import { createMemoryStore } from './memory-store.ts';
import { repairStore } from './repair.ts';
import { REVISION_LEAP, restoreStore } from './restore.ts';
import { SqliteFile } from './sqlite-file.ts';
import { RevisionCompacted } from './store.ts';
import { readMeta, writeMeta } from './store-file.ts';

const clock = new VirtualClock({ seed: 4711 });

describe('a backup', () => {
  it('apiserver/K8: restores the objects and never gives a revision out again', async () => {
    await using directory = await scratchDirectory();
    const [data, file] = [join(directory.path, 'data'), join(directory.path, 'backup.db')];
    await using store = await openTestStore(data);
    await store.put(`${CONFIG_MAPS}ns/a`, 0, rendered('a'));
    await store.put(`${CONFIG_MAPS}ns/a`, 2, rendered('b'));
    await store.put(`${PODS}ns/gone`, 0, rendered('gone'));
    await store.remove(`${PODS}ns/gone`, 4, rendered('gone'));
    await store.backup(file);
    const content = contentOf(store);
    await store.put(`${PODS}ns/later`, 0, rendered('later'));

    const restored = restoreStore(file, join(directory.path, 'new'), { clock });
    assert.deepEqual(restored, { objects: 1, revision: 5 + REVISION_LEAP });
    await using after = await openTestStore(join(directory.path, 'new'));
    assert.deepEqual(contentOf(after), content);
    assert.equal((await after.put(`${PODS}ns/p`, 0, rendered('p'))).revision, 6 + REVISION_LEAP);
  });

  it('reliability/P6: comes back as another incarnation, to which all old revisions are expired', async () => {
    await using directory = await scratchDirectory();
    await using store = createMemoryStore({ clock: new VirtualClock() });
    await store.put(`${CONFIG_MAPS}ns/a`, 0, rendered('a'));
    const file = join(directory.path, 'memory.db');
    await store.backup(file);
    restoreStore(file, join(directory.path, 'new'), { clock });
    await using after = await openTestStore(join(directory.path, 'new'));
    assert.notEqual(after.incarnation, store.incarnation);
    assert.deepEqual(contentOf(after), contentOf(store));
    assert.throws(() => after.history('', store.revision), RevisionCompacted);
  });

  it('is not restored over a store, nor from a file that is damaged or too new', async () => {
    await using directory = await scratchDirectory();
    const [data, file, other] = ['data', 'backup.db', 'new'].map((name) => join(directory.path, name));
    assert.ok(data && file && other);
    await using store = await openTestStore(data);
    await store.put(`${CONFIG_MAPS}ns/a`, 0, rendered('a'));
    await store.backup(file);
    await store[Symbol.asyncDispose]();
    assert.throws(() => restoreStore(file, data, { clock }), { reason: 'StoreExists' });
    const change = (work: (database: SqliteFile) => void) => {
      using database = new SqliteFile(file);
      work(database);
    };
    change((database) => {
      const meta = readMeta(database);
      assert.ok(meta);
      writeMeta(database, { ...meta, format: 9 });
    });
    assert.throws(() => restoreStore(file, other, { clock }), { reason: 'StoreTooNew' });
    change((database) => database.execute('UPDATE log SET key = key || 1; UPDATE meta SET checksum = 1'));
    assert.throws(() => restoreStore(file, other, { clock }), { reason: 'StoreDamaged' });
    assert.ok(!existsSync(layoutOf(other).database));
  });
});

describe('a repair', () => {
  it('keeps everything up to a revision, copies what was there, and gives out no revision again', async () => {
    await using directory = await scratchDirectory();
    const store = await openTestStore(directory.path);
    await store.put(`${CONFIG_MAPS}ns/a`, 0, rendered('a'));
    await store.put(`${CONFIG_MAPS}ns/b`, 0, rendered('b'));
    await store.remove(`${CONFIG_MAPS}ns/b`, 3, rendered('b'));
    const content = contentOf(store);
    await store.put(`${CONFIG_MAPS}ns/c`, 0, rendered('c'));
    await store.put(`${CONFIG_MAPS}ns/d`, 0, rendered('d'));
    await store[Symbol.asyncDispose]();
    {
      using database = new SqliteFile(layoutOf(directory.path).database);
      database.execute("UPDATE log SET key = 'x' WHERE rev = 5");
    }
    await assert.rejects(openTestStore(directory.path), /revision 5\).*--to-revision 4 \(a copy is kept\)$/);

    const repaired = repairStore(directory.path, { toRevision: 4, clock });
    assert.deepEqual(
      { ...repaired, copy: readdirSync(repaired.copy) },
      {
        copy: ['store.db', 'store.db-shm', 'store.db-wal', 'store.mark'],
        objects: 1,
        lostRecords: 1,
        revision: 6 + REVISION_LEAP,
      },
    );
    await using after = await openTestStore(directory.path);
    assert.deepEqual(contentOf(after), content);
    assert.notEqual(after.incarnation, store.incarnation);
    assert.equal(after.revision, 6 + REVISION_LEAP);
  });

  it('goes round pages that cannot be read', async () => {
    await using directory = await scratchDirectory();
    const store = await openTestStore(directory.path);
    for (let at = 0; at < 40; at++) await store.put(`${PODS}ns/${at}`, 0, rendered('x'.repeat(900)));
    await store[Symbol.asyncDispose]();
    const { database } = layoutOf(directory.path);
    const bytes = readFileSync(database);
    bytes.fill(0xff, 5 * 4096, 5 * 4096 + 16);
    writeFileSync(database, bytes);
    await assert.rejects(openTestStore(directory.path), { reason: 'StoreDamaged' });
    const { objects, lostRecords } = repairStore(directory.path, { toRevision: 41, clock });
    assert.ok(lostRecords > 0 && lostRecords < 10, `${lostRecords} lost`);
    assert.equal(objects + lostRecords, 40);
    await using after = await openTestStore(directory.path);
    assert.equal(after.count(PODS), objects);
  });

  it('begins with an empty store where nothing is left of the old one, behind all its revisions', async () => {
    for (const destroy of [rmSync, (file: string) => writeFileSync(file, 'no database')]) {
      await using directory = await scratchDirectory();
      const store = await openTestStore(directory.path);
      await store.put(`${CONFIG_MAPS}ns/a`, 0, rendered('a'));
      await store[Symbol.asyncDispose]();
      const { database, mark } = layoutOf(directory.path);
      destroy(database);
      const { copy, ...repaired } = repairStore(directory.path, { toRevision: 0, clock });
      assert.deepEqual(repaired, { objects: 0, lostRecords: 0, revision: 2 + REVISION_LEAP });
      assert.ok(existsSync(join(copy, basename(mark))));
      await using after = await openTestStore(directory.path);
      assert.deepEqual([after.count(''), after.revision], [0, 2 + REVISION_LEAP]);
    }
  });

  it('does not look for revisions that cannot be', async () => {
    await using directory = await scratchDirectory();
    const store = await openTestStore(directory.path);
    await store.put(`${CONFIG_MAPS}ns/a`, 0, rendered('a'));
    await store[Symbol.asyncDispose]();
    writeFileSync(layoutOf(directory.path).database, 'no database');
    const { revision } = repairStore(directory.path, { toRevision: Number.MAX_SAFE_INTEGER, clock });
    assert.equal(revision, 1_000_002 + REVISION_LEAP);
  });

  it('reliability/P4: is refused, with nothing changed, for a store that is not damaged', async () => {
    await using directory = await scratchDirectory();
    const store = await openTestStore(directory.path);
    for (let at = 0; at < 9; at++) await store.put(`${CONFIG_MAPS}ns/${at}`, 0, rendered('a'));
    const content = contentOf(store);
    await store[Symbol.asyncDispose]();
    const { database, mark } = layoutOf(directory.path);
    const before = [database, mark].map((file) => readFileSync(file));
    assert.throws(() => repairStore(directory.path, { toRevision: 5, clock }), {
      reason: 'StoreNotDamaged',
      message:
        `the store in ${directory.path} is not damaged, and everything up to its last revision 10 is there. Nothing was ` +
        'changed. An older state comes from a backup that is restored into another folder: docs/how-to/use-the-api-server.md',
    });
    assert.deepEqual(
      [database, mark].map((file) => readFileSync(file)),
      before,
    );
    assert.ok(!readdirSync(directory.path).some((name) => name.startsWith('damaged-')));
    await using after = await openTestStore(directory.path);
    assert.deepEqual([after.incarnation, contentOf(after)], [store.incarnation, content]);
  });

  it('is refused for a store of a later release', async () => {
    await using directory = await scratchDirectory();
    await (await openTestStore(directory.path))[Symbol.asyncDispose]();
    {
      using database = new SqliteFile(layoutOf(directory.path).database);
      const meta = readMeta(database);
      assert.ok(meta);
      writeMeta(database, { ...meta, format: 9 });
    }
    assert.throws(() => repairStore(directory.path, { toRevision: 1, clock }), { reason: 'StoreTooNew' });
  });

  it('needs a store', async () => {
    await using directory = await scratchDirectory();
    assert.throws(() => repairStore(directory.path, { toRevision: 1, clock }), { reason: 'StoreMissing' });
  });
});
