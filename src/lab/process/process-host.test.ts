import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  alive,
  type ProcessWorld,
  processWorld,
  type RecordedOutput,
  sh,
  startPrinting,
} from '../../../test/support/process-world.ts';
import { leftovers, openProcessTable } from './leftovers.ts';
import { type ProcessSpec, type RunningProcess, StartFailure } from './process-host.ts';

async function ran(world: ProcessWorld, argv: readonly string[], more: Partial<ProcessSpec> = {}) {
  const spec = world.spec(argv, more);
  const run = await world.host.start(spec);
  return { status: await run.exited, output: spec.output, run };
}

describe('a child', () => {
  it('lab/P1: is first in a session and a group of its own, and has no input', {
    skip: process.platform !== 'linux',
  }, async () => {
    await using world = await processWorld();
    const { output, run } = await ran(world, sh("cut -d' ' -f5,6 /proc/$$/stat; read -r line || echo end"));
    assert.equal(output.text(), `${run.pid} ${run.pid}\nend\n`);
  });

  it('lab/P7: is heard in full before its end is told', async () => {
    await using world = await processWorld();
    const { status, output } = await ran(world, sh('echo out; echo err >&2; printf tail; exit 3'));
    assert.deepEqual(status, { exitCode: 3 });
    assert.equal(output.text(), 'out\ntail');
    assert.equal(output.text('stderr'), 'err\n');
    assert.equal(output.ends, 1);
    assert.equal(world.host.live, 0);
  });

  it('lab/P7: may write bytes that are no text, and lines of a megabyte', async () => {
    await using world = await processWorld();
    const { output } = await ran(world, sh(String.raw`printf '\377\0\376'; head -c 1000000 /dev/zero`));
    assert.deepEqual(output.bytes(), Buffer.concat([Buffer.from([255, 0, 254]), Buffer.alloc(1_000_000)]));
  });

  const signals = [
    { name: 'SIGTERM', exitCode: 143 },
    { name: 'SIGKILL', exitCode: 137 },
    { name: 'SIGSEGV', exitCode: 139 },
    { name: 'SIGABRT', exitCode: 134 },
    { name: 'SIGINT', exitCode: 130 },
    { name: 'SIGHUP', exitCode: 129 },
  ];
  it('ends by any signal, with 128 and its number', async () => {
    await using world = await processWorld();
    for (const { name, exitCode } of signals) {
      const { status } = await ran(world, sh(`kill -s ${name.slice(3)} $$`));
      assert.deepEqual(status, { exitCode, signal: name });
    }
  });

  it('ends with what it left behind in its group, at once', async () => {
    await using world = await processWorld();
    const { run, pids } = await startPrinting(world, 'sleep 60 & echo $!; sleep 60 & echo $!; echo $$; exit 4', 3);
    assert.deepEqual(await run.exited, { exitCode: 4 });
    assert.deepEqual(await alive(pids), []);
  });

  it('lab/P4: ends with what left its group, at once', async () => {
    await using world = await processWorld();
    const escape = `setsid sh -c 'echo $$; : > "$TMPDIR/out"; exec sleep 60' &`;
    const script = `${escape} until [ -e "$TMPDIR/out" ]; do sleep 0.01; done; exit 0`;
    const { run, pids } = await startPrinting(world, script, 1);
    assert.deepEqual(await run.exited, { exitCode: 0 });
    assert.deepEqual(await alive(pids), []);
  });

  it('tells what it and all that it started use', async () => {
    await using world = await processWorld();
    const { run } = await startPrinting(world, 'while :; do :; done & echo $!; wait', 1);
    for (let cpuMs = 0; cpuMs < 20; ) ({ cpuMs } = await run.usage());
    assert.ok((await run.usage()).rssBytes > 100_000);
    await run.stop(0);
  });
});

