import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type Claim,
  earlyLeaders,
  handoversOf,
  median,
  overlapsOf,
  parseClaims,
  tenuresOf,
  withoutAftermath,
} from './support/claims.ts';

/** A claim every 5 ms, both ends included. */
const claims = (by: string, fromMs: number, toMs: number): readonly Claim[] =>
  Array.from({ length: Math.floor((toMs - fromMs) / 5) + 1 }, (_, index) => ({ by, atMs: fromMs + index * 5 }));

const merged = (...lists: readonly (readonly Claim[])[]): readonly Claim[] =>
  lists.flat().sort((a, b) => a.atMs - b.atMs);

describe('claims of leaders', () => {
  it('reads the lines of several writers in order of time', () => {
    assert.deepEqual(parseClaims('2500 b#1\n1000 a#1\n'), [
      { atMs: 1, by: 'a#1' },
      { atMs: 2.5, by: 'b#1' },
    ]);
  });

  it('refuses a line that is no claim: an analysis of half a file proves nothing', () => {
    assert.throws(() => parseClaims('1000 a#1\n10'), /"10" is no claim/);
  });

  it('makes one tenure of claims without a long silence, and two around one', () => {
    assert.deepEqual(tenuresOf(merged(claims('a', 0, 500), claims('a', 1400, 1500))), [
      { by: 'a', fromMs: 0, toMs: 1500 },
    ]);
    assert.deepEqual(tenuresOf(merged(claims('a', 0, 500), claims('a', 1600, 1700))), [
      { by: 'a', fromMs: 0, toMs: 500 },
      { by: 'a', fromMs: 1600, toMs: 1700 },
    ]);
  });

  const overlapping = [
    { name: 'one after the other', lists: [claims('a', 0, 500), claims('b', 505, 900)], ms: [] },
    {
      name: 'a last claim at the moment of the first',
      lists: [claims('a', 0, 500), claims('b', 500, 900)],
      ms: [],
    },
    { name: 'a start before the end', lists: [claims('a', 0, 500), claims('b', 490, 900)], ms: [10] },
    { name: 'one inside the other', lists: [claims('a', 0, 500), claims('b', 100, 200)], ms: [100] },
    {
      name: 'a single claim inside the tenure of another',
      lists: [claims('a', 0, 500), claims('b', 100, 100)],
      ms: [0],
    },
    {
      name: 'a former leader that comes back beside the next one',
      lists: [claims('a', 0, 500), claims('b', 4000, 9000), claims('a', 6000, 6020)],
      ms: [20],
    },
  ];
  for (const { name, lists, ms } of overlapping) {
    it(`finds ${ms.length} overlaps in ${name}`, () => {
      assert.deepEqual(
        overlapsOf(tenuresOf(merged(...lists))).map((overlap) => overlap.ms),
        ms,
      );
    });
  }

  const EXCUSE = { windowMs: 100, leastMs: 1000 };
  const paused = { by: 'a', fromMs: 500, toMs: 6000 };
  const comesBack = merged(claims('a', 0, 500), claims('b', 4000, 9000), claims('a', 6000, 6020));

  it('sets apart what a candidate without a fence claims right after its own pause', () => {
    const { sound, aftermath } = withoutAftermath(comesBack, [paused], EXCUSE);
    assert.deepEqual(aftermath, claims('a', 6000, 6020));
    assert.deepEqual(overlapsOf(tenuresOf(sound)), []);
  });

  it('sets it apart also when the next leader is stopped meanwhile, so that it does not look like a third one', () => {
    const alone = merged(claims('a', 0, 500), claims('b', 4000, 6010), claims('a', 6000, 6050));
    const { sound, aftermath } = withoutAftermath(alone, [paused], EXCUSE);
    assert.deepEqual(aftermath, claims('a', 6000, 6050));
    assert.deepEqual(
      earlyLeaders(sound, [{ by: 'b', fromMs: 6010, toMs: 9000 }], () => 1000),
      [],
    );
  });

  it('counts only the time in which the process ran: who is stopped again before it knew learns nothing meanwhile', () => {
    const again = merged(
      claims('a', 0, 500),
      claims('b', 4000, 9000),
      claims('a', 6000, 6020),
      claims('a', 8030, 8030),
    );
    const { aftermath } = withoutAftermath(again, [paused, { by: 'a', fromMs: 6025, toMs: 8025 }], EXCUSE);
    assert.deepEqual(aftermath, [...claims('a', 6000, 6020), ...claims('a', 8030, 8030)]);
    assert.deepEqual(withoutAftermath(again, [paused], EXCUSE).aftermath, claims('a', 6000, 6020));
  });

  const notExcused = [
    { name: 'without a pause', standstills: [] },
    { name: 'after the pause of another', standstills: [{ by: 'b', fromMs: 5800, toMs: 6000 }] },
    { name: 'that came before its lease can have ended', standstills: [{ by: 'b', fromMs: 5800, toMs: 5990 }] },
    { name: 'long after its pause', standstills: [{ ...paused, toMs: 5800 }] },
    { name: 'before its pause', standstills: [{ by: 'a', fromMs: 6100, toMs: 6200 }] },
  ];
  for (const { name, standstills } of notExcused) {
    it(`does not excuse a second leader ${name}`, () => {
      const { sound, aftermath } = withoutAftermath(comesBack, standstills, EXCUSE);
      assert.deepEqual(aftermath, []);
      assert.equal(overlapsOf(tenuresOf(sound)).length, 1);
    });
  }

  it('keeps what a leader claims after a pause in which nobody took over', () => {
    const lives = merged(claims('a', 0, 500), claims('a', 1000, 1500));
    assert.deepEqual(withoutAftermath(lives, [{ by: 'a', fromMs: 500, toMs: 1000 }], EXCUSE).aftermath, []);
  });

  const earliness = [
    { name: 'while its lease must still be good', nextMs: 1200, stopped: paused, early: true },
    { name: 'after its lease can have ended', nextMs: 1600, stopped: paused, early: false },
    { name: 'after it went on', nextMs: 1200, stopped: { ...paused, toMs: 1100 }, early: false },
    { name: 'when it did not lead', nextMs: 1200, stopped: { ...paused, by: 'c' }, early: false },
    { name: 'long after it had led', nextMs: 1200, stopped: { ...paused, fromMs: 700 }, early: false },
  ];
  for (const { name, nextMs, stopped, early } of earliness) {
    it(`${early ? 'finds' : 'does not find'} that a leader which stood still was followed too early ${name}`, () => {
      const all = merged(claims('a', 0, 500), claims('b', nextMs, nextMs));
      const found = earlyLeaders(all, [stopped], () => 1000);
      assert.deepEqual(found, early ? [{ stopped: 'a', next: 'b', afterMs: 700 }] : []);
    });
  }

  it('measures each hand-over from the last claim to the first, and none where the leader stays', () => {
    const tenures = tenuresOf(merged(claims('a', 0, 500), claims('a', 2000, 2500), claims('b', 5500, 6000)));
    assert.deepEqual(handoversOf(tenures), [{ from: 'a', to: 'b', ms: 3000 }]);
  });

  it('takes the middle, or the mean of the two middle ones', () => {
    assert.equal(median([9, 1, 2]), 2);
    assert.equal(median([9, 1, 2, 4]), 3);
  });
});
