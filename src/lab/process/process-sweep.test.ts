import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SystemClock } from '../../base/clock.ts';
import { sweep } from './process-sweep.ts';
import type { ProcessTable } from './process-table.ts';

describe('a sweep', () => {
  it('lab/P4: looks again when it could not see, and does not take that for the end', async () => {
    let looks = 0;
    const table: ProcessTable = {
      bootId: 'b',
      entries: async () => {
        looks++;
        if (looks < 3) throw new Error('too many open files');
        return [];
      },
      startTimeOf: async () => undefined,
      carrying: async () => [],
      usageOf: async () => ({ cpuMs: 0, rssBytes: 0 }),
    };
    const givenUp = new AbortController().signal;
    await sweep({ variables: ['X=1'] }, { table, clock: new SystemClock(), givenUp, onStuck: () => {} });
    assert.equal(looks, 3);
  });
});
