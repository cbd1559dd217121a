import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inParallel } from './in-parallel.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('inParallel', () => {
  it('begins items in order, so many at once, and at least one', async () => {
    for (const [concurrency, want] of [
      [0, 1],
      [1, 1],
      [3, 3],
      [50, 10],
    ] as const) {
      const begun: number[] = [];
      let [now, most] = [0, 0];
      await inParallel(Array(10).keys(), { concurrency }, async (item) => {
        begun.push(item);
        most = Math.max(most, ++now);
        await turn();
        now--;
      });
      assert.deepEqual([begun, most, now], [[...Array(10).keys()], want, 0]);
    }
  });

  it('ccm/B13: begins no more after a failure, and rejects with it when the others have ended', async () => {
    const begun: number[] = [];
    let ended = 0;
    const work = inParallel(Array(10).keys(), { concurrency: 2 }, async (item) => {
      begun.push(item);
      await turn();
      if (item === 2) throw new Error('no');
      await turn();
      ended++;
    });
    await assert.rejects(work, /^Error: no$/);
    assert.equal(ended, begun.length - 1);
    assert.ok(begun.length <= 4, begun.join());
  });

  it('ccm/B13: begins no more once the signal has aborted', async () => {
    const stop = new AbortController();
    const begun: number[] = [];
    await inParallel(Array(10).keys(), { concurrency: 2, signal: stop.signal }, async (item) => {
      begun.push(item);
      if (item === 3) stop.abort();
      await turn();
    });
    assert.deepEqual(begun, [0, 1, 2, 3]);
  });
});
