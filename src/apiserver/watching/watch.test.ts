import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { WatchWorld } from '../../../test/support/watch-world.ts';
import { StatusError } from '../status.ts';

const LABELLED = { metadata: { labels: { app: 'x' } } };
const MATCH = 'resourceVersionMatch=NotOlderThan';

describe('start of a watch', () => {
  it('apiserver/T1: answers 200 at once with JSON lines, one write for all changes of a commit', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch();
    assert.equal(watch.answer.status, 200);
    assert.equal(watch.answer.headers['content-type'], 'application/json');
    await Promise.all([world.put('a/x'), world.put('a/y'), world.put('b/z')]);
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'ADDED a/y@3']);
    assert.equal(watch.sink.writes.length, 1);
    const [first] = watch.sink.lines;
    assert.equal(first?.object.kind, 'ConfigMap');
    assert.equal(first?.object.apiVersion, 'v1');
  });

  for (const query of ['', 'resourceVersion=0', 'resourceVersion=']) {
    it(`apiserver/T2: sends the state and then changes for "${query}", without a marker`, async () => {
      await using world = new WatchWorld();
      await world.put('a/x');
      await world.put('a/x');
      using watch = await world.watch({ query: `${query}&allowWatchBookmarks=true` });
      await world.put('a/y');
      assert.deepEqual(watch.sink.told, ['ADDED a/x@3', 'ADDED a/y@4']);
    });
  }

  it('apiserver/T2: sends every change after a revision', async () => {
    await using world = new WatchWorld();
    await world.put('a/x');
    const after = await world.put('a/x');
    await world.put('a/x');
    await world.remove('a/x');
    using watch = await world.watch({ query: `resourceVersion=${after}` });
    await world.put('a/x');
    assert.deepEqual(watch.sink.told, ['MODIFIED a/x@4', 'DELETED a/x@5', 'ADDED a/x@6']);
  });

  for (const revision of ['abc', '-1', '1.5']) {
    it(`apiserver/T2: refuses revision ${revision} with 400`, async () => {
      await using world = new WatchWorld();
      await assert.rejects(
        world.watch({ query: `resourceVersion=${revision}` }),
        (error) => error instanceof StatusError && error.code === 400,
      );
    });
  }

  it('apiserver/T3: a revision before the history gives one 410 and the end', async () => {
    await using world = new WatchWorld();
    for (let write = 0; write < 5; write++) await world.put('a/x');
    await world.store.compact(4);
    using watch = await world.watch({ query: 'resourceVersion=3' });
    assert.equal(watch.answer.status, 200);
    const { type, object } = watch.sink.lines[0] ?? assert.fail();
    assert.equal(type, 'ERROR');
    assert.deepEqual(
      [object.kind, object.code, object.reason, object.message],
      ['Status', 410, 'Expired', 'too old resource version: 3 (4)'],
    );
    assert.equal(watch.sink.lines.length, 1);
    assert.ok(watch.sink.hasEnded);
  });

  it('reliability/P18: resumes at every revision that is kept, also at that of the compaction, else 410', async () => {
    await using world = new WatchWorld();
    for (let write = 0; write < 5; write++) await world.put('a/x');
    await world.store.compact(4);
    const told: (readonly string[])[] = [];
    for (const revision of [3, 4, 5, 6]) {
      using watch = await world.watch({ query: `resourceVersion=${revision}` });
      told.push(watch.sink.told);
    }
    assert.deepEqual(told, [['ERROR 410'], ['MODIFIED a/x@5', 'MODIFIED a/x@6'], ['MODIFIED a/x@6'], []]);
  });

  it('apiserver/T4: waits in silence for a revision in the future, then sends only what is later', async () => {
    await using world = new WatchWorld();
    await world.put('a/x');
    using watch = await world.watch({ query: 'resourceVersion=4&allowWatchBookmarks=true&timeoutSeconds=100' });
    await world.put('a/x');
    await world.clock.advance(61_000);
    assert.deepEqual(watch.sink.told, []);
    await world.put('a/x');
    await world.put('a/x');
    assert.deepEqual(watch.sink.told, ['MODIFIED a/x@5']);
    await world.clock.advance(39_000);
    assert.ok(watch.sink.hasEnded);
  });

  it('apiserver/T12: watches one object, by selector or by the old path', async () => {
    await using world = new WatchWorld();
    using selected = await world.watch({ query: 'fieldSelector=metadata.name%3Dx' });
    using named = await world.watch({ path: '/api/v1/watch/namespaces/a/configmaps/x' });
    using everywhere = await world.watch({
      path: '/api/v1/configmaps',
      query: 'fieldSelector=metadata.name%3Dx',
    });
    await world.put('a/x');
    await world.put('a/xy');
    await world.put('b/x');
    assert.deepEqual(selected.sink.told, ['ADDED a/x@2']);
    assert.deepEqual(named.sink.told, ['ADDED a/x@2']);
    assert.deepEqual(everywhere.sink.told, ['ADDED a/x@2', 'ADDED b/x@4']);
    using later = await world.watch({ query: 'fieldSelector=metadata.name%3Dx' });
    assert.deepEqual(later.sink.told, ['ADDED a/x@2']);
  });

  it('lab/E5: watches the pods of one node, which come when they are bound, and those of none, which go then', async () => {
    await using world = new WatchWorld();
    const path = '/api/v1/pods';
    using one = await world.watch({ path, query: 'fieldSelector=spec.nodeName%3Dw-1' });
    using nowhere = await world.watch({ path, query: 'fieldSelector=spec.nodeName%3D' });
    const put = (name: string, spec: Readonly<Record<string, string>>) =>
      world.put(name, { spec }, `core/pods/${name}`);
    await put('a/x', {});
    await put('a/y', { nodeName: 'w-2' });
    await put('a/x', { nodeName: 'w-1' });
    await put('a/x', { nodeName: 'w-1', more: '' });
    assert.deepEqual(one.sink.told, ['ADDED a/x@4', 'MODIFIED a/x@5']);
    assert.deepEqual(nowhere.sink.told, ['ADDED a/x@2', 'DELETED a/x@4']);
  });

  it('apiserver/I6: a watch of a namespace or of a name is not asked about anything else', async () => {
    await using world = new WatchWorld();
    const asked: string[] = [];
    const { store } = world;
    const subscribe = store.subscribe.bind(store);
    store.subscribe = (prefix, listener) => {
      asked.push(prefix);
      return subscribe(prefix, listener);
    };
    using _first = await world.watch();
    using _second = await world.watch({ query: 'fieldSelector=metadata.name%3Dx' });
    using _third = await world.watch({ path: '/api/v1/nodes', query: 'fieldSelector=metadata.name%3Dn' });
    assert.deepEqual(asked, [
      '/registry/core/configmaps/a/',
      '/registry/core/configmaps/a/x',
      '/registry/core/nodes/n',
    ]);
  });
});

