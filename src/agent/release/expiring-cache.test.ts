import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { ExpiringCache } from './expiring-cache.ts';

describe('ExpiringCache', () => {
  it('forgets the oldest entry when there are too many', async () => {
    const cache = new ExpiringCache<string>({ clock: new VirtualClock(), lifeMs: Infinity, mostEntries: 2 });
    const found: string[] = [];
    const get = (key: string) => cache.get(key, async () => String(found.push(key)));
    for (const key of ['a', 'b', 'a', 'c', 'b', 'a']) await get(key);
    assert.deepEqual(found, ['a', 'b', 'c', 'a']);
  });

  it('does not remember failures', async () => {
    const cache = new ExpiringCache<string>({ clock: new VirtualClock(), lifeMs: Infinity, mostEntries: 2 });
    await assert.rejects(cache.get('a', () => Promise.reject(new Error('no'))));
    assert.equal(await cache.get('a', async () => 'yes'), 'yes');
  });
});
