import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { type MemoryLog, memoryLog } from '../../../../test/support/kubelet-world.ts';
import { PretendHost } from '../../../../test/support/pretend-host.ts';
import { VirtualClock } from '../../../base/clock.ts';
import type { LabClock } from '../../clock/lab-clock.ts';
import { StartFailure } from '../../process/process-host.ts';
import type { ContainerStart, RunningContainer } from './container-runtime.ts';
import type { CatalogueImage } from './image-catalogue.ts';
import { processRuntime } from './process-runtime.ts';

/** A clock that remembers how it was followed. */
class FollowedClock extends VirtualClock implements Pick<LabClock, 'follow' | 'hold' | 'mode' | 'factor'> {
  mode: LabClock['mode'] = 'real';
  readonly factor = 1;
  readonly followed: { readonly reason: string; isSettled: boolean; isOver: boolean }[] = [];

  follow(reason: string) {
    const one = { reason, isSettled: false, isOver: false };
    this.followed.push(one);
    return {
      settled: () => {
        one.isSettled = true;
      },
      [Symbol.dispose]: () => {
        one.isOver = true;
      },
    };
  }

  hold() {
    return { [Symbol.dispose]: () => {} };
  }

  get isUnsettled(): boolean {
    return this.followed.some(({ isSettled, isOver }) => !isSettled && !isOver);
  }

  get isFollowed(): boolean {
    return this.followed.some(({ isOver }) => !isOver);
  }
}

interface World extends AsyncDisposable {
  readonly host: PretendHost;
  readonly clock: FollowedClock;
  readonly directory: string;
  readonly log: MemoryLog;
  start(image?: Partial<CatalogueImage>, more?: Partial<ContainerStart>): Promise<RunningContainer>;
}

async function processes(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'slipway-runtime-'));
  const host = new PretendHost();
  const clock = new FollowedClock();
  const log = memoryLog('c');
  // What the runtime needs of a lab clock is there.
  const runtime = processRuntime({ host, clock: clock as unknown as LabClock, real: clock, path: '/usr/bin' });
  return {
    host,
    clock,
    directory,
    log,
    start: (image = {}, more = {}) =>
      runtime.start(
        {
          pod: {
            apiVersion: 'v1',
            kind: 'Pod',
            metadata: { name: 'p', namespace: 'ns', uid: 'u' },
            spec: { containers: [] },
          },
          container: { name: 'c', image: 'acme/x:1' },
          restartCount: 3,
          env: {},
          mounts: [],
          directory,
          log,
          address: { wire: '127.16.32.1', api: '10.16.32.1' },
          ...more,
        },
        { argv: ['/bin/x'], ...image },
      ),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}

const specOf = ({ host }: World) => host.of('c').spec;

