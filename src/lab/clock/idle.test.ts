import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { milliseconds, timeUntil, untilIdle } from './idle.ts';

/** Changes at these moments. */
function changing(...momentsMs: readonly number[]) {
  const clock = new VirtualClock();
  let lastMs = 0;
  for (const ms of momentsMs)
    clock.timer(ms, () => {
      lastMs = clock.monotonicMs();
    });
  return { clock, lastChangeMs: () => lastMs };
}

const MINUTE_MS = 60_000;

describe('untilIdle', () => {
  it('lab/B3b: ends when nothing has changed for six minutes', async () => {
    const { clock, lastChangeMs } = changing(MINUTE_MS, 6 * MINUTE_MS);
    await untilIdle(clock, lastChangeMs, { max: '1h' });
    assert.equal(clock.monotonicMs(), 12 * MINUTE_MS);
  });

  it('lab/B3b: waits as long as it is told to, and from now on', async () => {
    const { clock, lastChangeMs } = changing(MINUTE_MS, 6 * MINUTE_MS);
    await clock.advance(2 * MINUTE_MS);
    await untilIdle(clock, lastChangeMs, { max: '1h', quiet: '3m' });
    assert.equal(clock.monotonicMs(), 5 * MINUTE_MS);
  });

  it('lab/B3b: rejects when it is not idle in time, and says what was seen last', async () => {
    const everyMinute = Array.from({ length: 60 }, (_, at) => at * MINUTE_MS);
    const { clock, lastChangeMs } = changing(...everyMinute);
    await clock.advance(0);
    await assert.rejects(untilIdle(clock, lastChangeMs, { max: '10m30s' }), {
      message:
        /^the lab is not idle after 10m30s of lab time: the last write that is no heartbeat was 30s ago, and 6m0s without one are asked for/,
    });
    assert.equal(clock.monotonicMs(), 10.5 * MINUTE_MS);
  });

  it('lab/B3b: does not guess where it cannot see', async () => {
    const idle = untilIdle(new VirtualClock(), () => undefined, { max: '1h' });
    await assert.rejects(idle, { reason: 'IdlenessUnknown' });
  });

  it('refuses times that are none', async () => {
    await assert.rejects(
      untilIdle(new VirtualClock(), () => 0, { max: 'soon' }),
      { reason: 'InvalidDuration' },
    );
  });
});

describe('timeUntil', () => {
  const clock = { now: () => new Date('2030-01-01T00:00:00Z') };

  it('lab/B3b: is what is left, and never less than nothing', () => {
    assert.equal(timeUntil(clock, new Date('2030-01-01T01:00:00Z')), 60 * MINUTE_MS);
    assert.equal(timeUntil(clock, clock.now()), 0);
    assert.throws(() => timeUntil(clock, new Date('2029-12-31T23:59:59Z')), {
      reason: 'LabTimeIsOver',
      message: 'lab time is 2030-01-01T00:00:00.000Z and never goes back to 2029-12-31T23:59:59.000Z',
    });
    assert.throws(() => timeUntil(clock, new Date('x')), /never goes back to Invalid Date/);
  });
});

describe('milliseconds', () => {
  it('lab/T8: takes a text or a number, and no time that cannot pass', () => {
    assert.deepEqual([milliseconds('6m'), milliseconds(0), milliseconds(1.5)], [6 * MINUTE_MS, 0, 1.5]);
    for (const time of [-1, '-1s', Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => milliseconds(time), {
        reason: 'InvalidDuration',
        message: `lab time cannot pass by ${time}; say how much as milliseconds from 0 up, or as a text such as 6m`,
      });
  });
});