describe('changes of a watch', () => {
  it('apiserver/T6: an object enters, stays in and leaves a selection', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch({ query: 'labelSelector=app%3Dx' });
    await world.put('a/x', { data: { n: '1' } });
    await world.put('a/x', { ...LABELLED, data: { n: '2' } });
    await world.put('a/x', { ...LABELLED, data: { n: '3' } });
    await world.put('a/x', { data: { n: '4' } });
    await world.put('a/x', { data: { n: '5' } });
    assert.deepEqual(watch.sink.told, ['ADDED a/x@3', 'MODIFIED a/x@4', 'DELETED a/x@5']);
    const last = watch.sink.lines.at(-1)?.object;
    assert.deepEqual(last.data, { n: '3' }, 'the last state that matched');
    assert.deepEqual(last.metadata.labels, { app: 'x' });
    assert.equal(last.kind, 'ConfigMap');
  });

  it('apiserver/T7: a deletion carries the last state and its own revision', async () => {
    await using world = new WatchWorld();
    await world.put('a/x', { ...LABELLED, data: { n: '1' } });
    using all = await world.watch({ query: 'resourceVersion=2' });
    using selected = await world.watch({ query: 'resourceVersion=2&labelSelector=app' });
    using other = await world.watch({ query: 'resourceVersion=2&labelSelector=other' });
    await world.remove('a/x');
    for (const { sink } of [all, selected]) {
      assert.deepEqual(sink.told, ['DELETED a/x@3']);
      assert.deepEqual(sink.lines[0]?.object.data, { n: '1' });
    }
    assert.deepEqual(other.sink.told, []);
  });

  it('apiserver/I5: fifty watchers of one change share one encoding and one copy', async () => {
    await using world = new WatchWorld();
    using stack = new DisposableStack();
    const watches = await Promise.all(Array.from({ length: 50 }, () => world.watch()));
    for (const watch of watches) stack.use(watch);
    const [first] = watches;
    await world.put('a/x');
    assert.equal(world.watches.framesEncoded, 1);
    await Promise.all([world.put('a/x'), world.put('a/y'), world.put('a/z')]);
    assert.equal(world.watches.framesEncoded, 4);
    for (const { sink } of watches) {
      assert.equal(sink.writes.length, 2);
      assert.equal(sink.writes[0], first?.sink.writes[0]);
      assert.equal(sink.writes[1], first?.sink.writes[1]);
    }
    assert.equal(world.counted.sent, 200);
  });

  it('apiserver/I5: forms are encoded once each', async () => {
    await using world = new WatchWorld();
    const accept = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
    using stack = new DisposableStack();
    for (const form of [undefined, accept, accept, undefined]) {
      stack.use(await world.watch(form === undefined ? {} : { accept: form }));
    }
    await world.put('a/x');
    assert.equal(world.watches.framesEncoded, 2);
  });

  it('apiserver/I4: watches that start in the past are served from the history', async () => {
    await using world = new WatchWorld();
    for (let write = 0; write < 400; write++) await world.put(`a/x${write % 7}`);
    const expected = Array.from({ length: 300 }, (_, index) => `MODIFIED a/x${(index + 100) % 7}@${102 + index}`);
    using watch = await world.watch({ query: 'resourceVersion=101' });
    assert.deepEqual(watch.sink.told, expected);
  });
});

