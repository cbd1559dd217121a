import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OneAtATime } from './one-at-a-time.ts';

describe('one at a time', () => {
  it('begins when the one before has ended, however it ended', async () => {
    const door = new OneAtATime();
    const told: string[] = [];
    const first = Promise.withResolvers<void>();
    const all = [
      door.run(async () => {
        told.push('first in');
        await first.promise;
        told.push('first out');
        throw new Error('no');
      }),
      door.run(async () => void told.push('second')),
    ];
    await new Promise(setImmediate);
    assert.deepEqual(told, ['first in']);
    first.resolve();
    const [one, two] = await Promise.allSettled(all);
    assert.deepEqual([one?.status, two?.status], ['rejected', 'fulfilled']);
    assert.deepEqual(told, ['first in', 'first out', 'second']);
  });
});
