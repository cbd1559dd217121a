import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Channel, type ChannelOptions } from './channel.ts';

describe('Channel', () => {
  it('runtime/Q2: of what is sent before anybody listens, the earliest time and the highest priority count', () => {
    const channel = new Channel();
    channel.send({ name: 'a' }, { afterMs: 5000, priority: 3 });
    channel.send({ name: 'a' });
    channel.send({ name: 'a' }, { afterMs: 3_600_000, priority: 1 });
    channel.send({ name: 'b' }, { afterMs: 10, priority: -100 });
    const heard: [string, ChannelOptions | undefined][] = [];
    channel.subscribe(({ name }, options) => void heard.push([name, options]));
    assert.deepEqual(heard, [
      ['a', { afterMs: 0, priority: 3 }],
      ['b', { afterMs: 10, priority: -100 }],
    ]);
  });
});