describe('bookmarks', () => {
  it('apiserver/T8: come every minute and before the end, with nothing but the revision', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch({ query: 'resourceVersion=1&allowWatchBookmarks=true&timeoutSeconds=130' });
    using without = await world.watch({ query: 'resourceVersion=1&timeoutSeconds=130' });
    await world.put('a/x');
    await world.put('b/y');
    await world.clock.advance(59_999);
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2']);
    await world.clock.advance(1);
    assert.deepEqual(watch.sink.lines.at(-1), {
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: '3' } },
    });
    await world.clock.advance(67_999);
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'BOOKMARK@3', 'BOOKMARK@3']);
    await world.clock.advance(1);
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'BOOKMARK@3', 'BOOKMARK@3', 'BOOKMARK@3']);
    assert.deepEqual(without.sink.told, ['ADDED a/x@2']);
  });

  it('reliability/P19: a bookmark comes after every change it speaks of', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch({ query: 'resourceVersion=1&allowWatchBookmarks=true' });
    await world.clock.advance(59_999);
    const writing = Array.from({ length: 20 }, (_, index) => world.put(`a/x${index}`));
    await world.clock.advance(1);
    await Promise.all(writing);
    const at = watch.sink.told.findIndex((line) => line.startsWith('BOOKMARK'));
    const bookmarked = Number(watch.sink.told[at]?.split('@')[1]);
    const later = watch.sink.told.slice(at + 1).map((line) => Number(line.split('@')[1]));
    assert.ok(at >= 0);
    assert.deepEqual(
      watch.sink.told.slice(0, at),
      Array.from({ length: bookmarked - 1 }, (_, index) => `ADDED a/x${index}@${index + 2}`),
    );
    assert.ok(later.every((revision) => revision > bookmarked));
  });

  const variants = [
    { query: `sendInitialEvents=true&${MATCH}`, told: ['ADDED a/x@2', 'ADDED a/y@4'] },
    {
      query: `sendInitialEvents=true&${MATCH}&allowWatchBookmarks=true`,
      told: ['ADDED a/x@2', 'BOOKMARK@3', 'ADDED a/y@4'],
    },
    {
      query: `sendInitialEvents=true&${MATCH}&allowWatchBookmarks=true&resourceVersion=3&labelSelector=no`,
      told: ['BOOKMARK@3'],
    },
    { query: `sendInitialEvents=false&${MATCH}&resourceVersion=0`, told: ['ADDED a/y@4'] },
    { query: `sendInitialEvents=false&${MATCH}`, told: ['ADDED a/y@4'] },
    { query: `sendInitialEvents=false&${MATCH}&resourceVersion=1`, told: ['ADDED a/x@2', 'ADDED a/y@4'] },
  ];
  for (const { query, told } of variants) {
    it(`apiserver/T9: ${query} starts as it says`, async () => {
      await using world = new WatchWorld();
      await world.put('a/x');
      await world.put('b/z');
      using watch = await world.watch({ query });
      await world.put('a/y');
      assert.deepEqual(watch.sink.told, told);
    });
  }

  it('apiserver/T9: the marker carries the annotation', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch({ query: `sendInitialEvents=true&${MATCH}&allowWatchBookmarks=true` });
    assert.deepEqual(watch.sink.lines, [
      {
        type: 'BOOKMARK',
        object: {
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: { resourceVersion: '1', annotations: { 'k8s.io/initial-events-end': 'true' } },
        },
      },
    ]);
  });

  for (const query of ['sendInitialEvents=true', MATCH, 'sendInitialEvents=true&resourceVersionMatch=Exact']) {
    it(`apiserver/T9: refuses ${query} with 422`, async () => {
      await using world = new WatchWorld();
      await assert.rejects(world.watch({ query }), (error) => error instanceof StatusError && error.code === 422);
    });
  }

  it('apiserver/T9: waits until the state is as new as asked', async () => {
    await using world = new WatchWorld();
    const query = `sendInitialEvents=true&${MATCH}&resourceVersion=2&allowWatchBookmarks=true`;
    const opening = world.watch({ query });
    await world.put('a/x');
    using watch = await opening;
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2', 'BOOKMARK@2']);
  });
});

