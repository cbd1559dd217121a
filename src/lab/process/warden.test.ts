import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { processWorld } from '../../../test/support/process-world.ts';
import { scratchDirectory, until } from '../../../test/support/scratch.ts';
import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { leftovers } from './leftovers.ts';
import { signal } from './process-table.ts';
import { WARDEN_SCRIPT, Warden } from './warden.ts';

const options = () => ({
  identity: `test-${new SystemClock().uuid()}`,
  clock: new SystemClock(),
  log: SILENT_LOG,
});

const SKIP = process.platform !== 'linux' && 'what a process ignores is looked up in /proc';

function ignores(pid: number, number: number): boolean {
  const mask = /^SigIgn:\t(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
}

describe('the warden', () => {
  it('lab/P14: ends with the lab that ends in order, and touches nobody', async () => {
    const child = spawn('/bin/sleep', ['60'], { detached: true, stdio: 'ignore' });
    const warden = await Warden.start(options());
    const { pid = 0 } = warden;
    warden.add(child.pid ?? 0);
    await warden[Symbol.asyncDispose]();
    assert.equal(signal(pid, 0), false);
    assert.equal(child.exitCode ?? child.signalCode, null);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  });

  it('lab/P14: does not listen to signals that mean the lab', { skip: SKIP }, async () => {
    await using warden = await Warden.start(options());
    const { pid = 0 } = warden;
    await until(() => ignores(pid, constants.signals.SIGTERM), 'it has begun');
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) signal(-pid, name);
    warden.add(12_345_678);
    warden.delete(12_345_678);
    assert.equal(warden.pid, pid);
    assert.equal(signal(pid, 0), true);
  });

  it('lab/P14: is replaced when it dies, as often as that happens', async () => {
    await using warden = await Warden.start(options());
    for (let count = 0; count < 2; count++) {
      const { pid = 0 } = warden;
      signal(pid, 'SIGKILL');
      await until(() => warden.pid !== pid, 'there is another one');
    }
    assert.equal(signal(warden.pid ?? 0, 0), true);
  });

  it('lab/P14: tells the next one of all groups that live', async () => {
    await using scratch = await scratchDirectory();
    const told = join(scratch.path, 'told');
    const shell = join(scratch.path, 'shell');
    writeFileSync(shell, `#!/bin/sh\nexec cat >> ${told}\n`, { mode: 0o755 });
    const hears = (text: string) => until(() => existsSync(told) && readFileSync(told, 'utf8') === text, text);
    await using warden = await Warden.start({ ...options(), shell });
    warden.add(5);
    warden.add(6);
    warden.delete(5);
    warden.delete(7);
    await hears('add 5\nadd 6\ndel 5\n');
    signal(warden.pid ?? 0, 'SIGKILL');
    await hears('add 5\nadd 6\ndel 5\nadd 6\n');
  });

  it('lab/P14: that was just replaced can be ended', async () => {
    const warden = await Warden.start(options());
    signal(warden.pid ?? 0, 'SIGKILL');
    await warden[Symbol.asyncDispose]();
  });

  it('lab/P14: needs a shell, and says so', async () => {
    await assert.rejects(Warden.start({ ...options(), shell: '/no/such/shell' }), {
      reason: 'NoShell',
      message: /^the lab needs a shell to end its children when it dies: .*ENOENT/,
    });
  });
});

describe('a group that the warden was told of', { skip: SKIP }, () => {
  /** What `/proc/<pid>/stat` says of a process that began at this time. */
  const stat = (pid: number, start: number) =>
    `${pid} (a) S) S 1 ${pid} ${pid} ${Array.from({ length: 15 }, () => 0).join(' ')} ${start} 0 0\n`;

  /** Of nobody: no number of a process is so great. */
  const NOBODY = 2_147_483_646;

  /** The signal that ends a group whose first process began at 7 when the warden was told of it, and at `later` then. */
  async function endedBy(later: number) {
    await using scratch = await scratchDirectory();
    const child = spawn('/bin/sleep', ['60'], { detached: true, stdio: 'ignore' });
    const exited = once(child, 'exit');
    const { pid = 0 } = child;
    const [file, pipe] = [pid, NOBODY].map((number) => join(scratch.path, String(number), 'stat'));
    assert.ok(file !== undefined && pipe !== undefined);
    for (const path of [file, pipe]) mkdirSync(dirname(path));
    writeFileSync(file, stat(pid, 7));
    execFileSync('mkfifo', [pipe]);
    const identity = `test-${new SystemClock().uuid()}`;
    const programArguments = ['-c', WARDEN_SCRIPT, 'slipway-warden', identity, '', scratch.path];
    const warden = spawn('/bin/sh', programArguments, { stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = once(warden, 'exit');
    warden.stdin.write(`add ${pid}\nadd ${NOBODY}\ndel ${NOBODY}\n`);
    // It can be written when the warden comes to it, after it was told of the child.
    await writeFile(pipe, stat(NOBODY, 7));
    writeFileSync(file, stat(pid, later));
    warden.stdin.end();
    await ended;
    // Of two signals the first one tells.
    child.kill('SIGUSR1');
    const [, name] = await exited;
    return name as unknown;
  }

  it('lab/P14: is ended while its first process is the one of then', async () => {
    assert.equal(await endedBy(7), 'SIGTERM');
  });

  it('lab/P14: is left alone when its number is that of another process by now', async () => {
    assert.equal(await endedBy(8), 'SIGUSR1');
  });
});

describe('what is left of a lab', () => {
  it('lab/P16: is told by process and by directory', async () => {
    const identity = `test-${new SystemClock().uuid()}`;
    assert.deepEqual(await leftovers({ identity, directory: '/no/such/directory' }), []);
    const child = spawn('/bin/sleep', ['60'], { env: { SLIPWAY_LAB: identity }, stdio: 'ignore' });
    const found = await leftovers({ identity, directory: '/' });
    child.kill('SIGKILL');
    assert.deepEqual(found, [`process ${child.pid} of the lab still runs`, 'directory / still exists']);
  });

  it('lab/P16: makes the end of the lab fail, with the number of the process', async () => {
    const world = await processWorld();
    // Of this lab, but of no container: the host does not know it.
    const child = spawn('/bin/sleep', ['60'], { env: { SLIPWAY_LAB: world.identity }, stdio: 'ignore' });
    const message = `the lab has ended, but process ${child.pid} of the lab still runs`;
    const dispose = async () => world[Symbol.asyncDispose]();
    await assert.rejects(dispose, { reason: 'ProcessesLeft', message });
    child.kill('SIGKILL');
  });
});
