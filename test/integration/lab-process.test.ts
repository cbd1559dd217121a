import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { LinuxProcessTable } from '../../src/lab/process/linux-process-table.ts';
import { WARDEN_SCRIPT } from '../../src/lab/process/warden.ts';
import { processWorld } from '../support/process-world.ts';
import { scratchDirectory, until, writeScript } from '../support/scratch.ts';

const SOURCE = (file: string): string => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href);
const SKIP = process.platform !== 'linux' && 'processes are looked up in /proc';
/** The warden gives children two seconds; the rest is for a busy machine. */
const GONE_MS = 10_000;

/** A program that is a lab: it starts what it is told and says what happened. */
const LAB = `
import { mkdirSync } from 'node:fs';
import { SystemClock } from ${SOURCE('base/clock.ts')};
import { SILENT_LOG } from ${SOURCE('base/log.ts')};
import { startProcessHost } from ${SOURCE('lab/process/start-process-host.ts')};
const { directory, identity, isolation, isEphemeral, scripts, isEnding } = JSON.parse(process.argv[2]);
const host = await startProcessHost({
  directory, identity, isolation, isEphemeral, real: new SystemClock(), log: SILENT_LOG,
});
const output = { write: (_, bytes) => process.stdout.write(bytes), drained: async () => {}, end: () => {} };
const runs = await Promise.all(scripts.map((script, at) => host.start({
  container: 'uid/c' + at + '/0', argv: ['sh', '-c', script], env: {}, directory: directory + '/n/' + at, mounts: [], output,
})));
await Promise.all(isEnding ? runs.map((run) => run.exited) : [new Promise(() => setInterval(() => {}, 1000))]);
await host[Symbol.asyncDispose]();
`;

