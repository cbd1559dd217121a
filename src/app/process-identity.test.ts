import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { isProcessIdentity, livenessOf, type ProcessIdentity, processIdentity } from './process-identity.ts';

const NO_PROC = '/no/proc/here';
const OWN = process.pid;

async function endedPid(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

describe('a process', () => {
  /** A /proc in which only our own process has a state: `start` is its 22nd field. */
  let proc = '';
  before(() => {
    proc = mkdtempSync(join(tmpdir(), 'slipway-proc-'));
    mkdirSync(join(proc, 'sys/kernel/random'), { recursive: true });
    writeFileSync(join(proc, 'sys/kernel/random/boot_id'), 'boot-1\n');
  });
  after(() => rmSync(proc, { recursive: true }));

  function state(letter: string, start: number): void {
    mkdirSync(join(proc, String(OWN)), { recursive: true });
    const before = `${letter} ${'0 '.repeat(18)}`;
    writeFileSync(join(proc, String(OWN), 'stat'), `${OWN} (a) Z (b) ${before}${start} 0\n`);
  }

  it('is known by its start time and boot, whatever its name is', () => {
    state('S', 4711);
    assert.deepEqual(processIdentity(OWN, proc), { pid: OWN, startTicks: 4711, bootId: 'boot-1' });
  });

  it('is told from a later one with the same id, and from one before the reboot', () => {
    state('S', 4711);
    assert.equal(livenessOf({ pid: OWN, startTicks: 4711, bootId: 'boot-1' }, proc), 'alive');
    assert.equal(livenessOf({ pid: OWN, startTicks: 4710, bootId: 'boot-1' }, proc), 'gone');
    assert.equal(livenessOf({ pid: OWN, startTicks: 4711, bootId: 'boot-0' }, proc), 'gone');
  });

  for (const letter of ['Z', 'X']) {
    it(`has ended in state ${letter}, though its number still answers`, () => {
      state(letter, 4711);
      assert.equal(processIdentity(OWN, proc), undefined);
      assert.equal(livenessOf({ pid: OWN, startTicks: 4711 }, proc), 'gone');
    });
  }

  it('of another namespace cannot be judged', { skip: processIdentity(OWN)?.pidNamespace === undefined }, () => {
    const own = processIdentity(OWN);
    assert.ok(own);
    assert.equal(livenessOf(own), 'alive');
    assert.equal(livenessOf({ ...own, pidNamespace: 'pid:[1]' }), 'elsewhere');
  });

  it('is known by its number alone where there is no /proc', async () => {
    assert.deepEqual(processIdentity(OWN, NO_PROC), { pid: OWN });
    assert.equal(livenessOf({ pid: OWN }, NO_PROC), 'alive');
    const pid = await endedPid();
    assert.equal(processIdentity(pid, NO_PROC), undefined);
    assert.equal(livenessOf({ pid }, NO_PROC), 'gone');
  });

  it('is compared by what both records say, when /proc came or went', () => {
    state('S', 4711);
    assert.equal(livenessOf({ pid: OWN }, proc), 'alive');
    assert.equal(livenessOf({ pid: OWN, startTicks: 1, bootId: 'boot-0' }, NO_PROC), 'alive');
  });

  it('of somebody else is alive, though we may not signal it', (t) => {
    t.mock.method(process, 'kill', () => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    assert.equal(livenessOf({ pid: 1 }, NO_PROC), 'alive');
  });

  it('is gone once it has ended', async () => {
    const identity: ProcessIdentity = { ...processIdentity(OWN), pid: await endedPid() };
    assert.equal(livenessOf(identity), 'gone');
  });
});

describe('a record of a process', () => {
  const cases = [
    { given: { pid: 7 }, want: true },
    { given: { pid: 7, startTicks: 1, bootId: 'b', pidNamespace: 'n' }, want: true },
    { given: { pid: 0 }, want: false },
    { given: { pid: -1 }, want: false },
    { given: { pid: '7' }, want: false },
    { given: { pid: 7, startTicks: '1' }, want: false },
    { given: { pid: 7, bootId: 1 }, want: false },
    { given: { pid: 7, pidNamespace: null }, want: false },
    { given: {}, want: false },
    { given: null, want: false },
    { given: 7, want: false },
  ];
  for (const { given, want } of cases) {
    it(`${want ? 'may be' : 'is not'} ${JSON.stringify(given)}`, () =>
      assert.equal(isProcessIdentity(given), want));
  }
});
