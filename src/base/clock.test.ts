import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SystemClock, VirtualClock } from './clock.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('VirtualClock', () => {
  it('stands still until told to move', async () => {
    const clock = new VirtualClock({ start: new Date('2026-01-01T00:00:00Z') });
    assert.equal(clock.now().toISOString(), '2026-01-01T00:00:00.000Z');
    await clock.advance(1500);
    assert.equal(clock.now().toISOString(), '2026-01-01T00:00:01.500Z');
    assert.equal(clock.monotonicMs(), 1500);
  });

  it('shows each timer the time it was due at', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    clock.timer(30, () => seen.push(clock.monotonicMs()));
    clock.timer(10, () => seen.push(clock.monotonicMs()));
    await clock.advance(100);
    assert.deepEqual(seen, [10, 30]);
  });

  it('lets what a timer started run before the next timer fires', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    const work = async () => {
      await clock.sleep(10);
      await Promise.resolve();
      seen.push('work');
      await clock.sleep(5);
      seen.push('more work');
    };
    const done = work();
    clock.timer(20, () => seen.push('late'));
    await clock.advance(20);
    await done;
    assert.deepEqual(seen, ['work', 'more work', 'late']);
  });

  it('forgets a timer that was disposed', async () => {
    const clock = new VirtualClock();
    const timer = clock.timer(10, () => assert.fail('fired'));
    timer[Symbol.dispose]();
    await clock.advance(20);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('repeats its random numbers and identifiers for the same seed', () => {
    const take = (seed: number) => {
      const clock = new VirtualClock({ seed });
      return [clock.random(), clock.random(), clock.uuid()];
    };
    assert.deepEqual(take(7), take(7));
    assert.notDeepEqual(take(7), take(8));
    assert.match(String(take(7)[2]), UUID);
  });

  it('fires timers in order of due time, then of creation, whatever the order of requests', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(50), { maxLength: 30 }), async (delays) => {
        const clock = new VirtualClock();
        const fired: number[] = [];
        for (const [index, delay] of delays.entries()) clock.timer(delay, () => fired.push(index));
        await clock.advance(50);
        const want = delays
          .map((delay, index) => ({ delay, index }))
          .sort((a, b) => a.delay - b.delay || a.index - b.index);
        assert.deepEqual(
          fired,
          want.map(({ index }) => index),
        );
      }),
      { numRuns: 30 },
    );
  });
});

for (const clock of [new VirtualClock(), new SystemClock()]) {
  describe(`sleep of ${clock.constructor.name}`, () => {
    it('rejects at once for a signal that is already aborted', async () => {
      await assert.rejects(clock.sleep(60_000, AbortSignal.abort(new Error('stop'))), { message: 'stop' });
    });

    it('rejects with the reason of the signal and leaves no timer behind', async () => {
      const controller = new AbortController();
      const sleeping = clock.sleep(60_000, controller.signal);
      controller.abort(new Error('stop'));
      await assert.rejects(sleeping, { message: 'stop' });
      if (clock instanceof VirtualClock) assert.equal(clock.nextDueMs, undefined);
    });
  });
}

describe('SystemClock', () => {
  it('does not take a month for a moment', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const hourMs = 3_600_000;
    let hours = 0;
    let firedAfter: number | undefined;
    new SystemClock().timer(30 * 24 * hourMs, () => (firedAfter = hours));
    for (hours = 1; hours <= 31 * 24; hours++) t.mock.timers.tick(hourMs);
    // The mock re-arms at the end of the hour in which the first part ended.
    assert.ok(firedAfter === 30 * 24 || firedAfter === 30 * 24 + 1, `fired after ${firedAfter} hours`);
  });

  it('forgets a timer that was disposed', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const timer = new SystemClock().timer(10, () => assert.fail('fired'));
    timer[Symbol.dispose]();
    t.mock.timers.tick(20);
  });

  it('fires a timer, sleeps, and gives identifiers', async () => {
    const clock = new SystemClock();
    const before = clock.monotonicMs();
    await clock.sleep(1);
    await new Promise<void>((resolve) => void clock.timer(1, resolve));
    assert.ok(clock.monotonicMs() > before);
    assert.match(clock.uuid(), UUID);
    assert.ok(clock.random() < 1);
    assert.ok(clock.now() instanceof Date);
  });
});
