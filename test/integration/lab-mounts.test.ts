import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isolationHere, mount, mountsConformance, said, volume } from '../support/mounts-conformance.ts';
import { processWorld } from '../support/process-world.ts';

const HERE = await isolationHere();

describe('mounts in a namespace', { skip: HERE !== 'namespace' && 'this kernel refuses mount namespaces' }, () => {
  mountsConformance('namespace');

  it('lab/P9: refuses to write what is mounted read-only', async () => {
    await using lab = await processWorld({ isolation: 'namespace' });
    const source = await volume(lab, 'a', { f: 'f' });
    const mounts = [mount('/slipway/ro', source, true), mount('/slipway/rw', source)];
    const text = await said(lab, 'echo x > /slipway/ro/f || echo refused; echo y > /slipway/rw/f', { mounts });
    assert.match(text, /refused/);
    assert.equal(await readFile(join(source, 'f'), 'utf8'), 'y\n');
  });

  it('lab/P9: makes the place of a mount in a volume, as container runtimes do', async () => {
    await using lab = await processWorld({ isolation: 'namespace' });
    const outer = await volume(lab, 'outer');
    const inner = await volume(lab, 'inner', { b: 'B' });
    const mounts = [mount('/slipway', outer), mount('/slipway/inner', inner)];
    assert.equal(await said(lab, 'cat /slipway/inner/b; echo new > /slipway/new', { mounts }), 'B');
    assert.deepEqual(globSync('**', { cwd: outer }).toSorted(), ['.', 'inner', 'new']);
  });

  it('lab/P9: leaves no variable of its own and no file behind', async () => {
    await using lab = await processWorld({ isolation: 'namespace' });
    const spec = lab.spec(['env'], { env: { A: '1' }, mounts: [mount('/slipway', await volume(lab, 'a'))] });
    await (await lab.host.start(spec)).exited;
    const names = spec.output
      .text()
      .split('\n')
      .map((line) => line.split('=')[0] ?? '')
      .filter((name) => name !== '' && name !== '_');
    assert.deepEqual(names.toSorted(), [
      'A',
      'HOME',
      'LANG',
      'PATH',
      'SLIPWAY_CONTAINER',
      'SLIPWAY_LAB',
      'TMPDIR',
    ]);
    assert.deepEqual(globSync('*', { cwd: spec.directory }).toSorted(), ['home', 'root', 'tmp']);
    assert.deepEqual(globSync('*', { cwd: lab.directory }).toSorted(), ['c', 'children.jsonl', 'volumes']);
  });

  it('lab/P4: is stopped with all that left its group', async () => {
    await using lab = await processWorld({ isolation: 'namespace' });
    const mounts = [mount('/slipway', await volume(lab, 'a'))];
    const spec = lab.spec(['sh', '-c', 'setsid sleep 60 & touch /slipway/ready; wait'], { mounts });
    const run = await lab.host.start(spec);
    await run.stop(100);
    assert.equal(lab.host.live, 0);
  });
});
