import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { humanDuration } from './human-duration.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

describe('humanDuration', () => {
  const cases: [number, string][] = [
    [-2 * SECOND, '<invalid>'],
    [-SECOND, '0s'],
    [-1, '0s'],
    [0, '0s'],
    [999, '0s'],
    [119 * SECOND, '119s'],
    [2 * MINUTE, '2m'],
    [5 * MINUTE + 30 * SECOND, '5m30s'],
    [10 * MINUTE + 30 * SECOND, '10m'],
    [179 * MINUTE, '179m'],
    [3 * HOUR, '3h'],
    [3 * HOUR + 5 * MINUTE, '3h5m'],
    [8 * HOUR + 5 * MINUTE, '8h'],
    [47 * HOUR, '47h'],
    [2 * DAY, '2d'],
    [3 * DAY + 4 * HOUR, '3d4h'],
    [8 * DAY + 4 * HOUR, '8d'],
    [729 * DAY, '729d'],
    [2 * YEAR, '2y'],
    [2 * YEAR + 3 * DAY, '2y3d'],
    [8 * YEAR + 3 * DAY, '8y'],
    [Number.POSITIVE_INFINITY, '<unknown>'],
  ];
  for (const [ms, want] of cases) {
    it(`shows ${ms} ms as ${want}`, () => assert.equal(humanDuration(ms), want));
  }
});
