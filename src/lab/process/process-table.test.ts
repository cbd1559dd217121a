import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory, until } from '../../../test/support/scratch.ts';
import { LinuxProcessTable } from './linux-process-table.ts';
import { membersOf, type ProcessEntry, type ProcessTable, signal, withDescendants } from './process-table.ts';
import { PsProcessTable, psCarriers, psEntries, psUsage } from './ps-process-table.ts';

const IS_LINUX = process.platform === 'linux';
const HAS_PS = ['/bin/ps', '/usr/bin/ps'].some((file) => existsSync(file));

/** A program that runs until the end of the block. */
function running(
  env: Readonly<Record<string, string>>,
): Disposable & { readonly pid: number; readonly child: ChildProcess } {
  const child = spawn('/bin/sleep', ['60'], { env, detached: true, stdio: 'ignore' });
  return { pid: child.pid ?? 0, child, [Symbol.dispose]: () => child.kill('SIGKILL') };
}

const entry = (pid: number, parent: number, group = pid): ProcessEntry => ({ pid, parent, group, startTime: '1' });

/** The contract of both tables, on this machine. */
function tableConformance(open: () => Promise<ProcessTable>, leastCpuMs: number): void {
  it('lab/P5: knows a process, its group and its start time', async () => {
    using program = running({ MARK: 'a' });
    const table = await open();
    const found = (await table.entries()).find(({ pid }) => pid === program.pid);
    assert.equal(found?.group, program.pid);
    assert.equal(found?.parent, process.pid);
    assert.equal(found?.startTime, await table.startTimeOf(program.pid));
    assert.notEqual(found?.startTime, '');
  });

  it('lab/P5: does not know one that ended', async () => {
    using program = running({});
    const exited = once(program.child, 'exit');
    signal(program.pid, 'SIGKILL');
    await exited;
    const table = await open();
    assert.equal(await table.startTimeOf(program.pid), undefined);
    assert.ok(!(await table.entries()).some(({ pid }) => pid === program.pid));
  });

  it('lab/P4: finds a process by all of its variables, and by their whole values', async () => {
    using program = running({ LAB: 'lab-1', CONTAINER: 'u/c/1' });
    const table = await open();
    const find = async (...variables: readonly string[]) =>
      (await table.carrying(variables, await table.entries())).some(({ pid }) => pid === program.pid);
    assert.equal(await find('LAB=lab-1', 'CONTAINER=u/c/1'), true);
    assert.equal(await find('LAB=lab-1', 'CONTAINER=u/c/2'), false);
    assert.equal(await find('CONTAINER=u/c/'), false);
    assert.equal(await find('AB=lab-1'), false);
  });

  it('measures what processes use', async () => {
    const { cpuMs, rssBytes } = await (await open()).usageOf([process.pid]);
    assert.ok(cpuMs >= leastCpuMs, `${cpuMs} ms`);
    assert.ok(rssBytes > 10 * 1024 * 1024, `${rssBytes} bytes`);
    assert.deepEqual(await (await open()).usageOf([]), { cpuMs: 0, rssBytes: 0 });
  });
}

describe('the table of /proc', { skip: !IS_LINUX && 'only Linux has /proc' }, () => {
  tableConformance(async () => new LinuxProcessTable(), 10);

  it('lab/P5: leaves out what nobody reaped, and reads names that look like fields', async () => {
    await using scratch = await scratchDirectory();
    mkdirSync(join(scratch.path, 'sys/kernel/random'), { recursive: true });
    writeFileSync(join(scratch.path, 'sys/kernel/random/boot_id'), 'boot-1\n');
    const add = (pid: number, state: string) => {
      mkdirSync(join(scratch.path, String(pid)));
      const fields = `${state} 7 8 9 ${'0 '.repeat(7)}1 2 3 4 0 0 0 0 4711 0`;
      writeFileSync(join(scratch.path, String(pid), 'stat'), `${pid} (a) Z 1 (b) ${fields}\n`);
    };
    add(21, 'S');
    add(22, 'Z');
    add(23, 'X');
    const table = new LinuxProcessTable(scratch.path);
    assert.equal(table.bootId, 'boot-1');
    const found = (await table.entries()).map(({ pid, parent, group, startTime }) => ({
      pid,
      parent,
      group,
      startTime,
    }));
    assert.deepEqual(found, [{ pid: 21, parent: 7, group: 8, startTime: '4711' }]);
    assert.deepEqual(await table.usageOf([21, 99]), { cpuMs: 100, rssBytes: 0 });
  });

  it('does not take what it cannot read for an empty table', async () => {
    await using scratch = await scratchDirectory();
    mkdirSync(join(scratch.path, 'sys/kernel/random'), { recursive: true });
    writeFileSync(join(scratch.path, 'sys/kernel/random/boot_id'), 'boot-1\n');
    const table = new LinuxProcessTable(scratch.path);
    // As when no more files can be opened.
    mkdirSync(join(scratch.path, '21/stat'), { recursive: true });
    await assert.rejects(table.entries(), { code: 'EISDIR' });
  });

  it('lab/P5: leaves out a real zombie', async () => {
    // The program that takes the place of the shell does not know that it has a child.
    const child = spawn('/bin/sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'], { detached: true });
    const [line] = await once(child.stdout, 'data');
    const zombie = Number(String(line));
    await until(() => readFileSync(`/proc/${zombie}/stat`, 'utf8').includes(') Z '), 'it is a zombie');
    const found = (await new LinuxProcessTable().entries()).some(({ pid }) => pid === zombie);
    signal(-(child.pid ?? 0), 'SIGKILL');
    assert.equal(found, false);
  });
});