describe('processRuntime', () => {
  it('lab/P3: the environment is that of the pod over that of the image, with address and host name', async () => {
    await using world = await processes();
    await world.start({ env: { A: 'image', B: 'image', SLIPWAY_POD_ADDRESS: 'x' } }, { env: { B: 'pod' } });
    assert.deepEqual(specOf(world).env, {
      A: 'image',
      B: 'pod',
      HOSTNAME: 'p',
      SLIPWAY_POD_ADDRESS: '127.16.32.1',
      SLIPWAY_CLOCK: 'scaled:1:1970-01-01T00:00:00.000Z:1970-01-01T00:00:00.000Z',
    });
    assert.equal(specOf(world).container, 'u/c/3');
  });

  it('lab/T7: each child is told the time of the lab when it starts, unless it is foreign or cannot follow', async () => {
    await using world = await processes();
    const setting = async (image: Partial<CatalogueImage> = {}) => {
      await world.start(image, { env: { SLIPWAY_CLOCK: 'of the manifest' } });
      return specOf(world).env['SLIPWAY_CLOCK'];
    };
    await world.clock.advance(5000);
    assert.equal(await setting(), 'scaled:1:1970-01-01T00:00:05.000Z:1970-01-01T00:00:05.000Z');
    await world.clock.advance(1000);
    assert.equal(await setting(), 'scaled:1:1970-01-01T00:00:06.000Z:1970-01-01T00:00:06.000Z');
    assert.equal(await setting({ foreign: true }), 'of the manifest');
    world.clock.mode = 'auto';
    assert.equal(await setting(), 'of the manifest');
  });

  it('lab/N11: mapped programs are found first in PATH', async () => {
    await using world = await processes();
    const programs = { '/usr/bin/driver': "/opt/it's/driver" };
    await world.start({ programs });
    assert.equal(specOf(world).env['PATH'], `${world.directory}/programs:/usr/bin`);
    const shim = await readFile(join(world.directory, 'programs', 'driver'), 'utf8');
    assert.equal(shim, `#!/bin/sh\nexec '/opt/it'\\''s/driver' "$@"\n`);
    await world.start({ programs, env: { PATH: '/image' } });
    assert.equal(specOf(world).env['PATH'], `${world.directory}/programs:/image`);
  });

  it('works where the container says, else where the image says', async () => {
    await using world = await processes();
    await world.start({ workdir: '/image' });
    assert.equal(specOf(world).workdir, '/image');
    await world.start({ workdir: '/image' }, { container: { name: 'c', workingDir: '/own' } });
    assert.equal(specOf(world).workdir, '/own');
  });

  it('lab/X8: foreign programs are refused where time is not real', async () => {
    await using world = await processes();
    await world.start({ foreign: true });
    world.clock.mode = 'auto';
    await assert.rejects(world.start({ foreign: true }), {
      reason: 'CreateContainerError',
      message: /is foreign and knows only real time, but the clock of the lab is auto/,
    });
  });

  it('says what the host was asked to respect', async () => {
    await using world = await processes();
    await world.start({ needs: ['namespace'] });
    assert.equal(specOf(world).needsNamespace, true);
  });

  it('lab/P2: a program that cannot be started is a problem with its exit code, and nobody waits for it', async () => {
    await using world = await processes();
    world.host.failures.push(new StartFailure('RunContainerError', 'cannot run /bin/x: no such file', 127));
    await assert.rejects(world.start(), { reason: 'RunContainerError', exitCode: 127, message: /\/bin\/x/ });
    assert.equal(world.clock.isFollowed, false);
  });

  it('lab/P12: a full host is a problem that passes', async () => {
    await using world = await processes();
    world.host.isFull = true;
    await assert.rejects(world.start(), { reason: 'ContainerCreating', message: /maxChildren/ });
  });

  it('tells which paths were rewritten', async () => {
    await using world = await processes();
    world.host.rewritten = ['argv[1]: /etc/x'];
    const { notices } = await world.start();
    assert.deepEqual(notices, [{ reason: 'PathsRewritten', message: 'Container c: argv[1]: /etc/x' }]);
  });

  for (const [exitCode, signal, want] of [
    [0, undefined, { exitCode: 0, reason: 'Completed' }],
    [2, undefined, { exitCode: 2, reason: 'Error' }],
    [137, 'SIGKILL', { exitCode: 137, reason: 'Error', signal: 9 }],
    [143, 'SIGTERM', { exitCode: 143, reason: 'Error', signal: 15 }],
    [130, undefined, { exitCode: 130, reason: 'Error' }],
  ] as const) {
    it(`lab/N9: an end with ${exitCode}${signal === undefined ? '' : ` by ${signal}`} is told as it was`, async () => {
      await using world = await processes();
      const run = await world.start();
      world.host.of('c').exit(exitCode, signal);
      const { startedAt: _start, finishedAt: _end, ...exit } = await run.exited;
      assert.deepEqual(exit, want);
    });
  }

  it('lab/N15: the container has a file for its last words, of which 4096 bytes count', async () => {
    await using world = await processes();
    const run = await world.start({}, { container: { name: 'c', terminationMessagePath: '/var/last' } });
    const mount = specOf(world).mounts.find(({ mountPath }) => mountPath === '/var/last');
    assert.ok(mount !== undefined && !mount.isReadOnly);
    await writeFile(mount.source, `${'x'.repeat(10)}${'y'.repeat(4096)}`);
    world.host.of('c').exit(0);
    assert.equal((await run.exited).message, 'y'.repeat(4096));
    const next = await world.start();
    world.host.of('c').exit(0);
    assert.equal((await next.exited).message, undefined, 'the next run begins with an empty one');
    assert.equal(specOf(world).mounts[0]?.mountPath, '/dev/termination-log');
  });

  it('lab/N15: last words are those in a file, never what a container puts in its place', {
    timeout: 30_000,
  }, async () => {
    await using world = await processes();
    const secret = join(world.directory, 'secret');
    await writeFile(secret, 'of somebody else');
    const replaced: readonly ((path: string) => Promise<unknown>)[] = [
      (path) => promisify(execFile)('mkfifo', [path]),
      (path) => symlink(secret, path),
      (path) => mkdir(path),
    ];
    for (const replace of replaced) {
      const run = await world.start();
      const [{ source } = { source: '' }] = specOf(world).mounts;
      await rm(source);
      await replace(source);
      world.host.of('c').exit(0);
      assert.equal((await run.exited).message, undefined);
    }
    await world.start();
    assert.equal(await readFile(secret, 'utf8'), 'of somebody else', 'nothing is emptied through a link');
  });

  it('lab/N15: the end of the log stands in for them, after a failure and where the container wants it', async () => {
    await using world = await processes();
    const endOf = async (policy: 'File' | 'FallbackToLogsOnError', exitCode: number) => {
      const container = { name: 'c', terminationMessagePolicy: policy };
      const run = await world.start({}, { container });
      world.log.lines.push('fatal: no disk');
      world.host.of('c').exit(exitCode);
      return (await run.exited).message;
    };
    assert.equal(await endOf('FallbackToLogsOnError', 1), 'fatal: no disk');
    assert.equal(await endOf('FallbackToLogsOnError', 0), undefined);
    assert.equal(await endOf('File', 1), undefined);
  });

  it('stops with the grace it is given, and sooner when it is given less', async () => {
    await using world = await processes();
    world.host.areObedient = false;
    const run = await world.start();
    void run.stop(10_000);
    void run.stop(3000);
    void run.stop(20_000);
    assert.deepEqual(world.host.of('c').calls, ['stop 10000']);
    await world.clock.advance(3000);
    assert.deepEqual(world.host.of('c').calls, ['stop 10000', 'kill']);
    assert.equal((await run.exited).exitCode, 137);
  });

  it('runs programs beside the container with what it has', async () => {
    await using world = await processes();
    const run = await world.start();
    world.host.answer = { exitCode: 4, output: 'no', isTimedOut: false };
    assert.deepEqual(await run.execute(['/bin/check'], 500), world.host.answer);
    assert.deepEqual(world.host.executed, [{ argv: ['/bin/check'], timeoutMs: 500 }]);
  });

  it('lab/N21: tells of a program that its container cut off only when the end of the container was told', async () => {
    await using world = await processes();
    const run = await world.start();
    const told: string[] = [];
    void run.exited.then(() => told.push('container'));
    world.host.answer = { exitCode: 137, output: '', isTimedOut: false, isCutOff: true };
    const executed = run.execute(['/bin/check'], 500).then(() => told.push('program'));
    world.host.of('c').exit(0);
    await executed;
    assert.deepEqual(told, ['container', 'program']);
  });
});

