import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  added,
  boat,
  bookmark,
  CacheWorld,
  failure,
  initialEnd,
  listOf,
  modified,
  removed,
  settle,
} from '../../../test/support/cache-world.ts';
import { NetworkError } from '../client/api-error.ts';

const cut = () => new NetworkError('connection reset', { mayHaveHappened: false });

describe('start of a reflector', () => {
  it('runtime/I1: asks for the initial state as a watch, with bookmarks, a random timeout and a limit of silence', async () => {
    await using world = new CacheWorld();
    world.subscribe();
    await settle();
    const { signal: _, timeoutSeconds = 0, ...options } = world.server.stream.options;
    assert.deepEqual(options, {
      sendInitialEvents: true,
      resourceVersionMatch: 'NotOlderThan',
      resourceVersion: '',
      allowBookmarks: true,
      silenceMs: 90_000,
    });
    assert.ok(timeoutSeconds >= 300 && timeoutSeconds <= 600);
  });

  it('runtime/I2: shows and tells nothing before the end bookmark, then everything at once', async () => {
    await using world = new CacheWorld();
    world.subscribe();
    await settle();
    world.server.stream.send(added(boat('a', { version: 5 })), added(boat('b', { version: 3 })));
    world.server.stream.send(modified(boat('a', { version: 6 })), removed(boat('b', { version: 7 })));
    await settle();
    assert.deepEqual(world.told, []);
    assert.throws(() => world.names, /have not been read yet/);
    world.server.stream.send(added(boat('c', { version: 8 })), initialEnd(9));
    await settle();
    assert.deepEqual(world.told, ['create a@6+', 'create c@8+']);
    assert.deepEqual(world.names, ['a@6', 'c@8']);
  });

  it('runtime/I3: takes the version from the end bookmark, from events and from bookmarks, not from initial events', async () => {
    await using world = new CacheWorld();
    world.subscribe();
    await settle();
    world.server.stream.send(added(boat('a', { version: 50 })));
    await settle();
    assert.equal(world.boats.resourceVersion, '');
    world.server.stream.send(initialEnd(60));
    await settle();
    assert.equal(world.boats.resourceVersion, '60');
    world.server.stream.send(modified(boat('a', { version: 61 })));
    await settle();
    assert.equal(world.boats.resourceVersion, '61');
    world.server.stream.send(bookmark(99));
    await settle();
    assert.equal(world.boats.resourceVersion, '99');
  });

  for (const code of [400, 405, 422]) {
    it(`runtime/I1: lists for good when the server answers a watch-list with ${code}`, async () => {
      await using world = new CacheWorld();
      world.server.onWatch = ({ sendInitialEvents }) => {
        if (sendInitialEvents === true) throw failure(code, 'Invalid');
      };
      world.server.onList = () => listOf(10, [boat('a', { version: 5 })]);
      world.subscribe();
      await settle();
      assert.equal(world.server.lists[0]?.resourceVersion, '0');
      assert.equal(world.server.lists[0]?.limit, undefined);
      assert.equal(world.server.stream.options.resourceVersion, '10');
      assert.deepEqual(world.taken(), ['create a@5+']);
      world.server.stream.fail(failure(410, 'Expired'));
      await settle();
      assert.equal(world.server.lists.length, 2);
      assert.equal(world.server.lists[1]?.resourceVersion, '10');
      assert.equal(world.server.lists[1]?.resourceVersionMatch, 'NotOlderThan');
      assert.equal(world.server.lists[1]?.limit, 500);
      assert.equal(world.server.streams.filter(({ options }) => options.sendInitialEvents === true).length, 0);
      assert.deepEqual(world.complaints.length, 1);
    });
  }

  it('runtime/I1: lists when the end bookmark does not come for 30 s after the last event', async () => {
    await using world = new CacheWorld();
    world.server.onList = () => listOf(10, [boat('a', { version: 5 })]);
    world.subscribe();
    await settle();
    await world.clock.advance(20_000);
    world.server.stream.send(added(boat('a', { version: 5 })));
    await settle();
    await world.clock.advance(29_000);
    assert.equal(world.server.lists.length, 0);
    await world.clock.advance(1_000);
    await settle();
    assert.deepEqual(world.names, ['a@5']);
    assert.ok(world.server.streams[0]?.isClosed);
  });

  it('runtime/I1: lists when a second stream ends without the end bookmark', async () => {
    await using world = new CacheWorld();
    world.server.onList = () => listOf(10, [boat('a', { version: 5 })]);
    world.subscribe();
    await settle();
    world.server.stream.end();
    await settle();
    assert.equal(world.server.streams.length, 2);
    assert.equal(world.server.lists.length, 0);
    world.server.stream.end();
    await settle();
    assert.equal(world.server.lists.length, 1);
    assert.deepEqual(world.names, ['a@5']);
  });

  it('runtime/I10: lets others run every 1,000 events', async () => {
    await using world = new CacheWorld();
    const subscription = world.subscribe();
    await settle();
    const objects = Array.from({ length: 5_000 }, (_, at) => boat(`b${at}`, { version: at + 1 }));
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    world.server.stream.send(...objects.map(added), initialEnd(6_000));
    await subscription.synced;
    isDone = true;
    // Five for reading, five for telling.
    assert.ok(turns >= 9, `${turns} turns`);
    assert.equal(world.told.length, 5_000);
  });
});

