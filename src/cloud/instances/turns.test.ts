import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Turns } from './turns.ts';

const FOREVER = new AbortController().signal;

describe('turns', () => {
  it('ccm/B6: go to so many at once, to the others in the order in which they came', async () => {
    const turns = new Turns(2);
    const begun: number[] = [];
    let working = 0;
    let most = 0;
    const work = async (who: number) => {
      using _turn = await turns.take(FOREVER);
      begun.push(who);
      most = Math.max(most, ++working);
      await turn();
      working--;
    };
    await Promise.all([0, 1, 2, 3, 4].map(work));
    assert.deepEqual([begun, most], [[0, 1, 2, 3, 4], 2]);
    await work(5);
    assert.deepEqual(begun.at(-1), 5);
  });

  it('ccm/B13: are not waited for by who has left, and not lost with them', async () => {
    const turns = new Turns(1);
    const first = await turns.take(FOREVER);
    const stop = new AbortController();
    const left = assert.rejects(turns.take(stop.signal), /stopped/);
    const last = turns.take(FOREVER);
    stop.abort(new Error('stopped'));
    await left;
    first[Symbol.dispose]();
    (await last)[Symbol.dispose]();
    (await turns.take(FOREVER))[Symbol.dispose]();
    await assert.rejects(turns.take(stop.signal), /stopped/);
  });
});
