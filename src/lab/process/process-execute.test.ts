import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { alive, processWorld, sh, startPrinting } from '../../../test/support/process-world.ts';
import { until } from '../../../test/support/scratch.ts';

describe('a program beside a container', () => {
  it('lab/N21: has its environment, says how it ended and what it said', async () => {
    await using world = await processWorld();
    const spec = world.spec(sh('echo "$GREETING" >&2; pwd; exit 3'), { env: { GREETING: 'hello' }, workdir: '/' });
    const { exitCode, output, isTimedOut } = await world.host.execute(spec, 10_000);
    assert.deepEqual({ exitCode, isTimedOut }, { exitCode: 3, isTimedOut: false });
    assert.deepEqual(output.split('\n').toSorted(), ['', '/', 'hello']);
    assert.equal(spec.output.ends, 0);
  });

  it('lab/N21: says at most 10 KiB', async () => {
    await using world = await processWorld();
    const { output, exitCode } = await world.host.execute(world.spec(sh('head -c 1000000 /dev/zero')), 10_000);
    assert.deepEqual([output.length, exitCode], [10 * 1024, 0]);
  });

  it('lab/N21: is ended with all it started when its time is over, and the container goes on', async () => {
    await using world = await processWorld();
    const { run, pids } = await startPrinting(world, 'echo $$; exec sleep 60', 1);
    const spec = world.spec(sh("setsid sh -c 'echo $$; exec sleep 60' & wait"), { container: 'pod-0/main/0' });
    const { isTimedOut, exitCode, output } = await world.host.execute(spec, 200);
    assert.deepEqual({ isTimedOut, exitCode }, { isTimedOut: true, exitCode: 137 });
    assert.deepEqual(await alive([Number(output)]), []);
    assert.deepEqual(await alive(pids), pids);
    await run.stop(0);
  });

  it('ends with its container', async () => {
    await using world = await processWorld();
    const { run } = await startPrinting(world, 'echo $$; exec sleep 60', 1);
    const marker = join(world.directory, 'started');
    const spec = world.spec(sh(`touch ${marker}; exec sleep 60`), { container: 'pod-0/main/0' });
    const result = world.host.execute(spec, 60_000);
    await until(() => existsSync(marker), 'the program runs');
    await run.stop(0);
    const { exitCode, isCutOff } = await result;
    assert.deepEqual([exitCode, isCutOff], [137, true]);
  });

  it('lab/N21: ends with its container though it was only about to start', async () => {
    await using world = await processWorld();
    for (let count = 0; count < 5; count++) {
      const container = `pod-0/main/${count}`;
      const run = await world.host.start(world.spec(sh('exec sleep 600'), { container }));
      const result = world.host.execute(world.spec(sh('exec sleep 600'), { container }), 600_000);
      await run.stop(0);
      assert.equal((await result).isCutOff, true);
    }
  });

  it('lab/N21: that ended by itself says so, though its container ends later', async () => {
    await using world = await processWorld();
    const { run } = await startPrinting(world, 'echo $$; exec sleep 600', 1);
    const spec = world.spec(sh('exit 4'), { container: 'pod-0/main/0' });
    assert.deepEqual(await world.host.execute(spec, 60_000), { exitCode: 4, output: '', isTimedOut: false });
    await run.stop(0);
  });

  it('lab/P2: that cannot run is an error, not an exit code', async () => {
    await using world = await processWorld();
    await assert.rejects(world.host.execute(world.spec(['no-such-program']), 1000), { exitCode: 127 });
  });
});
