import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { Pod } from 'slipway/api/core-v1';
import { startLab } from 'slipway/testing';

const here = (name: string) => join(import.meta.dirname, name);

it('answers from each of its pods, with the environment of its manifest', async () => {
  const images = { 'example.com/web': { argv: ['node', here('web.ts')] } };
  await using lab = await startLab({ nodes: 2, images });
  const cluster = lab.cluster();
  await cluster.apply(await readFile(here('web.yaml'), 'utf8'));
  await lab.until(() => cluster.rolledOut('default', 'web'), { within: '1m' });

  const { items } = await cluster.client.list(Pod, { namespace: 'default', labels: { app: 'web' } });
  for (const { metadata, status } of items) {
    const answer = await fetch(lab.urlOf(status?.podIP ?? '', 8080));
    assert.equal(await answer.text(), `ahoy from ${metadata.name}\n`);
    assert.equal(await cluster.logs(metadata), 'listening\n');
  }
});
