import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { ChangeMemory } from './change-memory.ts';
import { WIDGET } from './controller-rig.ts';
import { FailureLog } from './failure-log.ts';
import { FakeCluster } from './fake-cluster.ts';
import { readingLive } from './live-reads.ts';

describe('memory of failures', () => {
  it('keeps no more keys than its limit, and forgets the oldest first', () => {
    const log = new FailureLog(new VirtualClock(), 2);
    for (const key of ['a', 'b', 'b', 'c']) log.failed(key);
    assert.deepEqual([log.get('a'), log.get('b')?.failures, log.get('c')?.failures], [undefined, 2, 1]);
    log.forget('b');
    assert.equal(log.get('b'), undefined);
  });

  it('tells at most 16 reasons between two successes, each once', () => {
    const log = new FailureLog(new VirtualClock());
    const state = log.failed('a');
    const tells = (reason: string) =>
      log.mustTell(state, {
        reason,
        message: '',
        isShown: true,
        isStalled: false,
        isTold: true,
        level: 'warn',
        hasStack: false,
        isUncertain: false,
      });
    const told = Array.from({ length: 40 }, (_, index) => tells(`Reason${index % 20}`)).filter(Boolean);
    assert.equal(told.length, 16);
  });
});

describe('memory of changes', () => {
  it('runtime/O4: says each change once, and says it again when it had to forget', () => {
    const memory = new ChangeMemory(2);
    assert.deepEqual([memory.isNew('a', 1), memory.isNew('a', 1), memory.isNew('a', 2)], [true, false, true]);
    memory.isNew('b', 1);
    memory.isNew('c', 1);
    assert.deepEqual([memory.isNew('c', 1), memory.isNew('a', 2)], [false, true]);
  });
});

describe('a client that reads live', () => {
  it('asks the server whatever the cache holds, also under another manager, and writes as before', async () => {
    const cluster = new FakeCluster(WIDGET);
    cluster.put({ metadata: { name: 'a' } });
    const client = readingLive(cluster.client());
    const key = { namespace: 'default', name: 'a' };
    await client.find(WIDGET, key);
    await client.as('other').find(WIDGET, key);
    await client.applyStatus(WIDGET, { metadata: key });
    assert.equal(client.fieldManager, 'slipway/test');
    const read = 'live.find default/a';
    assert.deepEqual(cluster.requests, [read, read, 'applyStatus slipway/test']);
  });
});
