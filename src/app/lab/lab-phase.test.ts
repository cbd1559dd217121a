import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { phaseContext } from '../../../test/support/phase-context.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { startLab } from '../../lab/index.ts';
import { labPhase } from './lab-phase.ts';

const SMALL = { name: 'x', options: { nodes: 1 } };

describe('the lab phase', () => {
  it('lab/B4: starts the clusters of a scenario in a folder of its own', async () => {
    await using folder = await scratchDirectory();
    const { context, rows, said, kept, end } = phaseContext(folder.path);
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
    assert.deepEqual(said, ['starting two']);
    assert.deepEqual(
      kept.map(([name]) => name),
      ['the lab'],
    );
  });

  it('fails with the cause and a way on while another lab has its folder', async () => {
    await using folder = await scratchDirectory();
    const { context, kept } = phaseContext(folder.path);
    await using _other = await startLab({ data: join(context.data, 'lab-x') });
    const outcome = await labPhase(SMALL).run(context);
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
    const running = labPhase(SMALL).run(context);
    stop.abort(new Error('Ctrl-C'));
    await running;
    assert.deepEqual(
      kept.map(([name]) => name),
      ['the lab'],
    );
    await end();
    const journal = join(context.data, 'lab-x', 'children.jsonl');
    assert.equal(existsSync(journal) ? readFileSync(journal, 'utf8') : '', '');
  });
});
