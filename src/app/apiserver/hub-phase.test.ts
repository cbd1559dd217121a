import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { phaseContext } from '../../../test/support/phase-context.ts';
import { scratchDirectory } from '../../../test/support/scratch.ts';
import { startApiServer } from '../../apiserver/start.ts';
import { VirtualClock } from '../../base/clock.ts';
import { hubPhase } from './hub-phase.ts';

const contextIn = (folder: string) => phaseContext(folder, new VirtualClock({ start: new Date() }));

describe('the hub phase', () => {
  it('starts the API, keeps it running, and tells how to reach it', async () => {
    await using folder = await scratchDirectory();
    const { context, kept, said, end } = contextIn(folder.path);
    const outcome = await hubPhase.run(context);
    assert.equal(outcome.health, 'done');
    assert.match(outcome.detail, /^API server ready in \d+ ms, \d+ kinds served, kubeconfig written$/);
    assert.deepEqual(
      kept.map(([name]) => name),
      ['the Kubernetes API'],
    );
    assert.deepEqual(said, ['starting the Kubernetes API']);
    assert.partialDeepStrictEqual(outcome, {
      addresses: [
        { label: 'Kubernetes API' },
        { label: 'kubeconfig', value: '.slipway/kubeconfig', isLasting: true },
      ],
      tries: [{ kind: 'command', text: 'kubectl --kubeconfig .slipway/kubeconfig get namespaces' }],
    });
    assert.equal(statSync(join(folder.path, '.slipway', 'kubeconfig')).mode & 0o777, 0o600);
    await end();
  });

  it('fails with the reason, leaving nothing behind, when the store is in use', async () => {
    await using folder = await scratchDirectory();
    const { context, kept } = contextIn(folder.path);
    await using _other = await startApiServer({
      dataDir: join(context.data, 'api'),
      listen: false,
      program: 'slipway apiserver',
    });
    const outcome = await hubPhase.run(context);
    assert.partialDeepStrictEqual(outcome, {
      health: 'failed',
      code: 'SW1104',
      detail: 'the Kubernetes API did not start',
    });
    assert.match(JSON.stringify(outcome), /is in use by process \d+ \(slipway apiserver, started/);
    assert.equal(kept.length, 0);
  });

  it('keeps the server to be stopped even when the kubeconfig cannot be written', async () => {
    await using folder = await scratchDirectory();
    const { context, kept, end } = contextIn(folder.path);
    const dataDir = join(context.data, 'api');
    await (await startApiServer({ dataDir, listen: false })).stop();
    const file = join(context.data, 'kubeconfig');
    mkdirSync(file);
    assert.deepEqual(await hubPhase.run(context), {
      health: 'failed',
      detail: 'the kubeconfig was not written',
      what: `the kubeconfig cannot be written to ${file}: it is a folder. Move away what is there, or choose another folder with --data`,
      code: 'SW1105',
    });
    assert.equal(kept.length, 1);
    assert.deepEqual(readdirSync(context.data).sort(), ['api', 'kubeconfig']);
    await end();
  });

  it('fails with the code of what is wrong', async () => {
    await using folder = await scratchDirectory();
    const { context } = contextIn(folder.path);
    mkdirSync(join(context.data, 'api'), { recursive: true });
    writeFileSync(join(context.data, 'api', 'identity.json'), '');
    assert.partialDeepStrictEqual(await hubPhase.run(context), { health: 'failed', code: 'SW1107' });
  });
});
