import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { phaseContext } from '../../../test/support/phase-context.ts';
import { startLab } from '../../lab/index.ts';
import { LAB } from '../lab/lab-handover.ts';
import { definitionPhase } from '../provider/definition-phase.ts';
import { cloudPhase } from './cloud-phase.ts';

describe('the cloud phase', () => {
  it('leaves a lab that somebody else has described as it is', async () => {
    const { context } = phaseContext('/nowhere');
    await using lab = await startLab({ clock: 'auto' });
    LAB.put(context, { lab, isScenario: true, startedAt: lab.clock.now() });
    assert.deepEqual(await cloudPhase.run(context), {
      health: 'skipped',
      detail: 'the scenario describes a lab of its own',
    });
  });

  it('ends at once when it is interrupted', async () => {
    const { context, stop } = phaseContext('/nowhere');
    await definitionPhase().run(context);
    await using lab = await startLab({ cloud: true });
    LAB.put(context, { lab, isScenario: false, startedAt: lab.clock.now() });
    const running = cloudPhase.run(context);
    stop.abort(new Error('Ctrl-C'));
    await assert.rejects(running, { message: 'Ctrl-C' });
  });
});
