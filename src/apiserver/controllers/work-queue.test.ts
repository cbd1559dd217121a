import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { LostRace, WorkQueue } from './work-queue.ts';

function recorded() {
  const lines: string[] = [];
  const note = (_fields: unknown, message: string) => void lines.push(message);
  const log: Log = { error: note, warn: note, info: note, debug: note, child: () => log };
  return { log, lines };
}

describe('work queue', () => {
  it('works on a key once however often it is added before', async () => {
    const done: string[] = [];
    const { log } = recorded();
    await using queue = new WorkQueue({
      name: 'q',
      clock: new VirtualClock(),
      log,
      work: async (key) => void done.push(key),
    });
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    await queue.settled();
    assert.deepEqual(done, ['a', 'b']);
  });

  it('works on a key again that is added meanwhile, never twice at once', async () => {
    let running = 0;
    let runs = 0;
    const { log } = recorded();
    await using queue: WorkQueue = new WorkQueue({
      name: 'q',
      clock: new VirtualClock(),
      log,
      work: async (key) => {
        assert.equal(++running, 1);
        if (++runs < 3) queue.add(key);
        await Promise.resolve();
        running--;
      },
    });
    queue.add('a');
    await queue.settled();
    assert.equal(runs, 3);
  });

  it('works on a bounded number of keys at a time', async () => {
    let running = 0;
    let most = 0;
    const { log } = recorded();
    await using queue = new WorkQueue({
      name: 'q',
      clock: new VirtualClock(),
      log,
      concurrency: 3,
      work: async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
      },
    });
    for (let key = 0; key < 20; key++) queue.add(String(key));
    await queue.settled();
    assert.equal(most, 3);
  });

  it('reliability/P34: tries what fails again, ever later, while other keys go on', async () => {
    const clock = new VirtualClock();
    const { log, lines } = recorded();
    const times: number[] = [];
    let others = 0;
    await using queue = new WorkQueue({
      name: 'q',
      clock,
      log,
      work: async (key) => {
        if (key !== 'bad') return void others++;
        times.push(clock.monotonicMs());
        if (times.length < 4) throw new Error('no');
      },
    });
    queue.add('bad');
    queue.add('good');
    await queue.settled();
    assert.equal(others, 1);
    await clock.advance(1000);
    assert.deepEqual(times, [0, 5, 15, 35]);
    assert.equal(lines.length, 3);
    assert.equal(clock.nextDueMs, undefined);
  });

  it('says nothing about a lost race', async () => {
    const clock = new VirtualClock();
    const { log, lines } = recorded();
    let runs = 0;
    await using queue = new WorkQueue({
      name: 'q',
      clock,
      log,
      work: async () => {
        if (++runs === 1) throw new LostRace();
      },
    });
    queue.add('a');
    await queue.settled();
    await clock.advance(5);
    assert.equal(runs, 2);
    assert.deepEqual(lines, []);
  });

  it('leaves no timer and takes no work when it is disposed', async () => {
    const clock = new VirtualClock();
    const { log } = recorded();
    let runs = 0;
    const queue = new WorkQueue({
      name: 'q',
      clock,
      log,
      work: async () => {
        runs++;
        throw new Error('no');
      },
    });
    queue.add('a');
    await queue.settled();
    assert.notEqual(clock.nextDueMs, undefined);
    await queue[Symbol.asyncDispose]();
    queue.add('a');
    await clock.advance(60_000);
    assert.equal(runs, 1);
    assert.equal(clock.nextDueMs, undefined);
  });
});