describe('a start that fails', () => {
  interface Failure {
    readonly name: string;
    readonly argv: readonly string[];
    readonly more?: (directory: string) => Partial<ProcessSpec>;
    readonly exitCode: number;
    readonly message: RegExp;
  }
  const cases: readonly Failure[] = [
    {
      name: 'no such program',
      argv: ['no-such-program'],
      exitCode: 127,
      message: /^cannot run "no-such-program": no such program in PATH/,
    },
    {
      name: 'no such file',
      argv: ['/no/such/file'],
      exitCode: 127,
      message: /^cannot run \/no\/such\/file: no such file/,
    },
    {
      name: 'not executable',
      argv: ['./plain'],
      exitCode: 126,
      message: /plain: it is not executable \(mode 0644\)/,
    },
    { name: 'no first line', argv: ['./no-shebang'], exitCode: 126, message: /no-shebang: exec format error/ },
    {
      name: 'no interpreter',
      argv: ['./bad-shebang'],
      exitCode: 127,
      message: /bad-shebang: its interpreter does not exist/,
    },
    { name: 'a zero byte', argv: ['sh', '-c', 'a\0b'], exitCode: 126, message: /^cannot run sh: .*null bytes/ },
    { name: 'no command', argv: [], exitCode: 127, message: /the command is empty/ },
    {
      name: 'no working directory',
      argv: ['sh'],
      more: () => ({ workdir: '/no/such/directory' }),
      exitCode: 127,
      message: /^the working directory \/no\/such\/directory does not exist$/,
    },
    {
      name: 'a file as working directory',
      argv: ['sh'],
      more: (directory) => ({ workdir: join(directory, 'plain') }),
      exitCode: 127,
      message: /^the working directory .*plain is not a directory$/,
    },
  ];

  async function files(directory: string): Promise<void> {
    const add = async (name: string, text: string, mode: number) => {
      await writeFile(join(directory, name), text);
      await chmod(join(directory, name), mode);
    };
    await add('plain', '#!/bin/sh\n', 0o644);
    await add('no-shebang', 'echo hello\n', 0o755);
    await add('bad-shebang', '#!/no/such/interpreter\n', 0o755);
  }

  it('lab/P2: says which file and why, with the exit code of a shell, and takes no place', async () => {
    await using world = await processWorld({ maxChildren: 1 });
    await files(world.directory);
    for (const { name, argv, more, exitCode, message } of cases) {
      const spec = world.spec(argv, { workdir: world.directory, ...more?.(world.directory) });
      await assert.rejects(world.host.start(spec), (error) => {
        assert.ok(error instanceof StartFailure, name);
        assert.deepEqual([error.reason, error.exitCode], ['RunContainerError', exitCode], name);
        assert.match(error.message, message);
        return true;
      });
      assert.deepEqual([world.host.live, world.host.isFull, spec.output.ends], [0, false, 0], name);
    }
  });

  it('lab/P2: does not happen to a program that only the PATH of the container has', async () => {
    await using world = await processWorld();
    const bin = join(world.directory, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'own-program'), '#!/bin/sh\necho "$0 $1"\n', { mode: 0o755 });
    const { output } = await ran(world, ['own-program', 'x'], { env: { PATH: `/none:${bin}:/bin` } });
    assert.equal(output.text(), `${bin}/own-program x\n`);
  });
});

describe('the stop of a child', () => {
  it('lab/P4: is a request to the whole group first', async () => {
    await using world = await processWorld();
    const inner = `sh -c 'trap "echo inner; exit 0" TERM; echo $$; while :; do sleep 0.02; done' &`;
    const script = `trap 'wait; echo outer; exit 7' TERM; ${inner} wait`;
    const { run, output } = await startPrinting(world, script, 1);
    assert.deepEqual(await run.stop(10_000), { exitCode: 7 });
    assert.match(output.text(), /inner\nouter\n$/);
  });

  it('lab/P4: gives what is left of the group the rest of the grace', async () => {
    await using world = await processWorld();
    const inner = `sh -c 'trap "sleep 0.2; echo cleaned; exit 0" TERM; echo $$; while :; do sleep 0.02; done' &`;
    const script = `trap 'exit 0' TERM; ${inner} wait`;
    const { run, output } = await startPrinting(world, script, 1);
    assert.deepEqual(await run.stop(10_000), { exitCode: 0 });
    assert.match(output.text(), /cleaned\n$/);
  });

  it('lab/P4: ends by force what does not listen, after the grace', async () => {
    await using world = await processWorld();
    const { run, pids } = await startPrinting(world, 'trap "" TERM; echo $$; while :; do sleep 0.02; done', 1);
    assert.deepEqual(await run.stop(100), { exitCode: 137, signal: 'SIGKILL' });
    assert.deepEqual(await alive(pids), []);
  });

  it('lab/P4: reaches those who left by setsid, one after the other, with their own children', async () => {
    await using world = await processWorld();
    const escape = 'setsid sh -c \'trap "" TERM; echo $$; setsid sleep 60 & echo $!; wait\' & wait';
    const { run, pids } = await startPrinting(world, escape, 2);
    await run.stop(1000);
    assert.deepEqual(await alive(pids), []);
  });

  it('lab/P4: reaches those who also threw their environment away, while they had a parent', async () => {
    await using world = await processWorld();
    const script = "env -i setsid sh -c 'echo $$; exec sleep 60' & wait";
    const { run, pids } = await startPrinting(world, script, 1);
    await run.stop(1000);
    assert.deepEqual(await alive(pids), []);
  });

  it('lab/P4: may be asked for again, also with less time and when all is over', async () => {
    await using world = await processWorld();
    const { run } = await startPrinting(world, 'trap "" TERM; echo $$; while :; do sleep 0.02; done', 1);
    const first = run.stop(60_000);
    const second = run.stop(50);
    const want = { exitCode: 137, signal: 'SIGKILL' };
    assert.deepEqual(await Promise.all([first, second]), [want, want]);
    assert.deepEqual(await run.stop(60_000), want);
    assert.deepEqual(await run.stop(0), want);
  });

  it('lab/P5: does not wait for one that nobody reaps', async () => {
    await using world = await processWorld();
    const { run } = await startPrinting(world, 'sleep 0.01 & echo $!; exec sleep 60', 1);
    assert.equal((await run.stop(10_000)).exitCode, 143);
  });
});

