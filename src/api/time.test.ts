import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { microTime, time } from './time.ts';

const date = new Date('2026-02-03T04:05:06.789Z');

describe('times of Kubernetes', () => {
  it('runtime/K9: a Time has seconds and no fraction', () => {
    assert.equal(time(date), '2026-02-03T04:05:06Z');
  });

  it('runtime/K9: a MicroTime has exactly six digits', () => {
    assert.equal(microTime(date), '2026-02-03T04:05:06.789000Z');
    assert.equal(microTime(date, 12), '2026-02-03T04:05:06.789012Z');
    assert.equal(microTime(new Date(0)), '1970-01-01T00:00:00.000000Z');
  });

  it('refuses microseconds that are none and dates that are none', () => {
    for (const micros of [-1, 1000, 0.5]) assert.throws(() => microTime(date, micros), RangeError);
    assert.throws(() => time(new Date(Number.NaN)), RangeError);
  });
});
