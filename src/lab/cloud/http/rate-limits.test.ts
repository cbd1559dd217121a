import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { cloudWorld } from '../../../../test/support/cloud-world.ts';
import { VirtualClock } from '../../../base/clock.ts';
import { CloudError } from '../cloud-error.ts';
import { RateLimits, USUAL_RATES } from './rate-limits.ts';

const isTaken = (limits: RateLimits, clientId = 'c', rateClass: 'read' | 'write' = 'read'): boolean => {
  try {
    limits.take(clientId, rateClass);
    return true;
  } catch (error) {
    assert.ok(error instanceof CloudError && error.code === 'RateLimited');
    return false;
  }
};

describe('rate limits', () => {
  it('lab/C8: are 50 reads a second with 100 at once, and 10 writes with 20, unless told otherwise', () => {
    assert.deepEqual(USUAL_RATES, { read: { perSecond: 50, burst: 100 }, write: { perSecond: 10, burst: 20 } });
  });

  it('lab/C8: let through what fits into the bucket, as long as time fills it', async () => {
    const clock = new VirtualClock();
    const limits = new RateLimits(USUAL_RATES, clock);
    const burst = Array.from({ length: 30 }, () => isTaken(limits, 'c', 'write'));
    assert.equal(burst.filter(Boolean).length, 20);
    await clock.advance(99);
    assert.equal(isTaken(limits, 'c', 'write'), false);
    await clock.advance(1);
    assert.equal(isTaken(limits, 'c', 'write'), true);
    assert.equal(isTaken(limits, 'c', 'write'), false);
  });

  it('lab/C8: never let through more than the burst and the rate allow, nor less when nobody hurries', () => {
    const steps = fc.array(fc.record({ waitMs: fc.nat(300), requests: fc.nat(30) }), { maxLength: 40 });
    fc.assert(
      fc.property(steps, (given) => {
        let nowMs = 0;
        const limits = new RateLimits(
          { ...USUAL_RATES, read: { perSecond: 5, burst: 3 } },
          { monotonicMs: () => nowMs },
        );
        let taken = 0;
        for (const { waitMs, requests } of given) {
          nowMs += waitMs;
          for (let n = 0; n < requests; n++) taken += isTaken(limits) ? 1 : 0;
          assert.ok(taken <= 3 + (nowMs * 5) / 1000 + 1e-6);
        }
        nowMs += 1000;
        assert.equal(isTaken(limits), true);
      }),
    );
  });

  it('lab/C8: count each credential and each class for itself', async () => {
    const rates = { read: { perSecond: 1, burst: 2 }, write: { perSecond: 1, burst: 3 } };
    await using world = await cloudWorld({ rates });
    // A token costs a write.
    await world.ask('GET', '/v1/zones');
    await world.ask('GET', '/v1/zones', { as: 'lab-provider' });
    assert.equal((await world.ask('GET', '/v1/zones')).status, 200);
    assert.equal((await world.ask('GET', '/v1/zones')).status, 429);
    assert.equal((await world.ask('GET', '/v1/zones', { as: 'lab-provider' })).status, 200);
    assert.equal((await world.ask('POST', '/v1/buckets', { body: { name: 'one' } })).status, 201);
    assert.equal((await world.ask('POST', '/v1/buckets', { body: { name: 'two' } })).status, 201);
    assert.equal((await world.ask('POST', '/v1/buckets', { body: { name: 'three' } })).status, 429);
  });

  it('lab/C8: remember no more credentials than they may: the one that was idle longest goes', () => {
    const limits = new RateLimits({ ...USUAL_RATES, read: { perSecond: 1, burst: 1 } }, new VirtualClock());
    assert.deepEqual([isTaken(limits, 'first'), isTaken(limits, 'first')], [true, false]);
    for (let n = 0; n < 10_000; n++) isTaken(limits, `c${n}`);
    assert.deepEqual([isTaken(limits, 'c9999'), isTaken(limits, 'first')], [false, true]);
  });

  it('lab/C8: say after how many whole seconds to come back, at least one', async () => {
    await using world = await cloudWorld({
      rates: { read: { perSecond: 0.25, burst: 1 }, write: { perSecond: 50, burst: 50 } },
    });
    await world.ask('GET', '/v1/zones');
    const { status, headers, error } = await world.ask('GET', '/v1/zones');
    assert.deepEqual([status, headers.get('retry-after'), error['retryable']], [429, '4', true]);
    await world.clock.advance(3999);
    const soon = await world.ask('GET', '/v1/zones');
    assert.deepEqual([soon.status, soon.headers.get('retry-after')], [429, '1']);
    await world.clock.advance(1);
    assert.equal((await world.ask('GET', '/v1/zones')).status, 200);
  });

  it('lab/C8: take one for each page of a list', async () => {
    await using world = await cloudWorld({
      rates: { read: { perSecond: 1, burst: 2 }, write: { perSecond: 50, burst: 50 } },
    });
    const first = await world.ask('GET', '/v1/instance-types?limit=2');
    const token = String(first.body['nextPageToken']);
    assert.equal((await world.ask('GET', `/v1/instance-types?limit=2&pageToken=${token}`)).status, 200);
    assert.equal((await world.ask('GET', `/v1/instance-types?limit=2&pageToken=${token}`)).status, 429);
  });

  it('lab/C8: do not touch administrators of the lab', async () => {
    await using world = await cloudWorld({ rates: { read: { perSecond: 1, burst: 1 } } });
    for (let n = 0; n < 5; n++) assert.equal((await world.ask('GET', '/lab/journal')).status, 200);
  });
});