describe('time and children', () => {
  it('lab/T5: time is followed from the start until the container is ready', async () => {
    await using world = await processes();
    const run = await world.start();
    assert.equal(world.clock.isUnsettled, true);
    assert.match(world.clock.followed[0]?.reason ?? '', /container c of pod ns\/p/);
    run.settled?.();
    assert.deepEqual([world.clock.isUnsettled, world.clock.isFollowed], [false, true]);
  });

  it('lab/T5: or until it has said nothing for five seconds', async () => {
    await using world = await processes();
    await world.start();
    await world.clock.advance(4000);
    world.host.of('c').say('starting');
    await world.clock.advance(4999);
    assert.equal(world.clock.isUnsettled, true);
    await world.clock.advance(1);
    assert.equal(world.clock.isUnsettled, false);
    world.host.of('c').say('again');
    assert.equal(world.clock.isUnsettled, false, 'settled is settled');
  });

  it('lab/T5: and from the stop until its end was told', async () => {
    await using world = await processes();
    world.host.areObedient = false;
    const run = await world.start();
    run.settled?.();
    void run.stop(1000);
    assert.equal(world.clock.isUnsettled, true);
    world.host.of('c').exit(0);
    await run.exited;
    assert.equal(world.clock.isUnsettled, true, 'its status is not written yet');
    run.settled?.();
    assert.equal(world.clock.isFollowed, false);
  });

  it('lab/T5: whoever is told that it is ready while it stops does not settle it', async () => {
    await using world = await processes();
    world.host.areObedient = false;
    const run = await world.start();
    void run.stop(1000);
    run.settled?.();
    assert.equal(world.clock.isUnsettled, true);
    world.host.of('c').exit(0);
    await run.exited;
    run.settled?.();
    assert.equal(world.clock.isFollowed, false);
  });

  it('lab/T5: nobody who tells of an end holds time for more than five seconds', async () => {
    await using world = await processes();
    const run = await world.start();
    world.host.of('c').exit(0);
    await run.exited;
    await world.clock.advance(5000);
    assert.equal(world.clock.isFollowed, false);
  });
});
