import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SystemClock } from '../../base/clock.ts';
import { Activity } from '../../kube/quiet/activity.ts';
import { AutoLabClock } from './auto-lab-clock.ts';

const START = new Date('2030-01-01T00:00:00Z');
const host = new SystemClock();

function clockWith(options: { readonly stallMs?: number; readonly childJumpMs?: number } = {}) {
  const activity = new Activity();
  const describe = () => ['queue of deployments: 3 ready'];
  return { activity, clock: new AutoLabClock({ start: START, seed: 7, activity, describe, ...options }) };
}

describe('AutoLabClock', () => {
  it('lab/T2: stands still until somebody waits for it, and goes from timer to timer then', async () => {
    const { clock } = clockWith();
    const fired: number[] = [];
    using _beat = clock.interval(10_000, () => fired.push(clock.monotonicMs()));
    await host.sleep(5);
    assert.deepEqual([fired, clock.now()], [[], START]);
    await clock.advance(35_000);
    assert.deepEqual(fired, [10_000, 20_000, 30_000]);
    assert.equal(clock.now().toISOString(), '2030-01-01T00:00:35.000Z');
  });

  it('lab/T4: lets what a timer started come to rest before the next one fires', async () => {
    const { clock, activity } = clockWith();
    const order: string[] = [];
    const slow = async (name: string) => {
      using _hold = activity.hold(name);
      await host.sleep(3);
      order.push(`${name} ends at ${clock.monotonicMs()}`);
    };
    clock.timer(1000, () => void slow('first'));
    clock.timer(1001, () => void slow('second'));
    await clock.advance(2000);
    assert.deepEqual(order, ['first ends at 1000', 'second ends at 1001']);
  });

  it('lab/T4: gives the same random numbers and identifiers for the same seed', () => {
    const draw = () => {
      const { clock } = clockWith();
      return [clock.random(), clock.uuid(), clock.random()];
    };
    assert.deepEqual(draw(), draw());
  });

  it('lab/T3: does not move while somebody holds it', async () => {
    const { clock } = clockWith();
    let hasFired = false;
    clock.timer(10, () => {
      hasFired = true;
    });
    const hold = clock.hold('a test looks at something');
    const waiting = clock.advance(100);
    await host.sleep(10);
    assert.equal(hasFired, false);
    hold[Symbol.dispose]();
    await waiting;
    assert.equal(hasFired, true);
  });

  it('lab/T9: says who keeps the lab from being quiet', async () => {
    const { clock } = clockWith({ stallMs: 20 });
    using _hold = clock.hold('pod web-1 starts');
    await assert.rejects(clock.settle(), (error: Error) => {
      assert.match(
        error.message,
        /not quiet after 0\.0 s of real time: 1 in flight; held by pod web-1 starts \(for 0\.\d s\)/,
      );
      assert.match(error.message, /queue of deployments: 3 ready/);
      return true;
    });
  });

  it('lab/T9: says who fires timers without end', async () => {
    const { clock } = clockWith();
    const spin = () => void clock.timer(0, spin);
    spin();
    await assert.rejects(
      clock.advance(1000),
      /more than 10000 timers fired within one second of lab time, one of them set at/,
    );
    await clock[Symbol.asyncDispose]();
  });

  it('lab/T5: passes as outside while a child is not settled, and jumps in steps once it is', async () => {
    const { clock } = clockWith({ childJumpMs: 1000 });
    await using _end = clock;
    const startMs = host.monotonicMs();
    const child = clock.follow('web-1');
    await clock.advance(50);
    const [labMs, realMs] = [clock.monotonicMs(), host.monotonicMs() - startMs];
    assert.ok(labMs >= 50 && labMs <= realMs + 1, `${labMs} ms of lab time in ${realMs} ms`);
    child.settled();
    const before = host.monotonicMs();
    await clock.advance(3000);
    assert.ok(host.monotonicMs() - before >= 200, 'three steps of a second take 100 ms each');
    child[Symbol.dispose]();
    await clock.advance(3_600_000);
  });

  it('lab/B3b: goes to a moment, and fires everything on the way', async () => {
    const { clock } = clockWith();
    const fired: number[] = [];
    using _beat = clock.interval(60_000, () => fired.push(clock.monotonicMs()));
    await clock.advance('2m');
    await clock.advanceTo(new Date('2030-01-01T00:03:30Z'));
    assert.deepEqual([fired, clock.monotonicMs()], [[60_000, 120_000, 180_000], 210_000]);
    await assert.rejects(clock.advanceTo(START), { reason: 'LabTimeIsOver' });
    await clock.runUntilIdle({ max: '1h', quiet: '10s' });
    assert.equal(clock.monotonicMs(), 220_000);
  });

  it('resolves with what a promise gives, and rejects when it takes too much lab time', async () => {
    const { clock } = clockWith();
    assert.equal(
      await clock.through(
        clock.sleep(5000).then(() => 'done'),
        6000,
      ),
      'done',
    );
    await assert.rejects(clock.through(clock.sleep(5000), 4000), /not within 4 s of lab time/);
    await assert.rejects(clock.through(Promise.reject(new Error('failed')), 1000), /failed/);
  });
});
