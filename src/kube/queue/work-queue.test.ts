import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '../../base/clock.ts';
import { ItemBackoff, slowestOf } from './rate-limiter.ts';
import { TokenBucket } from './token-bucket.ts';
import { LOW_PRIORITY, WorkQueue, type WorkQueueOptions } from './work-queue.ts';

function setup(options: Partial<WorkQueueOptions> = {}) {
  const clock = new VirtualClock();
  const queue = new WorkQueue({ clock, ...options });
  const take = async () => (await queue.get())?.key;
  /** Takes and finishes everything that is ready. */
  const takeAll = async () => {
    const keys: string[] = [];
    while (queue.activity.ready > 0) {
      const key = (await take()) ?? '';
      keys.push(key);
      queue.done(key);
    }
    return keys;
  };
  return { clock, queue, take, takeAll };
}

describe('work queue: keys', () => {
  it('runtime/Q1: a priority and a delay that are no numbers count as none, and hand no key out twice', async () => {
    const { queue, take } = setup();
    queue.add('a', { priority: Number.NaN });
    queue.add('b', { afterMs: Number.NaN });
    assert.deepEqual([await take(), await take()], ['a', 'b']);
    assert.deepEqual(queue.activity, { ready: 0, waiting: 0, processing: 2 });
  });

  it('runtime/Q1: a key added 100 times before it is taken is handed out once (sample 1)', async () => {
    const { queue, takeAll } = setup();
    for (let count = 0; count < 100; count++) queue.add('a');
    assert.deepEqual(await takeAll(), ['a']);
    assert.deepEqual(queue.activity, { ready: 0, waiting: 0, processing: 0 });
  });

  it('runtime/Q1: a key added while in work is handed out once more, after done (sample 2)', async () => {
    const { queue, take, takeAll } = setup();
    queue.add('a');
    assert.equal(await take(), 'a');
    queue.add('a');
    queue.add('a');
    assert.deepEqual(queue.activity, { ready: 0, waiting: 0, processing: 1 });
    queue.done('a');
    assert.deepEqual(await takeAll(), ['a']);
  });

  it('runtime/Q1: a waiting get is served as soon as the key in work is done', async () => {
    const { queue, take } = setup();
    queue.add('a');
    await take();
    queue.add('a');
    const next = take();
    queue.done('a');
    assert.equal(await next, 'a');
  });

  it('ignores done for a key that is not in work', async () => {
    const { queue, takeAll } = setup();
    queue.add('a');
    queue.done('a');
    assert.deepEqual(await takeAll(), ['a']);
  });
});

describe('work queue: delays', () => {
  it('runtime/Q2: of several delays the earliest counts', async () => {
    const { clock, queue, takeAll } = setup();
    for (const afterMs of [30_000, 5000, 60_000]) queue.add('a', { afterMs });
    assert.deepEqual(queue.activity, { ready: 0, waiting: 1, processing: 0, nextReadyMs: 5000 });
    await clock.advance(4999);
    assert.deepEqual(await takeAll(), []);
    await clock.advance(1);
    assert.deepEqual(await takeAll(), ['a']);
    await clock.advance(100_000);
    assert.deepEqual(await takeAll(), []);
  });

  it('runtime/Q2: a plain add makes a waiting key ready now, and its delay is forgotten (sample 4)', async () => {
    const { clock, queue, takeAll } = setup();
    queue.add('a', { afterMs: 30_000 });
    await clock.advance(5000);
    queue.add('a');
    assert.deepEqual(await takeAll(), ['a']);
    await clock.advance(60_000);
    assert.deepEqual(await takeAll(), []);
  });

  it('runtime/Q2: a delay asked for while in work and an event in the same time make it ready when done', async () => {
    const { queue, take, takeAll } = setup();
    queue.add('a');
    await take();
    queue.add('a', { afterMs: 30_000 });
    queue.add('a', { isRateLimited: true });
    queue.add('a');
    queue.done('a');
    assert.deepEqual(await takeAll(), ['a']);
    assert.equal(queue.activity.waiting, 0);
  });

  it('runtime/Q5: keys whose delay ended come in the order in which they became ready', async () => {
    const { clock, queue, takeAll } = setup();
    const delays = { c: 300, a: 100, d: 400, b: 200 };
    for (const [key, afterMs] of Object.entries(delays)) queue.add(key, { afterMs });
    await clock.advance(250);
    queue.add('now');
    await clock.advance(250);
    assert.deepEqual(await takeAll(), ['a', 'b', 'now', 'c', 'd']);
  });

  it('runtime/Q8: a thousand delayed keys take one timer', async () => {
    const clock = new VirtualClock();
    let live = 0;
    const counting = {
      monotonicMs: () => clock.monotonicMs(),
      timer: (ms: number, fire: () => void) => {
        live++;
        const timer = clock.timer(ms, () => {
          live--;
          fire();
        });
        return { [Symbol.dispose]: () => (live--, timer[Symbol.dispose]()) };
      },
    };
    const queue = new WorkQueue({ clock: counting });
    for (let key = 1000; key > 0; key--) {
      queue.add(`${key}`, { afterMs: key });
      assert.equal(live, 1);
    }
    await clock.advance(1000);
    assert.equal(queue.activity.ready, 1000);
    assert.equal(live, 0);
  });
});