interface LabOptions {
  readonly directory: string;
  readonly identity: string;
  readonly scripts: readonly string[];
  readonly isEphemeral?: boolean;
  readonly isEnding?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

async function startLab(scratch: string, { env = {}, ...options }: LabOptions): Promise<ChildProcess> {
  const program = await writeScript(scratch, 'lab.mjs', LAB);
  const given = { isEphemeral: true, isEnding: false, isolation: 'rewrite', ...options };
  return spawn(process.execPath, [program, JSON.stringify(given)], {
    env: { PATH: '/usr/bin:/bin', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const alive = async (): Promise<ReadonlySet<number>> =>
  new Set((await new LinuxProcessTable().entries()).map(({ pid }) => pid));

/** Numbers that the children print, one each line. */
async function printed(lab: ChildProcess, count: number): Promise<readonly number[]> {
  let output = '';
  lab.stdout?.on('data', (bytes) => {
    output += String(bytes);
  });
  const pids = () => output.split('\n').slice(0, -1).map(Number);
  await until(() => pids().length >= count, `${count} children run`);
  return pids();
}

async function untilGone(pids: readonly number[], timeoutMs: number): Promise<void> {
  const startedMs = performance.now();
  for (;;) {
    const now = await alive();
    const left = pids.filter((pid) => now.has(pid));
    if (left.length === 0) return;
    assert.ok(performance.now() - startedMs < timeoutMs, `after ${timeoutMs} ms still there: ${left.join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The processes whose command line has this text, such as the warden of a lab. */
const withArgument = (argument: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandLine(pid).includes(argument))
    .map(Number);

function commandLine(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

const CHILDREN = [
  'echo $$; exec sleep 600',
  'sleep 600 & echo $!; sleep 600 & echo $!; echo $$; wait',
  'trap "" TERM; echo $$; while :; do sleep 0.1; done',
  'setsid sh -c \'trap "" TERM; echo $$; while :; do sleep 0.1; done\' & echo $$; wait',
];
const PRINTED = 7;

describe('a lab that is killed', { skip: SKIP, concurrency: true }, () => {
  it('lab/P14: takes all its children with it, and its temporary directory', async () => {
    await using scratch = await scratchDirectory();
    const [directory, identity] = [join(scratch.path, 'lab'), `killed-${process.pid}`];
    const lab = await startLab(scratch.path, { directory, identity, scripts: CHILDREN });
    const pids = await printed(lab, PRINTED);
    lab.kill('SIGKILL');
    await once(lab, 'exit');
    await untilGone(pids, GONE_MS);
    await until(() => !existsSync(directory), 'the directory is gone', GONE_MS);
    await until(() => withArgument(identity).length === 0, 'the warden is gone', GONE_MS);
  });

  it('lab/P14: does so although its warden was killed before', async () => {
    await using scratch = await scratchDirectory();
    const [directory, identity] = [join(scratch.path, 'lab'), `orphan-${process.pid}`];
    const lab = await startLab(scratch.path, { directory, identity, scripts: CHILDREN });
    const pids = await printed(lab, PRINTED);
    const isWarden = (pid: number) => commandLine(String(pid)).includes('slipway-warden');
    const wardens = () => withArgument(identity).filter(isWarden);
    const [first = 0] = wardens();
    process.kill(first, 'SIGKILL');
    await until(() => wardens().some((pid) => pid !== first), 'there is another warden');
    lab.kill('SIGKILL');
    await untilGone(pids, GONE_MS);
    await until(() => !existsSync(directory), 'the directory is gone', GONE_MS);
  });

  it('lab/P14: keeps a directory that is not temporary', async () => {
    await using scratch = await scratchDirectory();
    const [directory, identity] = [join(scratch.path, 'lab'), `durable-${process.pid}`];
    const scripts = ['echo $$; exec sleep 600'];
    const lab = await startLab(scratch.path, { directory, identity, scripts, isEphemeral: false });
    const pids = await printed(lab, 1);
    lab.kill('SIGKILL');
    await untilGone(pids, GONE_MS);
    await until(() => withArgument(identity).length === 0, 'the warden is gone', GONE_MS);
    assert.equal(existsSync(join(directory, 'children.jsonl')), true);
  });

  it('lab/P13: leaves to the next one what its warden could not end', async () => {
    await using scratch = await scratchDirectory();
    const [directory, identity] = [join(scratch.path, 'lab'), `former-${process.pid}`];
    const durable = { directory, isEphemeral: false };
    const lab = await startLab(scratch.path, { ...durable, identity, scripts: CHILDREN });
    const pids = await printed(lab, PRINTED);
    lab.kill('SIGSTOP');
    for (const pid of withArgument(identity)) if (pid !== lab.pid) process.kill(pid, 'SIGKILL');
    lab.kill('SIGKILL');
    await once(lab, 'exit');
    const now = await alive();
    assert.deepEqual(
      pids.filter((pid) => !now.has(pid)),
      [],
    );
    const next = await startLab(scratch.path, {
      ...durable,
      identity: `${identity}-next`,
      scripts: ['echo 1'],
      isEnding: true,
    });
    await once(next, 'exit');
    await untilGone(pids, 0);
    assert.equal(readFileSync(join(directory, 'children.jsonl'), 'utf8'), '');
  });
});

describe('the script of the warden', { skip: SKIP, concurrency: true }, () => {
  for (const shell of ['/bin/dash', '/bin/bash', '/bin/sh'].filter((file) => existsSync(file))) {
    it(`lab/P14: ends the groups that it was told, and only those, with ${shell}`, async () => {
      await using scratch = await scratchDirectory();
      const directory = join(scratch.path, 'kept');
      mkdirSync(directory);
      // A mark of somebody else: the directory is not this lab's.
      writeFileSync(join(directory, '.slipway-ephemeral'), 'another');
      const sleeper = (env: Readonly<Record<string, string>>) =>
        spawn('/bin/sh', ['-c', 'trap "" TERM; sleep 600'], {
          detached: true,
          stdio: 'ignore',
          env: { PATH: '/bin:/usr/bin', ...env },
        });
      const identity = `script-${process.pid}-${shell.slice(5)}`;
      const [told, forgotten, escaped] = [sleeper({}), sleeper({}), sleeper({ SLIPWAY_LAB: identity })];
      const exits = Promise.all([once(told, 'exit'), once(escaped, 'exit')]);
      const warden = spawn(shell, ['-c', WARDEN_SCRIPT, 'slipway-warden', identity, directory], {
        stdio: ['pipe', 'ignore', 'pipe'],
      });
      const complaints = text(warden.stderr);
      warden.stdin.end(`add ${told.pid}\nadd ${forgotten.pid}\nadd 4194300\nnonsense\n\ndel ${forgotten.pid}\n`);
      await Promise.all([exits, once(warden, 'exit')]);
      assert.equal(await complaints, '');
      assert.equal(existsSync(directory), true);
      assert.equal(forgotten.exitCode ?? forgotten.signalCode, null);
      process.kill(-(forgotten.pid ?? 0), 'SIGKILL');
    });
  }
});

describe('the environment of children', () => {
  it('lab/P3: has nothing of the lab, whatever that has', async () => {
    await using scratch = await scratchDirectory();
    const secrets = {
      HTTP_PROXY: 'http://proxy:3128',
      NODE_OPTIONS: '--max-old-space-size=900',
      AWS_SECRET_ACCESS_KEY: 'secret',
      npm_config_registry: 'http://registry',
      NODE_V8_COVERAGE: join(scratch.path, 'coverage'),
      LD_LIBRARY_PATH: '/tmp',
      KUBECONFIG: '/home/me/.kube/config',
    };
    const options = { directory: join(scratch.path, 'lab'), identity: `leak-${process.pid}`, scripts: ['env'] };
    const lab = await startLab(scratch.path, { ...options, isEnding: true, env: secrets });
    assert.ok(lab.stdout);
    const lines = (await text(lab.stdout)).split('\n').filter((line) => line !== '');
    const names = lines
      .map((line) => line.split('=')[0] ?? '')
      .filter((name) => !['PWD', '_', 'OLDPWD', 'SHLVL'].includes(name));
    assert.deepEqual(names.toSorted(), ['HOME', 'LANG', 'PATH', 'SLIPWAY_CONTAINER', 'SLIPWAY_LAB', 'TMPDIR']);
    const leaked = Object.values(secrets).filter((value) => lines.some((line) => line.endsWith(`=${value}`)));
    assert.deepEqual(leaked, []);
  });
});

describe('a child that says a lot', () => {
  it('lab/P7: may write 100 MB: all of it is handed on', async () => {
    await using world = await processWorld();
    const spec = world.spec(['head', '-c', '100000000', '/dev/zero']);
    let bytes = 0;
    let largest = 0;
    const write = (_: string, chunk: Uint8Array) => {
      bytes += chunk.length;
      largest = Math.max(largest, chunk.length);
      return true;
    };
    const run = await world.host.start({ ...spec, output: { write, drained: async () => {}, end: () => {} } });
    await run.exited;
    assert.equal(bytes, 100_000_000);
    assert.ok(largest <= 1024 * 1024, `a piece of ${largest} bytes`);
  });

  it('lab/P7: is not held up by a log that takes nothing', async () => {
    await using world = await processWorld();
    const spec = world.spec(['head', '-c', '20000000', '/dev/zero']);
    const stuck = Promise.withResolvers<void>();
    let last = Buffer.alloc(0);
    const write = (_: string, chunk: Uint8Array) => {
      last = Buffer.from(chunk);
      return false;
    };
    const run = await world.host.start({
      ...spec,
      output: { write, drained: () => stuck.promise, end: () => {} },
    });
    assert.deepEqual(await run.exited, { exitCode: 0 });
    assert.match(last.toString(), /^\n\[slipway\] 1 line was dropped/);
  });
});