describe('a stream of changes', () => {
  it('tells creations, updates with the state before, and deletions with the last state', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.server.stream.send(
      added(boat('b', { version: 11 })),
      modified(boat('a', { version: 12 })),
      removed(boat('b', { version: 13 })),
    );
    await settle();
    assert.deepEqual(world.told, ['create b@11', 'update a@5>a@12', 'delete b@13']);
  });

  it('tells a deletion and a creation when the uid is another one', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.server.stream.send(modified(boat('a', { version: 12, uid: 'other' })));
    await settle();
    assert.deepEqual(world.told, ['delete a@5?', 'create a@12']);
  });

  it('runtime/I7: ignores an event that is not newer than what is stored, also across a change of length', async () => {
    await using world = new CacheWorld();
    await world.synced(100, boat('a', { version: 100 }));
    world.server.stream.send(
      modified(boat('a', { version: 100 })),
      modified(boat('a', { version: 99 })),
      modified(boat('a', { version: 101 })),
      modified(boat('a', { version: 101 })),
    );
    await settle();
    assert.deepEqual(world.told, ['update a@100>a@101']);
    assert.deepEqual(world.complaints, []);
  });

  it('runtime/I4: goes on at the last version at once when the server ends the stream', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    await world.clock.advance(400_000);
    world.server.stream.send(modified(boat('a', { version: 12 })));
    world.server.stream.end();
    await settle();
    const { resourceVersion, sendInitialEvents } = world.server.stream.options;
    assert.deepEqual(
      { resourceVersion, sendInitialEvents },
      { resourceVersion: '12', sendInitialEvents: undefined },
    );
    assert.equal(world.server.streams.length, 2);
    assert.deepEqual(world.complaints, []);
    world.server.stream.send(modified(boat('a', { version: 13 })));
    await settle();
    assert.deepEqual(world.told, ['update a@5>a@12', 'update a@12>a@13']);
    assert.equal(world.boats.health.reconnects, 1);
  });

  it('sample case 6: a stream that is cut goes on after the last whole event, nothing is told twice', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.server.stream.send(modified(boat('a', { version: 12 })));
    world.server.stream.fail(cut());
    await settle();
    assert.equal(world.server.stream.options.resourceVersion, '12');
    world.server.stream.send(modified(boat('a', { version: 12 })), modified(boat('a', { version: 13 })));
    await settle();
    assert.deepEqual(world.told, ['update a@5>a@12', 'update a@12>a@13']);
    assert.equal(world.boats.health.relists, 0);
  });

  it('stops and closes its stream when the signal aborts', async () => {
    const world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    await world.stop();
    assert.ok(world.server.stream.isClosed);
    assert.equal(world.clock.nextDueMs, undefined);
    assert.deepEqual(world.complaints, []);
  });
});
