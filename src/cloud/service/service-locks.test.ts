import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { balancedService } from '../../../test/support/balanced-services.ts';
import { balancerRef } from './balancer-plan.ts';
import { ServiceLocks } from './service-locks.ts';
import { ServiceMemory } from './service-memory.ts';

const NEVER = new AbortController().signal;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the lock of a Service', () => {
  it('ccm/B3: is held by one at a time, in the order in which they came, and each Service has its own', async () => {
    const steps = fc.array(fc.record({ key: fc.constantFrom('a', 'b'), turns: fc.nat(3), fails: fc.boolean() }));
    await fc.assert(
      fc.asyncProperty(steps, async (work) => {
        const locks = new ServiceLocks();
        const active = new Set<string>();
        const ended: number[] = [];
        const runs = work.map(({ key, turns, fails }, at) =>
          locks.run(key, NEVER, async () => {
            assert.ok(!active.has(key));
            active.add(key);
            for (let count = 0; count < turns; count++) await turn();
            active.delete(key);
            ended.push(at);
            if (fails) throw new Error('fails');
          }),
        );
        await Promise.allSettled(runs);
        const order = (key: string) => ended.filter((at) => work[at]?.key === key);
        for (const key of ['a', 'b'])
          assert.deepEqual(
            order(key),
            order(key).toSorted((x, y) => x - y),
          );
        assert.equal(ended.length, work.length);
        await turn();
        assert.deepEqual(
          ['a', 'b'].map((key) => locks.isHeld(key)),
          [false, false],
        );
      }),
      { numRuns: 50 },
    );
  });

  it('ccm/B3, ccm/B13: is not passed on early when one gives up waiting', async () => {
    const locks = new ServiceLocks();
    const first = Promise.withResolvers<void>();
    const order: string[] = [];
    const holding = locks.run('a', NEVER, () => first.promise);
    const stop = new AbortController();
    const waiting = locks.run('a', stop.signal, async () => void order.push('second'));
    const last = locks.run('a', NEVER, async () => void order.push('last'));
    stop.abort(new Error('the process stops'));
    await assert.rejects(waiting, /the process stops/);
    await turn();
    assert.deepEqual([order, locks.isHeld('a')], [[], true]);
    await assert.rejects(
      locks.run('a', stop.signal, () => Promise.resolve()),
      /the process stops/,
    );
    first.resolve();
    await Promise.all([holding, last]);
    assert.deepEqual(order, ['last']);
    await turn();
    assert.equal(locks.isHeld('a'), false);
  });
});

describe('the memory of Services', () => {
  const owner = { cluster: 'c', clusterTags: {}, tagRules: {} };
  const saw = (memory: ServiceMemory, uid: string) => {
    const service = balancedService({ metadata: { uid } });
    memory.saw('a', service, balancerRef(service, owner));
    return service;
  };

  it('ccm/S8, ccm/B13: keeps what it knows of a Service until it is told to forget it, and then nothing', () => {
    const memory = new ServiceMemory();
    const service = saw(memory, '1');
    memory.note('a', { machines: new Map([['n1', 'x']]), last: { service, kind: 'ready', why: '' } });
    saw(memory, '1');
    assert.deepEqual([...(memory.get('a')?.machines ?? [])], [['n1', 'x']]);
    memory.failed('a');
    assert.equal(memory.get('a')?.last, undefined);
    memory.forget('a');
    memory.note('a', { isUnfinished: true });
    memory.failed('a');
    assert.deepEqual([memory.get('a'), memory.size], [undefined, 0]);
  });

  it('ccm/S7: knows nothing of the next Service of the same name', () => {
    const memory = new ServiceMemory();
    saw(memory, '1');
    memory.note('a', { machines: new Map(), isUnfinished: true });
    saw(memory, '2');
    const { machines, isUnfinished } = memory.get('a') ?? {};
    assert.deepEqual([machines, isUnfinished], [undefined, false]);
  });
});
