import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { containerRuntime } from './chosen-runtime.ts';
import type { ContainerStart } from './container-runtime.ts';
import type { ImageCatalogue } from './image-catalogue.ts';

function choosing(catalogue: ImageCatalogue, unknownImages: 'simulate' | 'fail') {
  const started: string[] = [];
  const fail = (what: string) => () => {
    started.push(what);
    throw new Error(what);
  };
  const runtime = containerRuntime({
    catalogue,
    unknownImages,
    processes: { start: async () => fail('process')() },
    simulated: { start: fail('simulated') },
  });
  const start = (image: string, imagePullPolicy: 'Always' | 'Never' = 'Always') =>
    runtime.start({ container: { name: 'c', image, imagePullPolicy } } as ContainerStart);
  return { runtime, start, started };
}

describe('containerRuntime', () => {
  const catalogue = { 'acme/npu': { argv: ['/npu'] } };

  it('lab/N11: what the catalogue knows is a process, whatever its tag', async () => {
    const { start, started } = choosing(catalogue, 'simulate');
    await assert.rejects(start('acme/npu:v1'), /process/);
    await assert.rejects(start('acme/npu@sha256:00'), /process/);
    assert.deepEqual(started, ['process', 'process']);
  });

  it('lab/N12: what it does not know is simulated, or fails, as the lab says', async () => {
    await assert.rejects(choosing(catalogue, 'simulate').start('nginx'), /simulated/);
    const failing = choosing(catalogue, 'fail');
    await assert.rejects(failing.start('nginx:1'), {
      reason: 'ErrImagePull',
      message:
        'Failed to pull image "nginx:1": the catalogue of the lab does not have it, it has acme/npu; add it to images, or set unknownImages to simulate',
    });
    await assert.rejects(failing.start('nginx', 'Never'), { reason: 'ErrImageNeverPull' });
    assert.deepEqual(failing.started, []);
  });

  it('names ten images of a large catalogue, and none of an empty one', async () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`i${at}`, { argv: ['/x'] }]));
    await assert.rejects(choosing(many, 'fail').start('x'), /it has i0, .*, i9 and 2 others; add it/);
    await assert.rejects(choosing({}, 'fail').start('x'), /it has no images; add it/);
  });

  it('lab/N9: another program is another image, another tag is not', () => {
    const { runtime } = choosing(catalogue, 'simulate');
    const id = runtime.imageId('acme/npu:v1');
    assert.match(id, /^slipway:\/\/acme\/npu@sha256:[0-9a-f]{64}$/);
    assert.equal(runtime.imageId('acme/npu:v2'), id);
    assert.notEqual(choosing({ 'acme/npu': { argv: ['/other'] } }, 'fail').runtime.imageId('acme/npu'), id);
    assert.equal(runtime.imageId('nginx:1'), 'simulated://nginx:1');
    assert.deepEqual(runtime.images, ['acme/npu']);
  });
});