describe('work queue: rate limits', () => {
  it('runtime/Q3: delays double from 5 ms and start over after forget (sample 3)', async () => {
    const { clock, queue, take } = setup();
    const delayOfFailure = async () => {
      queue.add('a', { isRateLimited: true });
      const startMs = clock.monotonicMs();
      const delayMs = (queue.activity.nextReadyMs ?? 0) - startMs;
      await clock.advance(delayMs);
      queue.done((await take()) ?? '');
      return delayMs;
    };
    const delays = [];
    for (let failure = 0; failure < 4; failure++) delays.push(await delayOfFailure());
    assert.deepEqual(delays, [5, 10, 20, 40]);
    queue.forget('a');
    assert.equal(await delayOfFailure(), 5);
  });

  it('runtime/Q3: a delay never exceeds 1,000 s', () => {
    const backoff = new ItemBackoff();
    const delays = Array.from({ length: 2000 }, () => backoff.delayMs('a'));
    assert.equal(delays.at(-1), 1_000_000);
    assert.equal(backoff.delayMs('b'), 5);
  });

  it('runtime/Q3: the bucket lets 100 through at once, then 10 a second; the longer delay counts', async () => {
    const clock = new VirtualClock();
    const limiter = slowestOf(new ItemBackoff(), new TokenBucket({ clock }));
    const delays = Array.from({ length: 102 }, (_, key) => limiter.delayMs(`${key}`));
    assert.deepEqual([delays[0], delays[99], delays[100], delays[101]], [5, 5, 100, 200]);
    await clock.advance(60_000);
    limiter.forget('0');
    assert.deepEqual([limiter.delayMs('0'), limiter.delayMs('1')], [5, 10]);
  });

  it('takes the shorter of a given delay and the rate limit', () => {
    const { queue } = setup();
    queue.add('a', { isRateLimited: true, afterMs: 3 });
    assert.equal(queue.activity.nextReadyMs, 3);
    queue.add('b', { isRateLimited: true, afterMs: 1 });
    assert.equal(queue.activity.nextReadyMs, 1);
  });
});

