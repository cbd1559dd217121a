import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory, until } from '../../../test/support/scratch.ts';
import { SystemClock } from '../../base/clock.ts';
import { SILENT_LOG } from '../../base/log.ts';
import { ChildJournal, type JournalEntry, killSurvivors } from './child-journal.ts';
import { openProcessTable } from './leftovers.ts';

const entry = (pgid: number, more: Partial<JournalEntry> = {}): JournalEntry => ({
  pgid,
  startTime: '1',
  bootId: 'boot-1',
  container: 'uid/main/0',
  lab: 'lab-1',
  ...more,
});

describe('the journal of children', () => {
  it('lab/P13: is read back as it was written, and an ended child is in it only until it is written anew', async () => {
    await using scratch = await scratchDirectory();
    const journal = new ChildJournal(scratch.path);
    assert.deepEqual(journal.read(), []);
    const [first, second] = [entry(10), entry(11)];
    journal.add(first);
    journal.add(second);
    journal.delete(first);
    assert.deepEqual(new ChildJournal(scratch.path).read(), [first, second]);
    journal.compact();
    assert.deepEqual(new ChildJournal(scratch.path).read(), [second]);
  });

  it('lab/P13: does not grow with every child that ever ran', async () => {
    await using scratch = await scratchDirectory();
    const journal = new ChildJournal(scratch.path);
    for (let pgid = 2; pgid < 2503; pgid++) {
      const child = entry(pgid);
      journal.add(child);
      journal.delete(child);
    }
    const lines = readFileSync(join(scratch.path, 'children.jsonl'), 'utf8').split('\n').length;
    assert.ok(lines <= 1003, `${lines} lines`);
  });

  it('lab/P13: skips lines that are cut off or could hit others', async () => {
    await using scratch = await scratchDirectory();
    const good = entry(10);
    const bad = [0, 1, -1, 1.5, '10'].map((pgid) => JSON.stringify({ ...good, pgid }));
    const lines = [
      '',
      'null',
      '{}',
      '[]',
      ...bad,
      JSON.stringify({ ...good, lab: 7 }),
      JSON.stringify(good),
      '{"pgid":1',
    ];
    writeFileSync(join(scratch.path, 'children.jsonl'), lines.join('\n'));
    assert.deepEqual(new ChildJournal(scratch.path).read(), [good]);
  });
});

/** What an earlier lab may have left, or somebody else. Ended with the block. */
function program(variables: Readonly<Record<string, string>>) {
  const child = spawn('/bin/sleep', ['60'], { env: variables, detached: true, stdio: 'ignore' });
  const exited = once(child, 'exit');
  return {
    pid: child.pid ?? 0,
    exited,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

describe('the survivors of an earlier life', () => {
  const options = async () => ({ table: await openProcessTable(), clock: new SystemClock(), log: SILENT_LOG });
  const marked = (container: string) => ({ SLIPWAY_LAB: 'lab-1', SLIPWAY_CONTAINER: container });

  it('lab/P13: are ended, by their group or by what they carry', async () => {
    using leader = program({});
    using escaped = program(marked('uid/escaped/0'));
    const { table, ...rest } = await options();
    const startTime = (await table.startTimeOf(leader.pid)) ?? '';
    const { bootId } = table;
    const entries = [
      entry(leader.pid, { startTime, bootId }),
      entry(2 ** 30, { bootId, container: 'uid/escaped/0' }),
    ];
    await killSurvivors(entries, { table, ...rest });
    await Promise.all([leader.exited, escaped.exited]);
  });

  it('lab/P13: are never strangers with the same number, of another boot, lab or container', async () => {
    using reused = program({});
    using otherBoot = program(marked('uid/boot/0'));
    using otherLab = program({ ...marked('uid/lab/0'), SLIPWAY_LAB: 'lab-2' });
    using otherRun = program(marked('uid/run/1'));
    using sentinel = program({});
    const { table, ...rest } = await options();
    const { bootId } = table;
    const startTime = async (pid: number) => (await table.startTimeOf(pid)) ?? '';
    const entries = [
      entry(reused.pid, { bootId, startTime: '1' }),
      entry(otherBoot.pid, { startTime: await startTime(otherBoot.pid), container: 'uid/boot/0' }),
      entry(otherLab.pid, { bootId, container: 'uid/lab/0' }),
      entry(otherRun.pid, { bootId, container: 'uid/run/0' }),
      entry(sentinel.pid, { bootId, startTime: await startTime(sentinel.pid) }),
    ];
    await killSurvivors(entries, { table, ...rest });
    // The last of the list is gone: all before it were judged.
    await until(() => sentinel.hasEnded(), 'the sentinel has ended');
    assert.deepEqual(
      [reused, otherBoot, otherLab, otherRun].map((other) => other.hasEnded()),
      [false, false, false, false],
    );
  });
});
