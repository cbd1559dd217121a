import assert from 'node:assert/strict';
import { globSync, mkdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import {
  isolationHere,
  mount,
  mountsConformance,
  said,
  volume,
} from '../../../test/support/mounts-conformance.ts';
import { processWorld } from '../../../test/support/process-world.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { SystemClock } from '../../base/clock.ts';
import { chooseIsolation, isolationText } from './isolation.ts';

const HERE = await isolationHere();

describe('mounts by rewriting', () => {
  mountsConformance('rewrite');

  it('lab/P8: names what was rewritten, and gives Node programs the table', async () => {
    await using lab = await processWorld({ isolation: 'rewrite' });
    const source = await volume(lab, 'a');
    const env = { CONFIG: '/etc/app/x', OTHER: '/etc/application', NODE_OPTIONS: '--require=/etc/app/y.cjs' };
    const spec = lab.spec(['sh', '-c', 'echo "$SLIPWAY_MOUNTS"', '/etc/app'], {
      env,
      mounts: [mount('/etc/app/', source)],
    });
    const run = await lab.host.start(spec);
    await run.exited;
    assert.deepEqual(run.rewritten, ['argument 3', 'variable CONFIG', 'variable NODE_OPTIONS']);
    assert.deepEqual(JSON.parse(spec.output.text()), [{ mountPath: '/etc/app', source }]);
  });

  it('lab/P8: changes nothing without mounts', async () => {
    await using lab = await processWorld({ isolation: 'rewrite' });
    const spec = lab.spec(['sh', '-c', 'echo "${SLIPWAY_MOUNTS-none}"']);
    const run = await lab.host.start(spec);
    await run.exited;
    assert.deepEqual([run.rewritten, spec.output.text()], [[], 'none\n']);
  });

  it('lab/P8: leaves a volume as it is when something is mounted inside it', async () => {
    await using lab = await processWorld({ isolation: 'rewrite' });
    const outer = await volume(lab, 'outer', { a: 'A' });
    const mounts = [mount('/slipway', outer), mount('/slipway/inner', await volume(lab, 'inner', { b: 'B' }))];
    assert.equal(await said(lab, 'cat /slipway/a /slipway/inner/b', { mounts }), 'AB');
    assert.deepEqual(globSync('**', { cwd: outer }).toSorted(), ['.', 'a']);
  });

  it('lab/P10: refuses an image that needs its paths to be real', async () => {
    await using lab = await processWorld({ isolation: 'rewrite' });
    await assert.rejects(lab.host.start(lab.spec(['true'], { needsNamespace: true })), {
      reason: 'CreateContainerError',
      message: /^the image needs its files at fixed paths \(needs: namespace\)/,
    });
  });
});

describe('mounts in a namespace', { skip: HERE !== 'namespace' && 'this kernel refuses mount namespaces' }, () => {
  it('lab/P9: serves paths that nobody told the program, with the same process number', async () => {
    await using lab = await processWorld({ isolation: 'namespace' });
    const source = await volume(lab, 'a', { token: 'T' });
    // The path is put together by the program, so no rewriting could find it.
    const script = 'cat "/var/run/secrets/$(printf slip)way/token"; echo " $$"';
    const mounts = [mount('/var/run/secrets/slipway', source)];
    const spec = lab.spec(['sh', '-c', script], { mounts, needsNamespace: true });
    const run = await lab.host.start(spec);
    await run.exited;
    assert.equal(spec.output.text(), `T ${run.pid}\n`);
    assert.deepEqual(run.rewritten, []);
  });

  it('lab/P3: hands on every variable as it is, also those that a shell would lose or use itself', async () => {
    await using lab = await processWorld({ isolation: 'namespace' });
    const env = {
      'discovery.type': "it's\nsingle-node",
      'a-b': '1',
      '-i': '2',
      path: 'p',
      directory: 'd',
      flags: 'f',
      PWD: '/elsewhere',
      SHLVL: '7',
      IFS: ',',
      PS1: '>',
      plain: 'x',
    };
    const argv = [process.execPath, '-p', 'JSON.stringify(process.env)'];
    const mounts = [mount('/slipway/a', await volume(lab, 'a'))];
    const spec = lab.spec(argv, { env, mounts });
    await (await lab.host.start(spec)).exited;
    assert.deepEqual(JSON.parse(spec.output.text()), {
      ...(JSON.parse(spec.output.text()) as object),
      ...env,
    });
    const bare = lab.spec(argv, { mounts });
    await (await lab.host.start(bare)).exited;
    const given = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'SLIPWAY_LAB', 'SLIPWAY_CONTAINER'];
    assert.deepEqual(Object.keys(JSON.parse(bare.output.text()) as object).toSorted(), given.toSorted());
  });
});

describe('the choice of the isolation', () => {
  it('lab/P10: is made once at the start and told in a sentence', async () => {
    await using auto = await processWorld({ isolation: 'auto' });
    assert.equal(auto.host.isolation, HERE);
    await using forced = await processWorld({ isolation: 'rewrite' });
    assert.equal(forced.host.isolation, 'rewrite');
    assert.equal(
      forced.host.isolationText,
      'Paths of volumes are rewritten in arguments and variables instead of mounted: the lab was told to.',
    );
    assert.match(isolationText('namespace'), /exactly where they are mounted/);
  });

  it('lab/P10: leaves nothing in the directory of the lab, also of a lab that was killed while it chose', async () => {
    await using scratch = await scratchDirectory();
    mkdirSync(`${scratch.path}/probe-killed/container/root`, { recursive: true });
    await using _lab = await processWorld({ isolation: 'auto', directory: scratch.path });
    assert.deepEqual(globSync('probe-*', { cwd: scratch.path }), []);
  });

  it('lab/P10: fails with the reason when namespaces are demanded where they cannot be had', async () => {
    await using scratch = await scratchDirectory();
    const options = {
      directory: scratch.path,
      keep: [],
      clock: new SystemClock(),
      unshare: ['/bin/false'],
    } as const;
    await assert.rejects(chooseIsolation({ ...options, isolation: 'namespace' }), {
      reason: 'NamespaceRefused',
      message: /^isolation "namespace" does not work on this machine: cannot make the mounts/,
    });
    const { isolation, text } = await chooseIsolation({ ...options, isolation: 'auto' });
    assert.equal(isolation, 'rewrite');
    assert.match(text, /instead of mounted: cannot make the mounts of the container: no reason was given\.$/);
    assert.deepEqual(globSync('*', { cwd: scratch.path }), []);
  });

  it('lab/P10: says that the program for it is missing', async () => {
    await using scratch = await scratchDirectory();
    const options = { directory: scratch.path, keep: [], clock: new SystemClock(), unshare: [] } as const;
    const { text } = await chooseIsolation({ ...options, isolation: 'auto' });
    assert.match(text, /the program unshare \(util-linux\) is not installed|only Linux has mount namespaces/);
  });
});
