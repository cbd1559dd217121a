import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { RecentLooks } from './recent-looks.ts';

describe('what was looked at a short while ago', () => {
  it('is believed for its time and no longer', async () => {
    const clock = new VirtualClock();
    const looks = new RecentLooks({ clock, lifeMs: 1000 });
    assert.equal(looks.remainingMs('a', 'x'), 0);
    looks.remember('a', 'x');
    await clock.advance(400);
    assert.equal(looks.remainingMs('a', 'x'), 600);
    await clock.advance(600);
    assert.equal(looks.remainingMs('a', 'x'), 0);
  });

  it('is not believed when what it depends on is another', () => {
    const looks = new RecentLooks({ clock: new VirtualClock(), lifeMs: 1000 });
    looks.remember('a', [1, { b: 'c' }]);
    assert.equal(looks.remainingMs('a', [1, { b: 'c' }]), 1000);
    assert.equal(looks.remainingMs('a', [2, { b: 'c' }]), 0);
    assert.equal(looks.remainingMs('b', [1, { b: 'c' }]), 0);
  });

  it('forgets the oldest when there are too many', () => {
    const looks = new RecentLooks({ clock: new VirtualClock(), lifeMs: 1000, mostEntries: 2 });
    for (const uid of ['a', 'b', 'a', 'c']) looks.remember(uid, '');
    assert.deepEqual(
      ['a', 'b', 'c'].map((uid) => looks.remainingMs(uid, '')),
      [1000, 0, 1000],
    );
  });
});
