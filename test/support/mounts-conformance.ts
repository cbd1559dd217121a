import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { SystemClock } from '../../src/base/clock.ts';
import { chooseIsolation } from '../../src/lab/process/isolation.ts';
import type { Mount } from '../../src/lab/process/mounts.ts';
import type { Isolation, ProcessSpec } from '../../src/lab/process/process-host.ts';
import { type ProcessWorld, processWorld } from './process-world.ts';
import { scratchDirectory } from './scratch.ts';

/** The best that the kernel allows here. */
export async function isolationHere(): Promise<Isolation> {
  await using scratch = await scratchDirectory();
  const options = { isolation: 'auto', directory: scratch.path, keep: [], clock: new SystemClock() } as const;
  return (await chooseIsolation(options)).isolation;
}

/** A volume with the given files. */
export async function volume(
  world: ProcessWorld,
  name: string,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const directory = join(world.directory, 'volumes', name);
  await mkdir(directory, { recursive: true });
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, file)), { recursive: true });
    await writeFile(join(directory, file), text);
  }
  return directory;
}

export const mount = (mountPath: string, source: string, isReadOnly = false): Mount => ({
  mountPath,
  source,
  isReadOnly,
});

/** What a shell script with these mounts says; paths are told to it as a manifest would. */
export async function said(world: ProcessWorld, script: string, more: Partial<ProcessSpec>): Promise<string> {
  const spec = world.spec(['sh', '-c', script], more);
  const run = await world.host.start(spec);
  const { exitCode } = await run.exited;
  return `${spec.output.text()}${spec.output.text('stderr')}${exitCode === 0 ? '' : `exit ${exitCode}`}`;
}

