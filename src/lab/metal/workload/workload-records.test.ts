import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type ClusterRecord, readRecords, writeRecords } from './workload-records.ts';

const RECORD: ClusterRecord = {
  key: { namespace: 'ns', name: 'prod' },
  name: 'prod',
  index: 31,
  wish: {
    version: '4.20.1',
    platform: 'External',
    platformName: 'acme',
    hasExternalCloudProvider: true,
    baseDomain: 'example.com',
    clusterName: 'prod',
    infraId: 'prod-1',
  },
  nodes: [
    { index: 1, name: 'a', role: 'control-plane', labels: { x: '' }, hostId: 'h-1', architecture: 'amd64' },
    { name: 'b', role: 'worker', labels: {}, providerId: 'p://b', hostId: 'i-2', architecture: 'arm64' },
  ],
};

describe('what a lab remembers of installed clusters', () => {
  const folder = mkdtempSync(join(tmpdir(), 'records-'));
  const file = join(folder, 'workloads.json');
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

  it('is nothing where nobody was', async () => {
    assert.deepEqual(await readRecords(join(folder, 'none.json')), []);
  });

  it('is what was written', async () => {
    await writeRecords(file, [RECORD]);
    assert.deepEqual(await readRecords(file), [RECORD]);
    await writeRecords(file, []);
    assert.deepEqual(await readRecords(file), []);
  });

  for (const text of ['', '{"clusters":', '{"clusters":[{"name":"x"}]}', '[]'])
    it(`is refused as ${JSON.stringify(text)}`, async () => {
      writeFileSync(file, text);
      await assert.rejects(readRecords(file), { reason: 'BrokenLabData', message: /workloads\.json.*--data/s });
    });
});