describe('end of a watch', () => {
  it('apiserver/T5: comes when the client asked for it', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch({ query: 'timeoutSeconds=2' });
    await world.put('a/x');
    await world.clock.advance(1999);
    assert.ok(!watch.sink.hasEnded);
    await world.clock.advance(1);
    assert.ok(watch.sink.hasEnded && !watch.sink.isBroken);
    await world.put('a/y');
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2']);
  });

  it('apiserver/T5: comes between half an hour and an hour otherwise, not for all at once', async () => {
    await using world = new WatchWorld();
    using stack = new DisposableStack();
    const watches = await Promise.all(Array.from({ length: 20 }, () => world.watch()));
    for (const watch of watches) stack.use(watch);
    const ended = () => watches.filter(({ sink }) => sink.hasEnded).length;
    await world.clock.advance(1_799_000);
    assert.equal(ended(), 0);
    await world.clock.advance(900_000);
    assert.ok(ended() > 0 && ended() < 20, `${ended()} ended in the middle`);
    await world.clock.advance(901_000);
    assert.equal(ended(), 20);
  });

  it('is counted, and leaves nothing behind', async () => {
    await using world = new WatchWorld();
    const watch = await world.watch({ query: 'allowWatchBookmarks=true' });
    assert.deepEqual([world.counted.open, world.watches.size], [1, 1]);
    const waiting = world.clock.nextDueMs;
    watch[Symbol.dispose]();
    watch[Symbol.dispose]();
    assert.deepEqual([world.counted.open, world.watches.size], [0, 0]);
    assert.notEqual(world.clock.nextDueMs, waiting, 'its timers are gone');
    await world.put('a/x');
    assert.deepEqual(watch.sink.told, []);
  });

  it('reliability/P13: a stopping server ends all of them cleanly, after what is due', async () => {
    await using world = new WatchWorld();
    using watch = await world.watch();
    await world.put('a/x');
    world.watches.endAll();
    assert.ok(watch.sink.hasEnded && !watch.sink.isBroken);
    assert.deepEqual(watch.sink.told, ['ADDED a/x@2']);
  });
});
