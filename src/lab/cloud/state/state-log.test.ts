import assert from 'node:assert/strict';
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { crc32 } from 'node:zlib';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import { type Log, SILENT_LOG } from '../../../base/log.ts';
import { CloudError } from '../cloud-error.ts';
import type { Changeset } from './log-line.ts';
import { openState } from './state-log.ts';
import type { Tables } from './tables.ts';

const put = (key: string, value: object): Changeset => ({ put: { things: { [key]: value } }, del: {} });
const thingsOf = (tables: Tables) => Object.fromEntries(tables.all('things'));

/** Opens, does something, closes. */
function within<T>(
  directory: string,
  work: (opened: ReturnType<typeof openState>) => T,
  log: Log = SILENT_LOG,
): T {
  const opened = openState(directory, log);
  using _ = opened.log;
  return work(opened);
}

function write({ tables, log }: ReturnType<typeof openState>, changeset: Changeset): void {
  log.append(changeset);
  tables.apply(changeset);
}

describe('the state log', () => {
  it('gives back what was appended, after any number of starts', async () => {
    await using directory = await scratchDirectory();
    within(directory.path, (opened) => write(opened, put('a', { n: 1 })));
    within(directory.path, (opened) =>
      write(opened, { put: { things: { b: { n: 2 } } }, del: { things: ['a'] } }),
    );
    within(directory.path, ({ tables }) => assert.deepEqual(thingsOf(tables), { b: { n: 2 } }));
  });

  it('is readable by nobody else: secrets are in it', async () => {
    await using directory = await scratchDirectory();
    within(directory.path, () => undefined);
    assert.equal(statSync(join(directory.path, 'state.log')).mode & 0o777, 0o600);
  });

  it('reliability/P4: cuts a torn tail, says so once, and goes on after it', async () => {
    await using directory = await scratchDirectory();
    const file = join(directory.path, 'state.log');
    within(directory.path, (opened) => {
      write(opened, put('a', { n: 1 }));
      write(opened, put('b', { n: 2 }));
    });
    truncateSync(file, statSync(file).size - 3);
    const warnings: string[] = [];
    const log = { ...SILENT_LOG, warn: (_: object, message: string) => void warnings.push(message) };
    within(
      directory.path,
      (opened) => {
        assert.deepEqual(thingsOf(opened.tables), { a: { n: 1 } });
        write(opened, put('c', { n: 3 }));
      },
      log,
    );
    within(directory.path, ({ tables }) => assert.deepEqual(thingsOf(tables), { a: { n: 1 }, c: { n: 3 } }), log);
    assert.deepEqual(warnings, ['Cut a torn tail']);
  });

  it('reliability/P4: refuses damage before the end, names it, and leaves every byte', async () => {
    await using directory = await scratchDirectory();
    const file = join(directory.path, 'state.log');
    within(directory.path, (opened) => {
      write(opened, put('a', { n: 1 }));
      write(opened, put('b', { n: 2 }));
    });
    const bytes = readFileSync(file);
    const at = bytes.indexOf('"n":1');
    bytes[at + 4] = 0x39;
    writeFileSync(file, bytes);
    assert.throws(() => openState(directory.path, SILENT_LOG), {
      reason: 'CloudStateDamaged',
      message: new RegExp(`state\\.log is damaged at byte ${bytes.lastIndexOf('\n', at) + 1} \\(line 2\\)`),
    });
    assert.deepEqual(readFileSync(file), bytes);
  });

  it('refuses a log that a newer version has written', async () => {
    await using directory = await scratchDirectory();
    within(directory.path, () => undefined);
    const file = join(directory.path, 'state.log');
    const crc = crc32('{"format":2}').toString(16).padStart(8, '0');
    writeFileSync(file, `{"crc":"${crc}","tx":{"format":2}}\n`);
    assert.throws(() => openState(directory.path, SILENT_LOG), {
      reason: 'CloudStateFormat',
      message: /format 2; this is format 1/,
    });
  });

  it('reliability/P4: refuses a file that is no log, and leaves every byte; begins anew after half a first line', async () => {
    await using directory = await scratchDirectory();
    const file = join(directory.path, 'state.log');
    const foreign = 'somebody wrote this\n'.repeat(5);
    writeFileSync(file, foreign);
    assert.throws(() => openState(directory.path, SILENT_LOG), { reason: 'CloudStateFormat' });
    assert.equal(readFileSync(file, 'utf8'), foreign);
    writeFileSync(file, '{"crc":"12');
    within(directory.path, (opened) => write(opened, put('a', { n: 1 })));
    within(directory.path, ({ tables }) => assert.deepEqual(thingsOf(tables), { a: { n: 1 } }));
  });

  it('is written anew without what was overwritten, and says the same', async () => {
    await using directory = await scratchDirectory();
    const file = join(directory.path, 'state.log');
    within(directory.path, (opened) => {
      for (let n = 0; n < 200; n++) write(opened, put('a', { n, padding: 'x'.repeat(100) }));
      write(opened, put('b', { n: 1 }));
      write(opened, { put: {}, del: { things: ['b'] } });
      opened.log.compact();
      assert.ok(statSync(file).size < 500);
      write(opened, put('c', { n: 3 }));
    });
    within(directory.path, ({ tables }) => {
      assert.deepEqual([...tables.all('things').keys()], ['a', 'c']);
      assert.deepEqual(tables.get('things', 'a'), { n: 199, padding: 'x'.repeat(100) });
    });
  });

  it('compacts by itself when it has grown large over little', async () => {
    await using directory = await scratchDirectory();
    const file = join(directory.path, 'state.log');
    within(directory.path, (opened) => {
      for (let n = 0; n < 30; n++) {
        write(opened, put('a', { n, padding: 'x'.repeat(100_000) }));
        opened.log.compactIfLarge();
      }
    });
    assert.ok(statSync(file).size < 1_300_000, String(statSync(file).size));
  });

  it('forgets a compaction that was not finished', async () => {
    await using directory = await scratchDirectory();
    within(directory.path, (opened) => write(opened, put('a', { n: 1 })));
    writeFileSync(join(directory.path, 'state.log.next'), 'half a log');
    within(directory.path, ({ tables, log }) => {
      assert.deepEqual(thingsOf(tables), { a: { n: 1 } });
      log.compact();
    });
    within(directory.path, ({ tables }) => assert.deepEqual(thingsOf(tables), { a: { n: 1 } }));
  });

  it('lab/C3: says that a change was not stored when it cannot be written', async () => {
    await using directory = await scratchDirectory();
    const opened = openState(directory.path, SILENT_LOG);
    write(opened, put('a', { n: 1 }));
    opened.log[Symbol.dispose]();
    assert.throws(
      () => opened.log.append(put('b', { n: 2 })),
      (error) => error instanceof CloudError && error.code === 'Unavailable' && error.isRetryable,
    );
    assert.throws(() => opened.log.append(put('c', { n: 3 })), CloudError);
    within(directory.path, ({ tables }) => assert.deepEqual(thingsOf(tables), { a: { n: 1 } }));
  });
});
