import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { CommandError } from '../failures.ts';
import { acquireRunLock, type Holder, heldMessage, startTicks } from './run-lock.ts';

const NOW = new Date('2026-01-02T09:14:02.000Z');

describe('the lock of a data folder', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'slipway-lock-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const file = () => join(folder, '.slipway', 'up.lock');
  const acquire = () => acquireRunLock({ folder, data: join(folder, '.slipway'), now: () => NOW });
  const holder = (overrides: Partial<Holder>): Holder => ({
    pid: process.pid,
    ticks: startTicks(process.pid),
    since: NOW.toISOString(),
    ...overrides,
  });
  const leave = (content: unknown) => {
    acquire()[Symbol.dispose]();
    writeFileSync(file(), typeof content === 'string' ? content : JSON.stringify(content));
  };

  it('is given back at the end', () => {
    acquire()[Symbol.dispose]();
    assert.equal(existsSync(file()), false);
  });

  it('experience/X27: refuses a second start with exit code 3, naming the process', () => {
    using _lock = acquire();
    const isRefused = (error: unknown) =>
      error instanceof CommandError && error.exitCode === 3 && error.code === 'SW1102';
    assert.throws(acquire, isRefused);
    assert.throws(acquire, { message: heldMessage(holder({}), '.slipway') });
  });

  it('experience/X27: names the address of the running one', () => {
    using lock = acquire();
    lock.announce('http://127.0.0.1:7440/');
    assert.throws(acquire, /It is at http:\/\/127\.0\.0\.1:7440\/\. Stop it or choose another --data$/);
  });

  const stale = [
    {
      name: 'of a process that is no more',
      content: async () => holder({ pid: await endedProcess(), ticks: '1' }),
    },
    { name: 'of a process whose number went to another', content: async () => holder({ ticks: '1' }) },
    { name: 'that is empty', content: async () => '' },
    { name: 'that holds something else', content: async () => '{"pid":"all of them"}' },
  ];
  for (const { name, content } of stale) {
    it(`is taken over from a lock ${name}`, async () => {
      leave(await content());
      using _lock = acquire();
      assert.throws(acquire, CommandError);
      assert.deepEqual(readdirSync(join(folder, '.slipway')), ['up.lock'], 'nothing is left beside it');
    });
  }

  it('says in one sentence why a folder cannot be used', () => {
    writeFileSync(join(folder, 'file'), '');
    const acquireBelowFile = () => acquireRunLock({ folder, data: join(folder, 'file', 'data'), now: () => NOW });
    const message =
      'the data folder file/data cannot be written: a part of the path is a file. Choose another folder with --data, or give yourself this one';
    assert.throws(acquireBelowFile, { message, exitCode: 3, code: 'SW1103' });
  });
});

async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}
