import assert from 'node:assert/strict';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { CONFIG_MAPS, contentOf, openTestStore, recordedLog, rendered } from '../../../test/support/store.ts';
import { HighWaterMark } from './high-water-mark.ts';
import { type Layout, layoutOf } from './layout.ts';
import { StoreDamaged } from './refusal.ts';
import { SqliteFile } from './sqlite-file.ts';
import type { Store } from './store.ts';

const bytesOf = (file: string) => (existsSync(file) ? readFileSync(file) : undefined);
const allBytes = ({ database, wal, mark }: Layout) => [database, wal, mark].map(bytesOf);

/** What is left of a running store when its process is killed at this moment. */
function killed(from: string, to: string): string {
  mkdirSync(to);
  const [source, target] = [layoutOf(from), layoutOf(to)];
  for (const name of ['database', 'wal', 'mark'] as const) {
    if (existsSync(source[name])) copyFileSync(source[name], target[name]);
  }
  return to;
}

async function fill(store: Store, count: number): Promise<void> {
  for (let at = 1; at <= count; at++)
    await store.put(`${CONFIG_MAPS}ns/${at}`, 0, rendered(`data of ${at} `.repeat(at)));
}

async function closedStore(directory: string, count: number): Promise<readonly string[]> {
  const store = await openTestStore(directory);
  await fill(store, count);
  const content = contentOf(store);
  await store[Symbol.asyncDispose]();
  return content;
}

function flipBit(file: string, byte: number): void {
  const bytes = readFileSync(file);
  bytes.writeUInt8(bytes.readUInt8(byte) ^ 4, byte);
  writeFileSync(file, bytes);
}

/** Changes the third object wherever it is in the file: pages keep copies of what was moved away. */
function garble(file: string): void {
  writeFileSync(file, readFileSync(file, 'latin1').replaceAll('data of 3 ', 'dbta of 3 '), 'latin1');
}

