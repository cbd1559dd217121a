import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConfigMap } from '../../src/api/generated/core-v1.ts';
import { after, DONE } from '../../src/kube/controller/reconcile.ts';
import { CRASH_FAULTS } from '../../src/testing/crash-faults.ts';
import { Box, placeOf } from '../torture/crash-points/box-kind.ts';
import { boxController, childOf, machines, saysDone } from '../torture/crash-points/controllers.ts';
import { appliesChild, controlledBy, problemsOf, tried } from '../torture/crash-points/harness.ts';

/** What the crash-point harness must notice besides a world that ends differently. */
describe('the crash-point harness', () => {
  it('reliability/T1.4: names a life that goes on after its death', async () => {
    const timers: NodeJS.Timeout[] = [];
    const problems = await problemsOf(
      (life) => [
        boxController({
          reconcile: async (box, context) => {
            const again = setInterval(() => void life.look(() => Promise.resolve()), 1);
            timers.push(again);
            await appliesChild(box, context);
            clearInterval(again);
            return DONE;
          },
        }),
      ],
      { faults: ['kill-after'], stopsAtFailure: true },
    );
    for (const one of timers) clearInterval(one);
    assert.match(problems, /life-0 called after its death/);
  });

  it('reliability/T1.6: names a condition whose time moves without its status', async () => {
    const make = controlledBy(async (box, { client, now }) => {
      if (box.status?.size === box.spec.size) return DONE;
      const lastTransitionTime = now().toISOString().replace(/\.\d+/, '');
      const ready = { type: 'Ready', status: 'True', reason: 'Done', message: '', lastTransitionTime } as const;
      const status = { conditions: [ready], size: box.spec.size };
      await client.applyStatus(Box, { metadata: placeOf(box), status }, { force: true });
      return DONE;
    });
    await assert.rejects(
      tried(make, { faults: [] }),
      /fails undisturbed: condition Ready of .* has another lastTransitionTime and the same status/,
    );
  });

  it('reliability/T1.6: names a storm of writes, though it ends', async () => {
    const problems = await problemsOf(
      ({ clock }) => [
        boxController({
          reconcile: async (box, { client }) => {
            const isRestart = box.status?.size === undefined && clock.monotonicMs() > 15_000;
            await client.apply(ConfigMap, childOf(box), { force: true });
            for (let left = isRestart ? 40 : 0; left > 0; left--)
              await client.patch(ConfigMap, placeOf(box), {
                type: 'merge',
                body: { data: { left: String(left) } },
              });
            await saysDone(client, box);
            return DONE;
          },
        }),
      ],
      { faults: ['kill-after'], points: (point) => point.endsWith('configmaps|default/a|1') },
    );
    assert.match(problems, /4\d writes, where \d are enough undisturbed/);
  });

  it('reliability/T1.6: names too many warnings', async () => {
    const problems = await problemsOf(
      ({ clock }) => [
        boxController({
          reconcile: async (box, context) => {
            const isRestart = box.status?.size === undefined && clock.monotonicMs() > 15_000;
            for (let left = isRestart ? 5 : 0; left > 0; left--)
              context.events.warning(box, `Trouble${left}`, 'again', { action: 'Reconcile' });
            return appliesChild(box, context);
          },
        }),
      ],
      { faults: ['kill-after'], points: (point) => point.endsWith('configmaps|default/a|1') },
    );
    assert.match(problems, /5 warnings, where there are 0 undisturbed/);
  });

  it('reliability/T1.2: a controller that never comes to rest fails undisturbed', async () => {
    let number = 0;
    const make = controlledBy(async (box, { client }) => {
      await client.apply(ConfigMap, { ...childOf(box), data: { number: String(++number) } }, { force: true });
      return after(1000);
    });
    await assert.rejects(tried(make, { faults: [] }), /do not come to rest/);
  });

  it('reliability/T1.6: compares what is outside of the cluster', async () => {
    const problems = await problemsOf(
      (life, cloud) => [
        boxController({
          reconcile: async (box, { client }) => {
            if (box.status?.machine !== undefined) return DONE;
            const create = () => cloud.create(undefined, { tag: box.metadata.name, size: 1 });
            const { id } = await life.effect({ verb: 'create', kind: 'machine', name: 'a' }, create);
            await saysDone(client, box, { machine: id });
            return DONE;
          },
        }),
      ],
      { faults: ['duplicate'], points: (point) => point.startsWith('create|') },
    );
    assert.match(problems, /outside the cluster there is \[.*"disk":2.*\], not \[.*"disk":1/);
  });

  it('reliability/T1.3: every fault strikes at a write, and outside of the cluster those that can', async () => {
    const lines: string[] = [];
    const onRun = (line: string) => lines.push(/: ([a-z0-9-]+) at .*: same world$/.exec(line)?.[1] ?? line);
    const isChild = (point: string) => point.includes('configmaps|default/a|1');
    await tried(controlledBy(appliesChild), { points: isChild, onRun });
    assert.deepEqual(lines.splice(0), CRASH_FAULTS);
    await tried(machines(), { points: (point) => point.startsWith('create|'), onRun });
    const outside = CRASH_FAULTS.filter((fault) => !/stale|409|429|500|504/.test(fault));
    assert.deepEqual(lines, outside);
  });

  it('reliability/T1.1: two enumerations with one seed say the same', async () => {
    const run = () => tried(controlledBy(appliesChild), { faults: ['kill-twice', 'zombie'], seed: 3 });
    assert.deepEqual(await run(), await run());
  });
});
