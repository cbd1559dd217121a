import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { phaseContext } from '../../../test/support/phase-context.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { Node } from '../../api/generated/core-v1.ts';
import { startLab } from '../../lab/index.ts';
import { labPhase } from './lab-phase.ts';

describe('the lab phase', () => {
  it('has nodes and a pod that answers, and says how to go on', async () => {
    await using folder = await scratchDirectory();
    const { context, kept, said, rows, end } = phaseContext(folder.path);
    const outcome = await labPhase().run(context);
    assert.equal(outcome.health, 'done', JSON.stringify(outcome));
    assert.match(outcome.detail, /^2 nodes ready, a pod is process \d+ on w-\d$/);
    assert.deepEqual(said, ['starting a cluster with two nodes', 'starting a pod as a process']);
    assert.deepEqual(
      rows.map(({ path, word, note = '' }) => [path.length, word, note.replace(/\d+/, '')]),
      [
        [1, 'ready', ''],
        [1, 'ready', ''],
        [2, 'running', 'process '],
      ],
    );
    assert.deepEqual(
      kept.map(([name]) => name),
      ['the lab'],
    );
    const pid = Number(rows[2]?.note?.replace('process ', ''));
    assert.ok(process.kill(pid, 0));
    await end();
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  it('tells nodes that an earlier run left from those that are ready now', async () => {
    await using folder = await scratchDirectory();
    const { context, rows, end } = phaseContext(folder.path);
    await using earlier = await startLab({ data: join(context.data, 'lab') });
    const { client } = earlier.cluster();
    await client.create(Node, { metadata: { name: 'left' } });
    const lastHeartbeatTime = '2020-01-01T00:00:00Z';
    const ready = { type: 'Ready', status: 'True' as const, reason: 'KubeletReady', lastHeartbeatTime };
    const body = { status: { conditions: [ready] } };
    await client.patch(Node, { name: 'left' }, { type: 'merge', body }, { subresource: 'status' });
    await earlier[Symbol.asyncDispose]();
    const outcome = await labPhase().run(context);
    await end();
    assert.match(outcome.detail, /^2 of 3 nodes ready, a pod is process/);
    assert.deepEqual(
      rows.filter(({ path }) => path.length === 1).map(({ path, word }) => `${path.join()} ${word}`),
      ['left not ready', 'w-1 ready', 'w-2 ready'],
    );
  });

  it('lab/B4: starts the clusters of a scenario in a folder of its own', async () => {
    await using folder = await scratchDirectory();
    const { context, rows, end } = phaseContext(folder.path);
    const clusters = [
      { name: 'hub', nodes: 1 },
      { name: 'c1', workers: 1 },
    ];
    const outcome = await labPhase({ name: 'two', options: { clusters } }).run(context);
    assert.partialDeepStrictEqual(outcome, { health: 'done', detail: '2 clusters, 2 nodes' });
    assert.deepEqual(
      rows.map(({ path }) => path),
      [
        ['hub', 'w-1'],
        ['c1', 'w-1'],
      ],
    );
    await end();
    assert.ok(existsSync(join(context.data, 'lab-two', 'hub.kubeconfig')));
  });

  it('fails with the cause and a way on while another lab has its folder', async () => {
    await using folder = await scratchDirectory();
    const { context, kept } = phaseContext(folder.path);
    await using _other = await startLab({ data: join(context.data, 'lab') });
    const outcome = await labPhase().run(context);
    assert.partialDeepStrictEqual(outcome, { health: 'failed', detail: 'the lab did not start', code: 'SW1104' });
    assert.match(JSON.stringify(outcome), /is in use by process \d+ \(a lab/);
    assert.equal(kept.length, 0);
  });

  it('fails with the file that a scenario names in vain', async () => {
    await using folder = await scratchDirectory();
    const { context, end } = phaseContext(folder.path);
    const clusters = [{ name: 'lab', nodes: 1, kubeconfig: join(folder.path, 'none') }];
    const outcome = await labPhase({ name: 'x', options: { clusters } }).run(context);
    assert.partialDeepStrictEqual(outcome, { health: 'failed', detail: 'the lab did not start' });
    assert.match(JSON.stringify(outcome), /none/);
    await end();
  });

  it('ends at once when it is interrupted, and what had begun ends with the journey', async () => {
    await using folder = await scratchDirectory();
    const { context, kept, stop, end } = phaseContext(folder.path);
    const running = labPhase().run(context);
    stop.abort(new Error('Ctrl-C'));
    await running;
    assert.deepEqual(
      kept.map(([name]) => name),
      ['the lab'],
    );
    await end();
    const journal = join(context.data, 'lab', 'children.jsonl');
    assert.equal(existsSync(journal) ? readFileSync(journal, 'utf8') : '', '');
  });
});