/** The contract of both modes (P10): what a program is told leads to its volumes, and nothing else does. */
export function mountsConformance(isolation: Isolation): void {
  const world = (more = {}) => processWorld({ isolation, ...more });

  it('lab/P10: shows a directory at a place that the machine does not have', async () => {
    await using lab = await world();
    const source = await volume(lab, 'a', { 'x/y': 'inside' });
    assert.equal(await said(lab, 'cat /slipway/deep/x/y', { mounts: [mount('/slipway/deep', source)] }), 'inside');
    assert.equal(existsSync('/slipway'), false);
  });

  it('lab/P10: shows a directory at a place that the machine has', async () => {
    await using lab = await world();
    const source = await volume(lab, 'a', { passwd: 'ours' });
    assert.equal(await said(lab, 'cat /etc/passwd; ls /etc', { mounts: [mount('/etc', source)] }), 'ourspasswd\n');
  });

  it('lab/P10: shows a single file, also in a directory that the machine has', async () => {
    await using lab = await world();
    const source = await volume(lab, 'a', { one: '1', two: '2' });
    const mounts = [mount('/etc/slipway-one', join(source, 'one')), mount('/etc/hostname', join(source, 'two'))];
    assert.equal(await said(lab, 'cat /etc/slipway-one /etc/hostname', { mounts }), '12');
  });

  it('lab/P10: keeps what the program writes', async () => {
    await using lab = await world();
    const source = await volume(lab, 'a');
    await said(lab, 'echo kept > /var/slipway/file; mkdir /var/slipway/sub', {
      mounts: [mount('/var/slipway', source)],
    });
    assert.equal(await readFile(join(source, 'file'), 'utf8'), 'kept\n');
    assert.equal(existsSync(join(source, 'sub')), true);
  });

  it('lab/P10: shows a mount in a mount, whichever comes first', async () => {
    await using lab = await world();
    const outer = await volume(lab, 'outer', { a: 'A', 'inner/hidden': 'H' });
    const inner = await volume(lab, 'inner', { b: 'B' });
    for (const mounts of [
      [mount('/slipway', outer), mount('/slipway/inner', inner)],
      [mount('/slipway/new/inner', inner), mount('/slipway', outer, true)],
    ]) {
      const script = 'cat /slipway/a /slipway/inner/b /slipway/new/inner/b 2>/dev/null; cd /slipway; ls';
      const text = await said(lab, script, { mounts });
      assert.match(text, /^AB/);
      assert.match(text, /a\ninner\n/);
    }
    // What is hidden is hidden from this container alone.
    assert.equal(await readFile(join(outer, 'inner/hidden'), 'utf8'), 'H');
    assert.equal(existsSync(join(outer, 'inner/b')), false);
  });

  it('lab/P10: shows a part of a volume that is mounted where the volume shows it anyway', async () => {
    await using lab = await world();
    const source = await volume(lab, 'a', { 'plugins/x': 'X' });
    const mounts = [mount('/slipway', source), mount('/slipway/plugins', join(source, 'plugins'))];
    await said(lab, 'echo new > /slipway/new; echo more > /slipway/plugins/more', { mounts });
    assert.equal(await readFile(join(source, 'new'), 'utf8'), 'new\n');
    assert.equal(await readFile(join(source, 'plugins/more'), 'utf8'), 'more\n');
  });

  it('lab/P10: follows a volume whose files are swapped, as those of a ConfigMap are', async () => {
    await using lab = await world();
    const source = await volume(lab, 'map', { '..1/key': 'old' });
    await symlink('..1', join(source, '..data'));
    await symlink('..data/key', join(source, 'key'));
    const nested = await volume(lab, 'nested', { cert: 'C' });
    const mounts = [mount('/etc/map', source, true), mount('/etc/map/certs', nested, true)];
    const script =
      'cat /etc/map/key /etc/map/certs/cert; until [ -e /etc/map/certs/go ]; do sleep 0.01; done; cat /etc/map/key';
    const text = said(lab, script, { mounts });
    await volume(lab, 'map', { '..2/key': 'new' });
    await symlink('..2', join(source, '..data_tmp'));
    await rename(join(source, '..data_tmp'), join(source, '..data'));
    await rm(join(source, '..1'), { recursive: true });
    await writeFile(join(nested, 'go'), '');
    assert.match(await text, /^(old|new)Cnew$/);
  });

  it('lab/P10: starts in a mounted working directory, with a mounted program', async () => {
    await using lab = await world();
    const source = await volume(lab, 'app');
    await writeFile(join(source, 'run'), '#!/bin/sh\ncat file "$1"\n', { mode: 0o755 });
    await writeFile(join(source, 'file'), 'F');
    const more = { workdir: '/slipway/app', mounts: [mount('/slipway/app', source)] };
    for (const argv of [
      ['/slipway/app/run', '/slipway/app/file'],
      ['./run', 'file'],
    ]) {
      const spec = lab.spec(argv, more);
      await (await lab.host.start(spec)).exited;
      assert.equal(spec.output.text(), 'FF', spec.output.text('stderr'));
    }
  });

  it('lab/P10: finds a program in a PATH of mounts', async () => {
    await using lab = await world();
    const source = await volume(lab, 'bin');
    await writeFile(join(source, 'tool'), '#!/bin/sh\necho tool\n', { mode: 0o755 });
    const env = { PATH: '/slipway/bin:/bin:/usr/bin' };
    const spec = lab.spec(['tool'], { env, mounts: [mount('/slipway/bin', source)] });
    await (await lab.host.start(spec)).exited;
    assert.equal(spec.output.text(), 'tool\n');
  });

  it('lab/P10: keeps the files of the lab in sight when a volume hides the directory around them', async () => {
    await using lab = await world();
    const source = await volume(lab, 'tmp');
    const told = await volume(lab, 'told', { file: 'told' });
    const around = `/${lab.directory.split('/')[1]}`;
    const script = `cat ${told}/file; echo x > ${around}/slipway-new; cd "$TMPDIR" && echo y > y && cat y`;
    assert.equal(await said(lab, script, { mounts: [mount(around, source)] }), 'toldy\n');
    assert.equal(await readFile(join(source, 'slipway-new'), 'utf8'), 'x\n');
    assert.equal(existsSync(`${around}/slipway-new`), false);
  });

  it('lab/P10: keeps paths in sight that the image names', async () => {
    await using image = await scratchDirectory();
    await using lab = await world();
    await writeFile(join(image.path, 'run'), '#!/bin/sh\necho image\n', { mode: 0o755 });
    const mounts = [mount(dirname(image.path), await volume(lab, 'tmp'))];
    const spec = lab.spec([join(image.path, 'run')], { mounts, hostPaths: [image.path] });
    await (await lab.host.start(spec)).exited;
    assert.equal(spec.output.text(), 'image\n');
  });

  it('lab/P10: shows all of it to a program beside the container', async () => {
    await using lab = await world();
    const source = await volume(lab, 'a', { file: 'beside' });
    const more = { mounts: [mount('/slipway', source)], container: 'uid/main/0' };
    const run = await lab.host.start(lab.spec(['sleep', '60'], more));
    const { output } = await lab.host.execute(lab.spec(['cat', '/slipway/file'], more), 10_000);
    assert.equal(output, 'beside');
    await run.stop(0);
  });

  it('lab/P10: serves a container again and again, and nobody sees the mounts of another', async () => {
    await using lab = await world();
    const [a, b] = [await volume(lab, 'a', { f: 'a' }), await volume(lab, 'b', { f: 'b' })];
    const print = (source: string, container: string) =>
      said(lab, 'cat /slipway/f', { mounts: [mount('/slipway', source)], container });
    assert.deepEqual(await Promise.all([print(a, 'uid/x/0'), print(b, 'uid/y/0')]), ['a', 'b']);
    assert.equal(await print(b, 'uid/x/0'), 'b');
  });

  it('lab/P10: listens on a socket in a volume, however long the path of the volume is', async () => {
    await using lab = await world();
    const source = await volume(lab, `${'long/'.repeat(20)}x`);
    const script = `require('node:net').createServer().listen('/csi/csi.sock', () => process.exit(0))`;
    const argv = [process.execPath, '-e', script.replace("'/csi/csi.sock'", 'process.argv[1]'), '/csi/csi.sock'];
    const spec = lab.spec(argv, { mounts: [mount('/csi', source)], container: `${'uid'.repeat(20)}/main/0` });
    const { exitCode } = await (await lab.host.start(spec)).exited;
    assert.equal(exitCode, 0, spec.output.text('stderr'));
  });

  const refused = [
    {
      name: 'the root',
      mountPath: '/',
      message: /^cannot mount at "\/": it must be an absolute path other than \/$/,
    },
    { name: 'a relative path', mountPath: 'data', message: /^cannot mount at "data"/ },
    { name: 'a path that leads out', mountPath: '/../..', message: /^cannot mount at "\/..\/.."/ },
    { name: 'a place below a file', mountPath: '/slipway/file/x', message: /is (a file|not a directory)$/ },
  ];
  for (const { name, mountPath, message } of refused) {
    it(`lab/P10: refuses ${name}`, async () => {
      await using lab = await world();
      const source = await volume(lab, 'a', { file: '' });
      const mounts = [mount('/slipway/file', join(source, 'file')), mount(mountPath, source)];
      const reason = 'CreateContainerError';
      await assert.rejects(lab.host.start(lab.spec(['true'], { mounts })), { reason, message, exitCode: 128 });
    });
  }

  it('lab/P10: refuses a volume that is not there', async () => {
    await using lab = await world();
    const start = lab.host.start(lab.spec(['true'], { mounts: [mount('/slipway', '/no/such/volume')] }));
    const message = 'cannot mount /no/such/volume at /slipway: it does not exist on the node';
    await assert.rejects(start, { reason: 'CreateContainerError', message });
  });

  it('lab/P2: says why a program in a volume cannot run', async () => {
    await using lab = await world();
    const source = await volume(lab, 'a', { file: '' });
    const start = (name: string) =>
      lab.host.start(lab.spec([`/slipway/${name}`], { mounts: [mount('/slipway', source)] }));
    await assert.rejects(start('none'), { exitCode: 127 });
    await assert.rejects(start('file'), { exitCode: 126 });
  });
}