describe('a damaged store', () => {
  it('reliability/D11: is refused with file, byte, revision and the repair command', async () => {
    await using directory = await scratchDirectory();
    await closedStore(directory.path, 100);
    const layout = layoutOf(directory.path);
    garble(layout.database);
    const before = allBytes(layout);
    const start = readFileSync(layout.database).lastIndexOf('{"metadata":{"resourceVersion":"4"}');
    await assert.rejects(openTestStore(directory.path), {
      reason: 'StoreDamaged',
      message:
        `store damaged: ${layout.database} at byte ${start}: checksum mismatch in record 3 (revision 4). Nothing was ` +
        `changed. To keep everything up to revision 3 run: slipway apiserver repair --data ${directory.path} ` +
        '--to-revision 3 (a copy is kept)',
    });
    assert.deepEqual(allBytes(layout).slice(0, 1), before.slice(0, 1));
    await assert.rejects(openTestStore(directory.path), StoreDamaged, 'a second attempt says the same');
  });

  it('reliability/P4: is refused unless it holds exactly what was stored, whichever bit is flipped', async () => {
    await using directory = await scratchDirectory();
    const content = await closedStore(directory.path, 30);
    const layout = layoutOf(directory.path);
    const good = readFileSync(layout.database);
    let refused = 0;
    for (let byte = 1; byte < good.length; byte += Math.ceil(good.length / 60)) {
      flipBit(layout.database, byte);
      const damaged = readFileSync(layout.database);
      try {
        await using store = await openTestStore(directory.path);
        assert.deepEqual(contentOf(store), content, `byte ${byte}`);
      } catch (error) {
        assert.ok(error instanceof StoreDamaged, `byte ${byte}: ${String(error)}`);
        assert.deepEqual(readFileSync(layout.database), damaged);
        refused++;
      }
      rmSync(layout.wal, { force: true });
      rmSync(layout.walIndex, { force: true });
      writeFileSync(layout.database, good);
    }
    assert.ok(refused > 20, `only ${refused} were refused`);
  });

  const tampered: readonly { name: string; sql: string; message: RegExp }[] = [
    {
      name: 'a revision is missing',
      sql: 'DELETE FROM log WHERE rev = 20',
      message: /: revision 20 is missing\./,
    },
    {
      name: 'an old record is missing',
      sql: 'DELETE FROM log WHERE rev = 5',
      message: /9 records .* 8 are there\./,
    },
    {
      name: 'old records are not those that were written',
      sql: 'UPDATE log SET rev = 1 WHERE rev = 5; UPDATE log SET checksum = 0 WHERE rev = 1',
      message: /checksum mismatch in record 1 \(revision 1\)\./,
    },
    {
      name: 'the end is missing',
      sql: 'DELETE FROM log WHERE rev > 28',
      message: /ends at revision 28, but revision 31 was/,
    },
    {
      name: 'the description is wrong',
      sql: 'UPDATE meta SET checksum = 1',
      message: /the description of the store\./,
    },
    { name: 'the description is gone', sql: 'DELETE FROM meta', message: /the description of the store\./ },
    { name: 'a table is gone', sql: 'DROP TABLE log', message: /no such table: log\./ },
    { name: 'it is no write-ahead log', sql: 'PRAGMA journal_mode = DELETE', message: /journal mode is delete/ },
  ];
  for (const { name, sql, message } of tampered) {
    it(`is refused when ${name}`, async () => {
      await using directory = await scratchDirectory();
      const store = await openTestStore(directory.path);
      await fill(store, 30);
      await store.compact(10);
      await store[Symbol.asyncDispose]();
      {
        using database = new SqliteFile(layoutOf(directory.path).database);
        database.execute(sql);
      }
      await assert.rejects(openTestStore(directory.path), (error: Error) => {
        assert.ok(error instanceof StoreDamaged);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it('is refused when the database is gone or is another one, or the mark is gone or damaged', async () => {
    await using directory = await scratchDirectory();
    const [one, two] = [join(directory.path, 'one'), join(directory.path, 'two')];
    await closedStore(one, 3);
    await closedStore(two, 3);
    const layout = layoutOf(one);
    const [good, mark] = [readFileSync(layout.database), readFileSync(layout.mark)];
    const refusal = async (message: RegExp) => {
      await assert.rejects(openTestStore(one), message);
    };
    rmSync(layout.database);
    await refusal(/store\.db: the file is missing\./);
    copyFileSync(layoutOf(two).database, layout.database);
    await refusal(/store\.mark: it belongs to another store than/);
    writeFileSync(layout.database, good);
    flipBit(layout.mark, 25);
    await refusal(/store\.mark at byte 0: checksum mismatch\./);
    rmSync(layout.mark);
    await refusal(/store\.mark: the file is missing\./);
    writeFileSync(layout.mark, mark);
    flipBit(layout.mark, 512 + 25);
    await (await openTestStore(one))[Symbol.asyncDispose]();
  });

  it('reliability/D11: is refused with a command that works when nothing can be kept', async () => {
    await using directory = await scratchDirectory();
    await closedStore(directory.path, 3);
    const { database } = layoutOf(directory.path);
    writeFileSync(database, 'this is no database'.repeat(500));
    await assert.rejects(openTestStore(directory.path), {
      message:
        `store damaged: ${database}: file is not a database. Nothing was changed. There is nothing before the damage to ` +
        'keep: restore a backup, choose another --data, or begin with an empty store: ' +
        `slipway apiserver repair --data ${directory.path} --to-revision 0 (a copy is kept)`,
    });
  });

  it('would be served if rows were not checked, which is the mistake that the tests above find', async () => {
    await using directory = await scratchDirectory();
    await closedStore(directory.path, 10);
    const { database } = layoutOf(directory.path);
    garble(database);
    await using store = await openTestStore(directory.path, { bugs: new Set(['unchecked-rows'] as const) });
    assert.match(contentOf(store).join(), /dbta of 3/);
  });
});

describe('the end of the write-ahead log', () => {
  /** Twenty acknowledged writes, and one that was written but neither synced nor acknowledged. */
  async function interrupted(directory: string): Promise<{ image: string; content: readonly string[] }> {
    const image = join(directory, 'image');
    let content: readonly string[] = [];
    let isLast = false;
    const onPoint = (point: string) => {
      if (!isLast || point !== 'before-sync') return;
      content = contentOf(store);
      killed(join(directory, 'running'), image);
    };
    await using store = await openTestStore(join(directory, 'running'), { onPoint });
    await fill(store, 20);
    isLast = true;
    await store.put(`${CONFIG_MAPS}ns/unacknowledged`, 0, rendered('x'.repeat(9000)));
    return { image, content };
  }

  it('reliability/P2: is cut with one warning wherever a write that nobody was told of is torn', async () => {
    await using directory = await scratchDirectory();
    const { image, content } = await interrupted(directory.path);
    const { wal } = layoutOf(image);
    const { size } = { size: readFileSync(wal).length };
    for (let bytes = 1; bytes < 3 * 4120; bytes += 601) {
      const torn = killed(image, join(directory.path, `torn-${bytes}`));
      truncateSync(layoutOf(torn).wal, size - bytes);
      const { log, lines } = recordedLog();
      const store = await openTestStore(torn, { log });
      assert.deepEqual(contentOf(store), content, `${bytes} bytes less`);
      assert.ok(
        lines.length <= 1 && (bytes % 4120 === 0 || lines.length === 1),
        `${bytes}: ${lines.length} lines`,
      );
      await store[Symbol.asyncDispose]();
      const quiet = recordedLog();
      await using _ = await openTestStore(torn, { log: quiet.log });
      assert.deepEqual(quiet.lines, []);
    }
  });

  it('holds the write whole when it was not torn', async () => {
    await using directory = await scratchDirectory();
    const { image } = await interrupted(directory.path);
    await using store = await openTestStore(image);
    assert.deepEqual([store.revision, store.count('')], [22, 21]);
  });

  const tails: readonly { name: string; change: (wal: string) => void }[] = [
    { name: 'random bytes', change: (wal) => appendFileSync(wal, Buffer.alloc(5000, 'garbage')) },
    { name: 'a piece of a frame', change: (wal) => appendFileSync(wal, 'rest') },
    { name: 'an old frame', change: (wal) => appendFileSync(wal, readFileSync(wal).subarray(32, 32 + 4120)) },
  ];
  for (const { name, change } of tails) {
    it(`is cut where ${name} follow${name.startsWith('random') ? '' : 's'}`, async () => {
      await using directory = await scratchDirectory();
      await using running = await openTestStore(join(directory.path, 'running'));
      await fill(running, 5);
      const image = killed(join(directory.path, 'running'), join(directory.path, 'image'));
      change(layoutOf(image).wal);
      const { log, lines } = recordedLog();
      await using store = await openTestStore(image, { log });
      assert.deepEqual(contentOf(store), contentOf(running));
      assert.deepEqual(
        lines.map(({ level, fields }) => [level, fields['revision']]),
        [['warn', 6]],
      );
    });
  }

  it('is refused, not cut, where it was acknowledged', async () => {
    await using directory = await scratchDirectory();
    await using running = await openTestStore(join(directory.path, 'running'));
    await fill(running, 5);
    const image = killed(join(directory.path, 'running'), join(directory.path, 'image'));
    const layout = layoutOf(image);
    const size = readFileSync(layout.wal).length;
    flipBit(layout.wal, size - 10);
    const before = allBytes(layout);
    const message = `store damaged: ${layout.wal} at byte ${size - 4120}: it ends at revision 5, but revision 6 was acknowledged.`;
    await assert.rejects(openTestStore(image), (error: Error) => error.message.startsWith(message));
    assert.deepEqual(allBytes(layout), before, 'no byte is changed');
    flipBit(layout.wal, 8);
    await assert.rejects(openTestStore(image), StoreDamaged, 'nor is a log without its head');
  });

  it('does not matter when only zeros or an earlier round follow', async () => {
    await using directory = await scratchDirectory();
    const running = await openTestStore(join(directory.path, 'running'));
    await fill(running, 3);
    const image = killed(join(directory.path, 'running'), join(directory.path, 'image'));
    appendFileSync(layoutOf(image).wal, Buffer.alloc(10_000));
    const { log, lines } = recordedLog();
    await using store = await openTestStore(image, { log });
    assert.deepEqual([lines.length, store.revision], [0, 4]);
    await running[Symbol.asyncDispose]();
  });
});

describe('a store that was never finished', () => {
  it('starts anew when the power went before its first mark', async () => {
    await using directory = await scratchDirectory();
    const first = await openTestStore(directory.path);
    await first[Symbol.asyncDispose]();
    const layout = layoutOf(directory.path);
    rmSync(layout.mark);
    writeFileSync(layout.draft, 'half a database');
    await using store = await openTestStore(directory.path);
    assert.deepEqual([store.revision, store.incarnation], [1, first.incarnation]);
    assert.ok(existsSync(layout.mark));
  });

  it('keeps the mark whole when a newer one was being written', async () => {
    await using directory = await scratchDirectory();
    const content = await closedStore(directory.path, 3);
    const layout = layoutOf(directory.path);
    writeFileSync(`${layout.mark}.draft`, 'half a mark');
    await using store = await openTestStore(directory.path);
    assert.deepEqual(contentOf(store), content);
    using mark = new HighWaterMark(layout, store.incarnation);
    mark.note(99);
    await store[Symbol.asyncDispose]();
  });
});