describe('work queue: priorities', () => {
  it('runtime/Q4: the highest priority is first, and first in first out within one', async () => {
    const { queue, takeAll } = setup();
    const priorities = { low1: LOW_PRIORITY, a: 0, high: 7, low2: LOW_PRIORITY, b: 0 };
    for (const [key, priority] of Object.entries(priorities)) queue.add(key, { priority });
    assert.deepEqual(await takeAll(), ['high', 'a', 'b', 'low1', 'low2']);
  });

  it('runtime/Q4: a raised key goes to the end of its new priority, and is never lowered', async () => {
    const { queue, takeAll } = setup();
    queue.add('a', { priority: LOW_PRIORITY });
    queue.add('b');
    queue.add('c');
    queue.add('a');
    queue.add('b', { priority: LOW_PRIORITY });
    assert.deepEqual(await takeAll(), ['b', 'c', 'a']);
  });

  it('runtime/Q4: the highest priority of all adds counts for waiting keys and for keys in work', async () => {
    const { clock, queue, take, takeAll } = setup();
    queue.add('waiting', { priority: LOW_PRIORITY, afterMs: 10 });
    queue.add('waiting', { priority: 5, afterMs: 20 });
    queue.add('work');
    await take();
    queue.add('work', { priority: LOW_PRIORITY });
    queue.add('work', { priority: 6 });
    queue.add('plain');
    queue.done('work');
    await clock.advance(10);
    assert.deepEqual(await takeAll(), ['work', 'waiting', 'plain']);
  });

  it('runtime/Q4: a live change overtakes 10,000 keys of the initial list (sample 17)', async () => {
    const { queue, take } = setup();
    for (let key = 0; key < 10_000; key++) queue.add(`${key}`, { priority: LOW_PRIORITY });
    assert.equal(await take(), '0');
    queue.add('9999');
    assert.equal(await take(), '9999');
    assert.equal(await take(), '1');
  });

  it('runtime/Q6: after 100 keys that overtook it, the longest waiting lower key is served', async () => {
    const { clock, queue, takeAll } = setup();
    queue.add('lowest', { priority: LOW_PRIORITY });
    await clock.advance(1);
    for (let key = 0; key < 300; key++) queue.add(`${key}`, { priority: 1 });
    queue.add('zero');
    const order = await takeAll();
    assert.deepEqual([order.indexOf('lowest'), order.indexOf('zero')], [100, 201]);
  });

  it('keeps the order of a long lane when keys leave its middle', async () => {
    const { queue, takeAll } = setup();
    const keys = Array.from({ length: 5000 }, (_, key) => `${key}`);
    for (const key of keys) queue.add(key, { priority: 0 });
    const raised = keys.filter((_, index) => index % 7 === 3);
    for (const key of raised) queue.add(key, { priority: 1 });
    const rest = keys.filter((_, index) => index % 7 !== 3);
    assert.deepEqual((await takeAll()).toSorted(), [...raised, ...rest].toSorted());
    for (const key of rest) queue.add(key);
    assert.deepEqual(await takeAll(), rest);
  });
});

describe('work queue: shutdown', () => {
  it('runtime/Q7: ends waiting gets, drops what is queued, and takes nothing more', async () => {
    const { clock, queue, take } = setup();
    queue.add('in work');
    await take();
    const waiting = [take(), take()];
    queue.add('delayed', { afterMs: 5 });
    queue.shutdown();
    queue.add('late');
    queue.add('in work');
    assert.deepEqual(await Promise.all(waiting), [undefined, undefined]);
    queue.done('in work');
    assert.equal(await take(), undefined);
    assert.deepEqual(queue.activity, { ready: 0, waiting: 0, processing: 0 });
    assert.equal(clock.nextDueMs, undefined);
  });

  it('runtime/Q7: a drain hands out what is ready and resolves when all of it is done', async () => {
    const { clock, queue, take } = setup();
    for (const key of ['a', 'b']) queue.add(key);
    queue.add('delayed', { afterMs: 5 });
    await take();
    queue.add('a');
    let isDrained = false;
    const drained = queue.shutdownWithDrain().then(() => (isDrained = true));
    queue.add('late');
    assert.equal(await take(), 'b');
    queue.done('a');
    queue.done('b');
    assert.equal(await take(), 'a');
    await clock.advance(10);
    assert.equal(isDrained, false);
    queue.done('a');
    await drained;
    assert.equal(await take(), undefined);
  });

  it('a drain of an idle queue ends at once, and a shutdown ends a drain that nobody serves', async () => {
    await setup().queue.shutdownWithDrain();
    const { queue } = setup();
    queue.add('a');
    const drained = queue.shutdownWithDrain();
    queue.shutdown();
    await drained;
  });
});
