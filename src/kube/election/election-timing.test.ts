import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { LEADER_PROFILES, timingProblems } from './election-timing.ts';

describe('timingProblems', () => {
  for (const [name, timing] of Object.entries(LEADER_PROFILES)) {
    it(`runtime/E1: accepts the profile ${name}`, () => assert.deepEqual(timingProblems(timing), []));
  }

  it('runtime/E1: the profiles have the values of the spec', () => {
    const seconds = Object.values(LEADER_PROFILES).map(({ leaseMs, renewMs, retryMs }) =>
      [leaseMs, renewMs, retryMs].map((ms) => ms / 1000).join('/'),
    );
    assert.deepEqual(seconds, ['15/10/2', '137/107/26', '270/240/60']);
  });

  const cases = [
    { timing: { leaseMs: 10, renewMs: 10, retryMs: 2 }, want: [/--lease-duration \(10ms\) must be more than/] },
    {
      timing: { leaseMs: 20, renewMs: 12, retryMs: 10 },
      want: [/--renew-deadline \(12ms\).*1\.2 x --retry-period/],
    },
    { timing: { leaseMs: 9, renewMs: 9, retryMs: 9 }, want: [/--lease-duration/, /--renew-deadline/] },
    {
      timing: { leaseMs: 0, renewMs: -1, retryMs: 0 },
      want: [/--lease-duration is 0s/, /--renew-deadline is -1ms/, /--retry-period/],
    },
  ];
  for (const { timing, want } of cases) {
    it(`runtime/E1: lists every problem of ${JSON.stringify(timing)}`, () => {
      const problems = timingProblems(timing);
      assert.equal(problems.length, want.length, problems.join('\n'));
      for (const [index, pattern] of want.entries()) assert.match(problems[index] ?? '', pattern);
    });
  }
});
