import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { ImagesWatch } from './images-watch.ts';

describe('ImagesWatch', () => {
  it('operator/R10: tells of each new text, of one that cannot be read, and of nothing else', async () => {
    const clock = new VirtualClock();
    let text: string | undefined = '{}';
    const read = () => (text === undefined ? Promise.reject(new Error('no such file')) : Promise.resolve(text));
    const key = { name: 'cloud-controller-manager' };
    const watch = new ImagesWatch({ read, clock, key });
    const told: unknown[] = [];
    using _subscription = watch.changes.subscribe((one) => told.push(one));
    const stop = new AbortController();
    const running = watch.run(stop.signal);
    const pass = async () => {
      for (let turn = 0; turn < 4; turn++) await clock.advance(15_000);
    };
    await pass();
    assert.deepEqual(told, []);
    for (const next of ['{"a":"b"}', undefined, '{"a":"b"}']) {
      text = next;
      await pass();
    }
    assert.deepEqual(told, [key, key, key]);
    stop.abort();
    await running;
  });
});
