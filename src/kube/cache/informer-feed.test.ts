import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  added,
  BOAT,
  boat,
  bookmark,
  CacheWorld,
  eventText,
  failure,
  initialEnd,
  settle,
} from '../../../test/support/cache-world.ts';

describe('an informer', () => {
  it('is in another history when the server went back, or when it starts anew', async () => {
    await using world = new CacheWorld();
    const first = await world.synced(10, boat('a', { version: 5 }));
    const { history } = world.boats;
    world.server.stream.fail(failure(410, 'Expired'));
    await settle();
    world.server.stream.send(added(boat('a', { version: 5 })), initialEnd(10));
    await settle();
    assert.equal(world.boats.history, history);
    world.server.stream.fail(failure(410, 'Expired'));
    await settle();
    await world.clock.advance(5_000);
    await settle();
    world.server.stream.send(initialEnd(3));
    await settle();
    const restored = world.boats.history;
    assert.notEqual(restored, history);
    first[Symbol.dispose]();
    await world.clock.advance(30_000);
    assert.notEqual(world.boats.history, restored);
  });

  it('a handler that subscribes another one while it is told does not have it told twice', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    const late: string[] = [];
    const hasLate = () => late.length > 0;
    world.boats.subscribe(({ object }) => {
      if (object.metadata.name === 'b' && !hasLate()) {
        world.boats.subscribe((event) => void late.push(eventText(event)));
      }
    });
    await settle();
    world.server.stream.send(added(boat('b', { version: 11 })));
    await settle();
    assert.deepEqual(late, ['create a@5+', 'create b@11+']);
  });

  it('keeps nothing of what arrives after it was stopped', async () => {
    const world = new CacheWorld();
    const many = Array.from({ length: 9_000 }, (_, at) => boat(`b${at}`, { version: at + 1 }));
    await world.synced(10_000, ...many);
    await settle(20);
    // Takes some turns to be told everything, and the stream waits for that.
    world.boats.subscribe(() => {});
    world.server.stream.send(added(boat('x', { version: 10_001 })));
    world.server.stream.send(added(boat('y', { version: 10_002 })));
    await settle(1);
    await world[Symbol.asyncDispose]();
    await settle();
    assert.equal(world.boats.health.objects, 0);
  });

  it('runtime/I21: asks nothing about own writes that its selector leaves out and the watch is past', async () => {
    await using world = new CacheWorld({ byKind: { 'boats.example.com': { labels: 'color=red' } } });
    await world.synced(10);
    for (let at = 0; at < 20; at++) world.cache.wrote(BOAT, boat(`b${at}`, { version: 11 + at }));
    world.server.stream.send(bookmark(40));
    await settle();
    await world.clock.advance(61_000);
    await settle();
    assert.deepEqual(world.server.gets, []);
    world.cache.wrote(BOAT, boat('late', { version: 50 }));
    await world.clock.advance(61_000);
    await settle();
    assert.deepEqual(world.server.gets, ['late']);
  });
});
