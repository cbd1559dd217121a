import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ScaledClock, SystemClock } from '../../base/clock.ts';
import { Activity } from '../../kube/quiet/activity.ts';
import { clockSetting } from './lab-clock.ts';
import { RunningLabClock } from './running-lab-clock.ts';

const host = new SystemClock();
const clockWith = (factor: number, seed?: number) =>
  new RunningLabClock({
    scale: { factor, start: new Date('2030-01-01T00:00:00Z'), hostStart: host.now() },
    activity: new Activity(),
    ...(seed !== undefined && { seed }),
  });

describe('RunningLabClock', () => {
  it('lab/T2: goes as fast as its factor says', async () => {
    const clock = clockWith(1000);
    const [before, hostBefore] = [clock.monotonicMs(), host.monotonicMs()];
    await clock.sleep(10_000);
    const [passed, hostPassed] = [clock.monotonicMs() - before, host.monotonicMs() - hostBefore];
    assert.ok(passed >= 9000 && hostPassed < passed / 10, `${passed} ms of the lab in ${hostPassed} ms`);
    assert.equal(clock.mode, 'scaled');
  });

  it('lab/T7: tells a child enough to show the same time', () => {
    const clock = clockWith(20);
    const setting = clockSetting(clock, host) ?? '';
    const [, factor, ...times] = /^scaled:([\d.]+):(.+Z):(.+Z)$/.exec(setting) ?? [];
    const [start = '', hostStart = ''] = times;
    const child = new ScaledClock({
      factor: Number(factor),
      start: new Date(start),
      hostStart: new Date(hostStart),
    });
    // A second of a machine that is busy is twenty here.
    assert.ok(Math.abs(child.now().getTime() - clock.now().getTime()) < 20_000);
    assert.equal(clockSetting({ mode: 'auto', factor: 1, now: () => host.now() }, host), undefined);
  });

  it('lab/B3b: goes to a moment by waiting for it', async () => {
    const clock = clockWith(1000);
    const target = new Date(clock.now().getTime() + 5000);
    await clock.advanceTo(target);
    assert.ok(clock.now() >= target);
    await clock.advance('1s');
    await assert.rejects(clock.advanceTo(target), { reason: 'LabTimeIsOver' });
    await clock.runUntilIdle({ max: '1m', quiet: '5s' });
  });

  it('settles when nothing moves, and takes a promise as it comes', async () => {
    const clock = clockWith(100, 7);
    await clock.settle();
    assert.equal(await clock.through(Promise.resolve(1), 1000), 1);
    await assert.rejects(clock.through(new Promise(() => {}), 100), /not within 0.1 s of lab time/);
    assert.equal(clock.random(), clockWith(1, 7).random());
  });
});
