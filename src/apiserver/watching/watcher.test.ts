import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FakeSink, WatchWorld } from '../../../test/support/watch-world.ts';

const KIB = 1024;
/** A ConfigMap of about this many KiB. */
const sized = (kib: number) => ({ data: { big: 'x'.repeat(kib * KIB) } });
const stuck = (): FakeSink => {
  const sink = new FakeSink();
  sink.isReading = false;
  return sink;
};
const sizeOf = (sink: FakeSink): number => sink.writes.reduce((sum, { length }) => sum + length, 0);
const revisions = (sink: FakeSink): readonly number[] => sink.told.map((line) => Number(line.split('@')[1]));
const range = (from: number, to: number): readonly number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

describe('a slow client', () => {
  it('reliability/P20: costs a bounded buffer, and gets everything once it reads', async () => {
    await using world = new WatchWorld();
    using slow = await world.watch({ sink: stuck() });
    using fast = await world.watch();
    for (let write = 0; write < 60; write++) await world.put('a/x', sized(100));
    assert.ok(sizeOf(slow.sink) < 1300 * KIB, `${sizeOf(slow.sink)} bytes are queued`);
    assert.deepEqual(revisions(fast.sink), range(2, 61));
    for (let reads = 0; reads < 40; reads++) {
      slow.sink.take();
      await world.settled();
    }
    slow.sink.take({ andReadsOn: true });
    await world.settled();
    await world.put('a/y');
    assert.deepEqual(revisions(slow.sink), range(2, 62));
    assert.equal(world.counted.terminated, 0);
  });

  it('apiserver/T11: is given up when it takes nothing for 5 s while 1,000 changes wait; nothing is skipped', async () => {
    await using world = new WatchWorld();
    using slow = await world.watch({ sink: stuck() });
    using fast = await world.watch();
    for (let write = 0; write < 15; write++) await world.put('a/x', sized(100));
    await world.clock.advance(60_000);
    assert.ok(!slow.sink.isBroken, 'few changes wait, so it may take its time');
    for (let write = 0; write < 1000; write++) await world.put('a/y');
    assert.ok(!slow.sink.isBroken);
    await world.clock.advance(5000);
    assert.ok(slow.sink.isBroken && !slow.sink.hasEnded, 'the client sees that the stream is broken');
    assert.equal(world.counted.terminated, 1);
    const told = revisions(slow.sink);
    assert.deepEqual(told, range(2, told.length + 1));
    assert.deepEqual(revisions(fast.sink), range(2, 1016));
    slow[Symbol.dispose]();
    using again = await world.watch({ query: `resourceVersion=${told.at(-1)}` });
    assert.deepEqual(revisions(again.sink), range(told.length + 2, 1016));
  });

  it('reliability/P20: whose history is compacted meanwhile gets a 410, not a gap', async () => {
    await using world = new WatchWorld();
    using slow = await world.watch({ sink: stuck() });
    for (let write = 0; write < 20; write++) await world.put('a/x', sized(100));
    await world.store.compact(world.store.revision);
    slow.sink.take({ andReadsOn: true });
    await world.settled();
    const told = slow.sink.told;
    assert.equal(told.at(-1), 'ERROR 410');
    assert.deepEqual(revisions(slow.sink).slice(0, -1), range(2, told.length));
    assert.ok(slow.sink.hasEnded);
  });

  it('reliability/P19: gets no bookmark that overtakes what waits for it', async () => {
    await using world = new WatchWorld();
    using slow = await world.watch({ sink: stuck(), query: 'allowWatchBookmarks=true' });
    for (let write = 0; write < 20; write++) await world.put('a/x', sized(100));
    await world.clock.advance(60_000);
    assert.ok(!slow.sink.told.some((line) => line.startsWith('BOOKMARK')));
    for (let reads = 0; reads < 20; reads++) {
      slow.sink.take({ andReadsOn: true });
      await world.settled();
    }
    await world.clock.advance(60_000);
    assert.deepEqual(revisions(slow.sink), [...range(2, 21), 21]);
    assert.equal(slow.sink.told.at(-1), 'BOOKMARK@21');
  });

  it('apiserver/T5: is not waited for when its time is over', async () => {
    await using world = new WatchWorld();
    using slow = await world.watch({ sink: stuck(), query: 'timeoutSeconds=30' });
    for (let write = 0; write < 20; write++) await world.put('a/x', sized(100));
    await world.clock.advance(30_000);
    assert.ok(!slow.sink.hasEnded, 'what is due by now is still sent');
    await world.clock.advance(5000);
    assert.ok(slow.sink.isBroken);
  });

  it('a client that went away while it was waited for is forgotten', async () => {
    await using world = new WatchWorld();
    const slow = await world.watch({ sink: stuck() });
    for (let write = 0; write < 20; write++) await world.put('a/x', sized(100));
    const written = slow.sink.writes.length;
    slow[Symbol.dispose]();
    slow.sink.take();
    await world.clock.advance(10_000);
    assert.equal(slow.sink.writes.length, written);
    assert.equal(world.counted.terminated, 0);
  });
});

describe('the state at the start', () => {
  it('apiserver/T10: is sent as fast as the client takes it, and what changes meanwhile follows', async () => {
    await using world = new WatchWorld();
    for (let index = 10; index < 50; index++) await world.put(`a/x${index}`, sized(100));
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    using watch = await world.watch({ sink: stuck(), query });
    assert.ok(sizeOf(watch.sink) < 400 * KIB, `${sizeOf(watch.sink)} bytes at once`);
    await world.put('a/x10');
    await world.remove('a/x49');
    await world.put('a/z');
    for (let reads = 0; reads < 20; reads++) {
      watch.sink.take();
      await world.settled();
    }
    const told = watch.sink.told;
    assert.deepEqual(
      told.slice(0, 40),
      range(10, 49).map((index) => `ADDED a/x${index}@${index - 8}`),
    );
    assert.deepEqual(told.slice(40), ['BOOKMARK@41', 'MODIFIED a/x10@42', 'DELETED a/x49@43', 'ADDED a/z@44']);
  });

  it('reliability/P17: a long history is sent at the pace of the client, not cut off', async () => {
    await using world = new WatchWorld();
    for (let write = 0; write < 120; write++) await world.put('a/x', sized(100));
    using watch = await world.watch({ sink: stuck(), query: 'resourceVersion=1' });
    for (let reads = 0; reads < 100; reads++) {
      assert.ok(watch.sink.queuedBytes < 400 * KIB);
      watch.sink.take();
      await world.settled();
    }
    assert.deepEqual(revisions(watch.sink), range(2, 121));
  });
});

describe('many watchers', () => {
  it('reliability/P17: lose nothing when hundreds of them leave while events fly', async () => {
    await using world = new WatchWorld();
    using stack = new DisposableStack();
    const watches = await Promise.all(Array.from({ length: 300 }, () => world.watch()));
    const staying = watches.filter((_, index) => index % 3 === 0);
    for (const watch of staying) stack.use(watch);
    let next = 0;
    const { store } = world;
    // Each change sends some of them away, in the middle of being handed out.
    using _leaving = store.subscribe('/registry/core/configmaps/', () => {
      for (let left = 0; left < 10; next++) {
        if (next >= watches.length) return;
        if (next % 3 === 0) continue;
        watches[next]?.[Symbol.dispose]();
        left++;
      }
    });
    await Promise.all(Array.from({ length: 30 }, (_, index) => world.put(`a/x${index}`)));
    for (const { sink } of staying) assert.deepEqual(revisions(sink), range(2, 31));
    assert.equal(world.watches.size, 100);
  });
});
