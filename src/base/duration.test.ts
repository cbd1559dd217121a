import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { goDuration, humanDuration, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  const cases = [
    { given: '0', want: 0 },
    { given: '300ms', want: 300 },
    { given: '15s', want: 15_000 },
    { given: '1.5h', want: 5_400_000 },
    { given: '1h30m10s', want: 5_410_000 },
    { given: '-2m', want: -120_000 },
    { given: '+2m', want: 120_000 },
    { given: '.5s', want: 500 },
    { given: '1.s', want: 1000 },
    { given: '500us', want: 0.5 },
    { given: '1µs', want: 0.001 },
    { given: '1μs', want: 0.001 },
    { given: '1500ns', want: 0.0015 },
    { given: '1.001s', want: 1001 },
  ];
  for (const { given, want } of cases) {
    it(`reads ${given} as Go does`, () => assert.equal(parseDuration(given), want));
  }
  for (const given of ['', '-', '5', '5 s', 's', '1d', '1h 30m', '1.2.3s', '--5s', '1e3s', `${'9'.repeat(40)}h`]) {
    it(`refuses "${given}" with a sentence that shows it`, () => {
      assert.throws(() => parseDuration(given), {
        reason: 'InvalidDuration',
        message: `"${given}" is not a duration; write a number with a unit, such as 300ms, 15s or 1h30m`,
      });
    });
  }
});

describe('goDuration', () => {
  it('prints what Go prints', () => {
    assert.deepEqual([0, 250, 1500, 60_000, 3_600_000, 3_723_400].map(goDuration), [
      '0s',
      '250ms',
      '1.5s',
      '1m0s',
      '1h0m0s',
      '1h2m3.4s',
    ]);
  });

  it('style/S56: is the inverse of parseDuration for whole milliseconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => {
        assert.equal(parseDuration(goDuration(ms)), ms);
      }),
    );
  });
});

describe('humanDuration', () => {
  const cases = [
    { given: 0, want: '0.0 s' },
    { given: 420, want: '0.4 s' },
    { given: 12_345, want: '12.3 s' },
    { given: 59_949, want: '59.9 s' },
    { given: 59_999, want: '1 m 00 s' },
    { given: 125_000, want: '2 m 05 s' },
    { given: 3_600_000, want: '1 h 00 m' },
    { given: -5, want: '0.0 s' },
  ];
  for (const { given, want } of cases) {
    it(`experience/X9: prints ${given} ms as ${want}`, () => assert.equal(humanDuration(given), want));
  }
});