describe('the table of ps', { skip: !HAS_PS && 'the program ps (procps) is not installed' }, () => {
  // Some print whole seconds only.
  tableConformance(() => PsProcessTable.open(), 0);

  it('lab/P5: leaves out zombies', () => {
    const text = '    1     0     1 Ss   Sun Nov 15 22:58:55 2026\n  7 1 7 Z+  Mon Nov 16 01:02:03 2026\n\n';
    assert.deepEqual(psEntries(text), [{ pid: 1, parent: 0, group: 1, startTime: 'Sun Nov 15 22:58:55 2026' }]);
  });

  it('lab/P4: reads variables after the command', () => {
    const text = '  12 sleep 60 A=1 SLIPWAY_LAB=x\n  13 sleep 60 SLIPWAY_LAB=xy A=1\n14 sleep SLIPWAY_LAB=x A=2\n';
    assert.deepEqual([...psCarriers(text, ['SLIPWAY_LAB=x', 'A=1'])], [12]);
  });

  const times = [
    { text: '100 0:01.50', want: { rssBytes: 102_400, cpuMs: 1500 } },
    { text: '0 01:02:03', want: { rssBytes: 0, cpuMs: 3_723_000 } },
    { text: '1 2-00:00:01\n2 00:01', want: { rssBytes: 3072, cpuMs: 172_802_000 } },
    { text: '', want: { rssBytes: 0, cpuMs: 0 } },
  ];
  for (const { text, want } of times) {
    it(`reads "${text.replace('\n', '; ')}"`, () => assert.deepEqual(psUsage(text), want));
  }
});

describe('the members of a family', () => {
  it('lab/P4: are those of the group, those who carry its name, those known before, and all that they started', async () => {
    const entries = [
      entry(10, 1),
      entry(11, 10, 10),
      entry(12, 1),
      entry(13, 12),
      entry(14, 13),
      entry(15, 1),
      entry(16, 1),
      entry(17, 1),
    ];
    const table: ProcessTable = {
      bootId: 'b',
      entries: async () => entries,
      startTimeOf: async () => '1',
      carrying: async (_, among) => among.filter(({ pid }) => pid === 12),
      usageOf: async () => ({ cpuMs: 0, rssBytes: 0 }),
    };
    const known = [entry(15, 10), { ...entry(16, 10), startTime: '0' }];
    const members = await membersOf(table, { group: 10, variables: ['X=1'], known });
    assert.deepEqual(
      members.map(({ pid }) => pid).toSorted((a, b) => a - b),
      [10, 11, 12, 13, 14, 15],
    );
  });

  it('lab/P4: never hold this process itself, whatever its group', async () => {
    const table: ProcessTable = {
      bootId: 'b',
      entries: async () => [entry(process.pid, 1, 10), entry(10, 1)],
      startTimeOf: async () => '1',
      carrying: async (_, among) => among,
      usageOf: async () => ({ cpuMs: 0, rssBytes: 0 }),
    };
    assert.deepEqual(
      (await membersOf(table, { group: 10, variables: [] })).map(({ pid }) => pid),
      [10],
    );
  });

  it('lab/P5: are not those of a stranger who got the number of a first process that was reaped', async () => {
    const tableOf = (entries: readonly ProcessEntry[]): ProcessTable => ({
      bootId: 'b',
      entries: async () => entries,
      startTimeOf: async () => '1',
      carrying: async (_, among) => among.filter(({ pid }) => pid === 12),
      usageOf: async () => ({ cpuMs: 0, rssBytes: 0 }),
    });
    const family = { group: 10, variables: ['X=1'], isReaped: true };
    const pids = async (...entries: ProcessEntry[]) =>
      (await membersOf(tableOf(entries), family)).map(({ pid }) => pid);
    assert.deepEqual(await pids(entry(11, 1, 10), entry(12, 1)), [11, 12], 'the number is kept by who is left');
    assert.deepEqual(await pids(entry(10, 1, 10), entry(11, 10, 10), entry(12, 1)), [12]);
  });

  it('are found once each, even in a circle', () => {
    const entries = [entry(2, 3), entry(3, 2), entry(4, 4)];
    assert.deepEqual(
      withDescendants(entries, entries.slice(0, 1)).map(({ pid }) => pid),
      [2, 3],
    );
  });
});

describe('a signal', () => {
  it('lab/P4: to somebody who is gone is no error', async () => {
    using program = running({});
    const exited = once(program.child, 'exit');
    assert.equal(signal(-program.pid, 'SIGKILL'), true);
    await exited;
    assert.equal(signal(-program.pid, 'SIGKILL'), false);
  });

  it('to somebody else counts as received, so that nobody takes him for gone', (t) => {
    t.mock.method(process, 'kill', () => {
      throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' });
    });
    assert.equal(signal(1, 0), true);
  });
});
