import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type FileLock, tryFileLock } from './file-lock.ts';
import { processIdentity } from './process-identity.ts';

/** Process ids end far below: 2^22 is the most that Linux gives out. */
const DEAD = JSON.stringify({ id: 'x', process: { pid: 2 ** 30 }, notes: {} });

describe('a lock file', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'slipway-lock-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = (): string => join(folder, 'a.lock');

  function acquired(notes?: Readonly<Record<string, string>>): FileLock {
    const attempt = tryFileLock(file(), notes);
    assert.equal(attempt.state, 'acquired');
    return attempt.lock;
  }

  it('is there while it is held, and nothing is left beside it', () => {
    {
      using _ = acquired();
      assert.deepEqual(readdirSync(folder), ['a.lock']);
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  it('is refused to everybody else, also in the same process, with the holder and its notes', () => {
    using _ = acquired({ since: 'today' });
    assert.deepEqual(tryFileLock(file(), { since: 'later' }), {
      state: 'held',
      holder: { process: processIdentity(process.pid), liveness: 'alive', notes: { since: 'today' } },
    });
  });

  it('says something else once the holder has changed its notes, and is still given back', () => {
    {
      using lock = acquired({ since: 'today' });
      lock.annotate({ since: 'today', address: 'here' });
      const attempt = tryFileLock(file());
      assert.equal(attempt.state, 'held');
      assert.deepEqual(attempt.holder.notes, { since: 'today', address: 'here' });
      assert.deepEqual(readdirSync(folder), ['a.lock']);
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  const own = { ...processIdentity(process.pid), pid: process.pid };
  const abandoned = [
    { name: 'of a process that is no more', text: DEAD },
    {
      name: 'of an earlier process with our number',
      text: JSON.stringify({ process: { ...own, bootId: 'before the reboot' } }),
    },
    { name: 'that is empty', text: '' },
    { name: 'that holds something else', text: '{"process":{"pid":"all of them"}}' },
    { name: 'that holds nothing', text: 'null' },
  ];
  for (const { name, text } of abandoned) {
    it(`${name} is taken over, once`, () => {
      writeFileSync(file(), text);
      using _ = acquired();
      assert.equal(tryFileLock(file()).state, 'held');
      assert.deepEqual(readdirSync(folder), ['a.lock']);
    });
  }

  it('is taken over also when another was killed in the middle of taking it over', () => {
    writeFileSync(file(), DEAD);
    writeFileSync(`${file()}.takeover`, DEAD);
    using _ = acquired();
    assert.deepEqual(readdirSync(folder), ['a.lock']);
  });

  it('is left to whoever is taking it over right now', () => {
    writeFileSync(file(), DEAD);
    const text = JSON.stringify({ process: own, notes: { since: 'now' } });
    writeFileSync(`${file()}.takeover`, text);
    const attempt = tryFileLock(file());
    assert.equal(attempt.state, 'held');
    assert.deepEqual(attempt.holder.notes, { since: 'now' });
    assert.equal(readFileSync(file(), 'utf8'), DEAD);
  });

  it('of another container is not taken over', { skip: own.pidNamespace === undefined }, () => {
    const text = JSON.stringify({ process: { ...own, pidNamespace: 'pid:[1]' }, notes: 'none' });
    writeFileSync(file(), text);
    const attempt = tryFileLock(file());
    assert.equal(attempt.state, 'held');
    assert.equal(attempt.holder.liveness, 'elsewhere');
    assert.deepEqual(attempt.holder.notes, {});
  });

  it('that was replaced by hand is not removed by its former holder', () => {
    {
      using _ = acquired();
      writeFileSync(file(), DEAD);
    }
    assert.equal(readFileSync(file(), 'utf8'), DEAD);
  });

  it('cannot be taken where there is no folder, or a folder in its place', () => {
    assert.throws(() => tryFileLock(join(folder, 'absent', 'a.lock')), { code: 'ENOENT' });
    mkdirSync(file());
    assert.throws(() => tryFileLock(file()), { code: 'EISDIR' });
    assert.deepEqual(readdirSync(folder), ['a.lock']);
  });
});
