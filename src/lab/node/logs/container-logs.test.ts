import assert from 'node:assert/strict';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { scratchDirectory } from '../../../../test/support/scratch.ts';
import type { Pod } from '../../../api/generated/core-v1-types.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { SILENT_LOG } from '../../../base/log.ts';
import type { ContainerLog } from './container-log.ts';
import { ContainerLogs } from './container-logs.ts';
import type { LogOptions } from './log-options.ts';
import type { LogLimits } from './run-log.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1' },
  spec: { containers: [{ name: 'c' }] },
};
const target = { pod, container: 'c' };
const SMALL: LogLimits = { fileBytes: 2000, files: 3, queueBytes: 1024 * 1024 };

async function logRig(limits?: LogLimits) {
  const stack = new AsyncDisposableStack();
  const scratch = stack.use(await scratchDirectory());
  const root = await realpath(scratch.path);
  const clock = new VirtualClock({ start: new Date('2030-01-01T00:00:00Z') });
  const logs = stack.use(
    new ContainerLogs({ root, clock, log: SILENT_LOG, ...(limits !== undefined && { limits }) }),
  );
  const text = async (options: LogOptions = {}, run = 0) => {
    return (await bytesOf(logs.read(target, run, options))).toString();
  };
  /** Ends the log and waits until everything is in the file. */
  const ended = async (log: ContainerLog) => {
    log.end();
    await log.tail(1, 1);
  };
  return { root, clock, logs, text, ended, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const say = (log: ContainerLog, text: string, stream: 'stdout' | 'stderr' = 'stdout') =>
  log.write(stream, Buffer.from(text));

describe('logs of containers', () => {
  it('lab/N39: are files in the format of the container runtime interface, with a link to each', async () => {
    await using rig = await logRig();
    const log = await rig.logs.open(target, 0, 'f'.repeat(64));
    assert.equal(log.path, join(rig.root, 'var/log/pods/shop_web_u-1/c/0.log'));
    say(log, 'one\nt');
    say(log, 'oops\n', 'stderr');
    await rig.clock.advance(1500);
    say(log, 'wo\nunfinished');
    log.line('said by the lab');
    await rig.ended(log);
    assert.deepEqual((await readFile(log.path, 'utf8')).split('\n'), [
      '2030-01-01T00:00:00.000000000Z stdout F one',
      '2030-01-01T00:00:00.000000000Z stderr F oops',
      '2030-01-01T00:00:01.500000000Z stdout F two',
      '2030-01-01T00:00:01.500000000Z stdout F said by the lab',
      '2030-01-01T00:00:01.500000000Z stdout P unfinished',
      '',
    ]);
    const link = join(rig.root, `var/log/containers/web_shop_c-${'f'.repeat(64)}.log`);
    assert.equal(await readlink(link), '../pods/shop_web_u-1/c/0.log');
    assert.equal(await realpath(link), log.path);
    assert.equal(await rig.text(), 'one\noops\ntwo\nsaid by the lab\nunfinished');
  });

  it('lab/N39: give back every byte of long lines and of what is no text', async () => {
    await using rig = await logRig();
    const log = await rig.logs.open(target, 0);
    const bytes = Buffer.concat([
      Buffer.alloc(50_000, 'x'),
      Buffer.from('\n'),
      Buffer.from([0, 255, 10, 13, 10, 200]),
    ]);
    for (let at = 0; at < bytes.length; at += 7001) log.write('stdout', bytes.subarray(at, at + 7001));
    await rig.ended(log);
    const tags = (await readFile(log.path, 'latin1')).split('\n').map((line) => line.split(' ')[2]);
    assert.deepEqual(tags.slice(0, 4), ['P', 'P', 'P', 'F']);
    assert.deepEqual(await bytesOf(rig.logs.read(target, 0, {})), bytes);
  });

  it('lab/N39: begin a new file when one is full, and keep so many', async () => {
    await using rig = await logRig(SMALL);
    const log = await rig.logs.open(target, 0);
    for (let number = 0; number < 300; number++) {
      say(log, `line ${number}\n`);
      if (number % 10 === 9) await log.tail(1, 1);
    }
    await rig.ended(log);
    const names = (await readdir(dirname(log.path))).sort();
    assert.equal(names.length, 3);
    assert.match(names[1] ?? '', /^0\.log\.20300101-000000-\d{6}$/);
    for (const name of names) assert.ok((await stat(join(dirname(log.path), name))).size <= 2000, name);
    const lines = (await rig.text()).trimEnd().split('\n');
    const first = Number(lines[0]?.split(' ')[1]);
    assert.deepEqual(
      lines,
      Array.from({ length: 300 - first }, (_, index) => `line ${first + index}`),
    );
    assert.ok(first > 100 && first < 280, `the first line is ${first}`);
    // Over the borders of files.
    assert.equal(await rig.text({ tailLines: 60 }), `${lines.slice(-60).join('\n')}\n`);
  });

  it('lab/N39: go on where an earlier life ended', async () => {
    await using rig = await logRig(SMALL);
    const first = await rig.logs.open(target, 0);
    for (let number = 0; number < 50; number++) say(first, `a ${number}\n`);
    await rig.ended(first);
    const again = await rig.logs.open(target, 0);
    for (let number = 0; number < 50; number++) say(again, `b ${number}\n`);
    await rig.ended(again);
    const lines = (await rig.text()).trimEnd().split('\n');
    assert.equal(lines.at(-1), 'b 49');
    assert.ok(lines.includes('a 49'));
  });

  it('lab/N39: are kept of the last two runs, each with its link', async () => {
    await using rig = await logRig();
    for (const run of [0, 1, 2, 3]) {
      const log = await rig.logs.open(target, run);
      say(log, `run ${run}\n`);
      await rig.ended(log);
    }
    assert.deepEqual(await rig.logs.runs(target), [2, 3]);
    assert.equal(await rig.text({}, 3), 'run 3\n');
    assert.equal(await rig.text({}, 2), 'run 2\n');
    const directory = join(rig.root, 'var/log/containers');
    const links = await Promise.all((await readdir(directory)).map((name) => readlink(join(directory, name))));
    assert.deepEqual(links.sort(), ['../pods/shop_web_u-1/c/2.log', '../pods/shop_web_u-1/c/3.log']);
  });

  it('lab/N39: are those of this life when runs are counted anew, as of a static pod after a restart', async () => {
    await using rig = await logRig();
    for (const run of [7, 8]) await rig.ended(await rig.logs.open(target, run));
    for (const run of [0, 1]) {
      const log = await rig.logs.open(target, run);
      say(log, `run ${run}\n`);
      await rig.ended(log);
    }
    assert.deepEqual(await rig.logs.runs(target), [0, 1]);
    assert.equal(await rig.text({}, 0), 'run 0\n');
  });

  it('leave no file open when one of them cannot be read', {
    skip: process.platform !== 'linux' && 'only Linux tells which files are open',
  }, async () => {
    await using rig = await logRig(SMALL);
    const log = await rig.logs.open(target, 0);
    for (let number = 0; number < 3; number++) {
      say(log, `${'x'.repeat(1500)}\n`);
      await log.tail(1, 1);
    }
    await rig.ended(log);
    await rm(log.path);
    await symlink('0.log', log.path);
    assert.ok((await readdir(dirname(log.path))).length > 1);
    await assert.rejects(rig.text(), { code: 'ELOOP' });
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')),
    );
    assert.deepEqual(
      open.filter((path) => path.startsWith(dirname(log.path))),
      [],
    );
  });

  it('are removed when nobody knows their pod any more, and those of others are not', async () => {
    await using rig = await logRig();
    const other: Pod = { ...pod, metadata: { ...pod.metadata, uid: 'u-2' } };
    await rig.logs.open(target, 0);
    await rig.logs.open({ pod: other, container: 'c' }, 0);
    await mkdir(join(rig.root, 'var/log/pods/old_life_u-0/c'), { recursive: true });
    await rig.logs.keepOnly(new Set(['u-1', 'u-2']));
    assert.deepEqual((await readdir(join(rig.root, 'var/log/pods'))).sort(), ['shop_web_u-1', 'shop_web_u-2']);
    await rig.logs.keepOnly(new Set(['u-2']));
    assert.deepEqual(await readdir(join(rig.root, 'var/log/pods')), ['shop_web_u-2']);
    assert.equal((await readdir(join(rig.root, 'var/log/containers'))).length, 1);
    assert.deepEqual(await rig.logs.runs(target), []);
    assert.equal(await rig.text(), '');
  });

  it('fit into names of files whatever the pod is called', async () => {
    await using rig = await logRig();
    const name = 'n'.repeat(253);
    const long: Pod = { ...pod, metadata: { name, namespace: 'm'.repeat(63), uid: 'u-3' } };
    const log = await rig.logs.open({ pod: long, container: 'k'.repeat(63) }, 0);
    assert.ok(dirname(dirname(log.path)).endsWith('_u-3'));
    const evil: Pod = { ...pod, metadata: { name: '../../x', namespace: 'shop', uid: 'u' } };
    await assert.rejects(rig.logs.open({ pod: evil, container: 'c' }, 0), { reason: 'UnsafeName' });
  });

  describe('as they are read', () => {
    const lines = async (rig: Awaited<ReturnType<typeof logRig>>) => {
      const log = await rig.logs.open(target, 0);
      for (let number = 0; number < 5; number++) {
        say(log, `line ${number}\n`);
        await rig.clock.advance(1000);
      }
      await rig.ended(log);
    };
    for (const { name, options, want } of [
      { name: 'the last lines', options: { tailLines: 2 }, want: 'line 3\nline 4\n' },
      { name: 'no lines', options: { tailLines: 0 }, want: '' },
      {
        name: 'more lines than there are',
        options: { tailLines: 99 },
        want: 'line 0\nline 1\nline 2\nline 3\nline 4\n',
      },
      { name: 'so many bytes', options: { limitBytes: 10 }, want: 'line 0\nlin' },
      {
        name: 'what is younger',
        options: { since: new Date('2030-01-01T00:00:03Z') },
        want: 'line 3\nline 4\n',
      },
      {
        name: 'the younger of the last lines',
        options: { tailLines: 3, since: new Date('2030-01-01T00:00:04Z') },
        want: 'line 4\n',
      },
      {
        name: 'times',
        options: { tailLines: 1, timestamps: true },
        want: '2030-01-01T00:00:04.000000000Z line 4\n',
      },
    ]) {
      it(`lab/N40: show ${name}`, async () => {
        await using rig = await logRig();
        await lines(rig);
        assert.equal(await rig.text(options), want);
      });
    }
  });

  it('count a long line as one, and give it one time', async () => {
    await using rig = await logRig();
    const log = await rig.logs.open(target, 0);
    const long = 'y'.repeat(40_000);
    say(log, `first\n${long}\nlast`);
    await rig.ended(log);
    assert.equal(await rig.text({ tailLines: 2 }), `${long}\nlast`);
    const shown = await rig.text({ timestamps: true });
    assert.equal(shown.split('2030-01-01T').length, 4);
  });

  it('skip what is no entry, also a line without end', async () => {
    await using rig = await logRig();
    const log = await rig.logs.open(target, 0);
    say(log, 'good\n');
    await rig.ended(log);
    await appendFile(
      log.path,
      `garbage\n${'z'.repeat(300_000)}\n2030-01-01T00:00:09Z stdout F end\n2030-01-01T00:00:09Z st`,
    );
    assert.equal(await rig.text(), 'good\nend\n');
    assert.equal(await rig.text({ tailLines: 1 }), 'end\n');
    assert.equal(await rig.text({ since: new Date('2030-01-01T00:00:08Z') }), 'end\n');
  });

  it('lab/N41: are followed until the container ends, over all files', async () => {
    await using rig = await logRig(SMALL);
    const log = await rig.logs.open(target, 0);
    say(log, 'before\n');
    const reader = rig.logs.read(target, 0, { follow: true }).getReader();
    let text = '';
    const reading = (async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        text += Buffer.from(next.value).toString();
      }
    })();
    for (let number = 0; number < 200; number++) {
      say(log, `line ${number}\n`);
      if (number % 7 === 0) await log.tail(1, 1);
    }
    log.end();
    await reading;
    const want = ['before', ...Array.from({ length: 200 }, (_, number) => `line ${number}`), ''];
    assert.equal(text, want.join('\n'));
  });

  it('lab/N41: show a follower only what is new when it wants no old lines', async () => {
    await using rig = await logRig();
    const log = await rig.logs.open(target, 0);
    say(log, 'old\n');
    await log.tail(1, 1);
    const reader = rig.logs.read(target, 0, { follow: true, tailLines: 0 }).getReader();
    let text = '';
    const first = reader.read().then(({ value }) => {
      text = Buffer.from(value ?? []).toString();
    });
    // When the reader has found its place is its own matter: what comes after that is new.
    while (text === '') {
      say(log, 'new\n');
      await log.tail(1, 1);
    }
    await first;
    assert.match(text, /^(new\n)+$/);
    log.end();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      assert.match(Buffer.from(next.value).toString(), /^(new\n)+$/);
    }
  });

  it('lab/N41: free everything when the reader leaves, or somebody else ends it', async () => {
    await using rig = await logRig();
    const open = await openFiles();
    const log = await rig.logs.open(target, 0);
    say(log, 'text\n');
    await log.tail(1, 1);
    const left = rig.logs.read(target, 0, { follow: true }).getReader();
    await left.read();
    const waiting = left.read();
    await left.cancel();
    assert.equal((await waiting).done, true);
    const stop = new AbortController();
    const aborted = rig.logs.read(target, 0, { follow: true }, stop.signal).getReader();
    await aborted.read();
    const ending = aborted.read();
    stop.abort();
    assert.equal((await ending).done, true);
    const unread = rig.logs.read(target, 0, {});
    await unread.cancel();
    await rig.ended(log);
    assert.deepEqual(await openFiles(), open);
  });

  it('are read no faster than somebody takes them', async () => {
    await using rig = await logRig();
    const log = await rig.logs.open(target, 0);
    for (let number = 0; number < 40; number++) {
      say(log, `${'x'.repeat(9999)}\n`);
      if (number % 10 === 0) await log.drained();
    }
    await rig.ended(log);
    const sizes: number[] = [];
    for await (const chunk of rig.logs.read(target, 0, {})) sizes.push(chunk.length);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      400_000,
    );
    assert.ok(Math.max(...sizes) <= 128 * 1024, `pieces of up to ${Math.max(...sizes)} bytes`);
  });

  it('lab/N39: hold little in memory, and say what they dropped', async () => {
    await using rig = await logRig({ fileBytes: 1e8, files: 2, queueBytes: 10_000 });
    const log = await rig.logs.open(target, 0);
    // In one turn: the disk has no chance.
    const answers = Array.from({ length: 1000 }, (_, number) => say(log, `line ${number} ${'x'.repeat(80)}\n`));
    assert.ok(answers[0] === true && answers.at(-1) === false);
    await log.drained();
    say(log, 'after\n');
    await rig.ended(log);
    const shown = (await rig.text()).trimEnd().split('\n');
    const kept = shown.filter((line) => line.startsWith('line ')).length;
    assert.ok(kept > 10 && kept < 100, `${kept} lines kept`);
    const gap = `[slipway] ${1000 - kept} lines of this log were dropped: the disk did not take them in time`;
    assert.deepEqual(shown.slice(kept), [gap, 'after']);
  });

  it('go on when the disk takes nothing for a while', async () => {
    await using rig = await logRig(SMALL);
    const log = await rig.logs.open(target, 0);
    for (let number = 0; number < 40; number++) say(log, `line ${number}\n`);
    await log.tail(1, 1);
    // The next rotation fails: something else is where the directory was.
    await rm(dirname(log.path), { recursive: true });
    await writeFile(dirname(log.path), '');
    for (let number = 40; number < 60; number++) say(log, `line ${number}\n`);
    await log.tail(1, 1);
    await rm(dirname(log.path));
    await mkdir(dirname(log.path));
    say(log, 'back\n');
    await rig.ended(log);
    const gap = '[slipway] 20 lines of this log were dropped: the disk did not take them in time';
    assert.equal(await rig.text(), `${gap}\nback\n`);
  });

  it('lab/N39: tell the end of a run for its termination message', async () => {
    await using rig = await logRig();
    const log = await rig.logs.open(target, 0);
    for (let number = 0; number < 200; number++) say(log, `line ${number}\n`);
    say(log, 'panic: ü');
    log.end();
    assert.equal(await log.tail(3, 2048), 'line 198\nline 199\npanic: ü');
    assert.equal(await log.tail(80, 11), '9\npanic: ü');
    assert.equal(await log.tail(80, 0), '');
    // Whoever speaks after the end is not heard.
    log.line('late');
    assert.equal(log.write('stdout', Buffer.from('late\n')), true);
    assert.equal(await log.tail(1, 100), 'panic: ü');
  });
});

/** Files of logs that this process has open. */
async function openFiles(): Promise<readonly string[]> {
  const names = await readdir('/proc/self/fd').catch(() => []);
  const targets = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')));
  return targets.filter((path) => path.includes('/var/log/pods/'));
}