describe('the host of all children', () => {
  it('lab/P12: refuses more than it may have, until one has ended', async () => {
    await using world = await processWorld({ maxChildren: 2 });
    const start = (): Promise<RunningProcess> => world.host.start(world.spec(sh('exec sleep 60')));
    const [first] = await Promise.all([start(), start()]);
    assert.deepEqual([world.host.isFull, world.host.live], [true, 2]);
    await assert.rejects(start(), {
      reason: 'CreateContainerError',
      message: 'the lab runs 2 children, the most that maxChildren allows',
    });
    await first?.stop(0);
    assert.equal(world.host.isFull, false);
    await start();
    // Probes have no place of their own.
    assert.equal((await world.host.execute(world.spec(sh('exit 0')), 1000)).exitCode, 0);
  });

  it('lab/P13: writes a child down before it says that it started', async () => {
    await using world = await processWorld();
    const run = await world.host.start(world.spec(sh('exec sleep 60'), { container: 'uid/main/3' }));
    const [line = ''] = (await readFile(join(world.directory, 'children.jsonl'), 'utf8')).split('\n');
    const table = await openProcessTable();
    assert.deepEqual(JSON.parse(line), {
      pgid: run.pid,
      startTime: await table.startTimeOf(run.pid),
      bootId: table.bootId,
      container: 'uid/main/3',
      lab: world.identity,
    });
  });

  it('lab/P13: ends a child that it cannot write down, and takes no place for it', async () => {
    await using world = await processWorld();
    const journal = join(world.directory, 'children.jsonl');
    await rm(journal);
    await mkdir(journal);
    const spec = world.spec(sh('exec sleep 60'));
    await assert.rejects(world.host.start(spec), { reason: 'CreateContainerError', message: /EISDIR/ });
    assert.deepEqual(await leftovers({ identity: world.identity }), []);
    assert.deepEqual([world.host.live, world.host.isFull], [0, false]);
    await rm(journal, { recursive: true });
  });

  it('keeps the short path to a directory as long as somebody runs in it', async () => {
    await using world = await processWorld();
    const spec = world.spec(sh('exec sleep 60'), { container: 'uid/main/0' });
    const { directory } = spec;
    const first = await world.host.start(spec);
    // A node that is switched off and on begins again while its old processes still end.
    const second = world.spec(sh('until [ -e "$OUT/go" ]; do sleep 0.02; done; cd "$HOME" && echo there'), {
      container: 'uid/main/1',
      directory,
      env: { OUT: directory },
    });
    const run = await world.host.start(second);
    await first.stop(0);
    await writeFile(join(directory, 'go'), '');
    await run.exited;
    assert.equal(second.output.text(), 'there\n');
    assert.deepEqual(await readdir(join(world.directory, 'c')), []);
  });

  it('lab/P15: kills all of one prefix at once', async () => {
    await using world = await processWorld();
    const start = (container: string) => world.host.start(world.spec(sh('trap "" TERM; sleep 60'), { container }));
    const [a, b] = [await start('uid-a/main/0'), await start('uid-b/main/0')];
    world.host.killAll('uid-a/');
    assert.deepEqual(await a.exited, { exitCode: 137, signal: 'SIGKILL' });
    assert.equal(world.host.live, 1);
    world.host.killAll();
    assert.deepEqual(await b.exited, { exitCode: 137, signal: 'SIGKILL' });
  });

  it('lab/P15: asks all at once at its end, then ends those that do not listen, and starts nothing more', async () => {
    const world = await processWorld({ stopGraceMs: 300 });
    const polite = await startPrinting(world, `trap 'exit 5' TERM; echo $$; while :; do sleep 0.02; done`, 1);
    const stubborn = await startPrinting(world, 'trap "" TERM; echo $$; while :; do sleep 0.02; done', 1);
    const escaped = await startPrinting(world, "setsid sh -c 'echo $$; exec sleep 60' & wait", 1);
    const starting = world.host.start(world.spec(sh('exec sleep 60')));
    const disposed = world[Symbol.asyncDispose]();
    await assert.rejects(world.host.start(world.spec(sh('exit 0'))), { message: 'the lab is ending' });
    await disposed;
    assert.equal((await polite.run.exited).exitCode, 5);
    assert.equal((await stubborn.run.exited).exitCode, 137);
    assert.equal((await (await starting).exited).exitCode, 143);
    assert.deepEqual(await alive([...polite.pids, ...stubborn.pids, ...escaped.pids]), []);
  });

  it('may be ended twice', async () => {
    const world = await processWorld();
    await world.host[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });
});

describe('the output of many', () => {
  it('lab/P7: is kept apart', async () => {
    await using world = await processWorld();
    const outputs: readonly RecordedOutput[] = await Promise.all(
      Array.from({ length: 10 }, async (_, at) => (await ran(world, sh(`echo ${at}; exit 0`))).output),
    );
    assert.deepEqual(
      outputs.map((output) => output.text()),
      Array.from({ length: 10 }, (_, at) => `${at}\n`),
    );
  });
});
