import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  BOAT,
  boat,
  bookmark,
  CacheWorld,
  failure,
  modified,
  removed,
  settle,
} from '../../../test/support/cache-world.ts';

const A = { namespace: 'sea', name: 'a' };

describe('own writes', () => {
  it('runtime/I20, sample case 10: a read after a write sees it, handlers only when the watch shows it', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.wrote(BOAT, boat('a', { version: 11, labels: { own: 'yes' } }));
    assert.equal(world.boats.get(A)?.metadata.resourceVersion, '11');
    assert.equal(world.boats.list({ labels: 'own=yes' }).length, 1);
    assert.deepEqual(world.taken(), []);
    world.server.stream.send(modified(boat('a', { version: 11, labels: { own: 'yes' } })));
    await settle();
    assert.deepEqual(world.taken(), ['update a@5>a@11']);
  });

  it('runtime/I20: tells the state last delivered as old, and late subscribers what the others know', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.wrote(BOAT, boat('a', { version: 12 }));
    world.cache.wrote(BOAT, boat('b', { version: 13 }));
    assert.deepEqual(world.names, ['a@12', 'b@13']);
    const late: string[] = [];
    world.boats.subscribe(
      ({ object }) => void late.push(`${object.metadata.name}@${object.metadata.resourceVersion}`),
    );
    await settle();
    assert.deepEqual(late, ['a@5']);
    world.server.stream.send(modified(boat('a', { version: 11 })));
    await settle();
    assert.deepEqual(world.names, ['a@12', 'b@13'], 'runtime/I21: an older event does not overwrite it');
    world.server.stream.send(modified(boat('a', { version: 12 })), modified(boat('b', { version: 13 })));
    await settle();
    assert.deepEqual(world.taken(), ['update a@5>a@11', 'update a@11>a@12', 'create b@13']);
  });

  it('runtime/I20: a deletion hides the object, and every later event of it', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.deleted(BOAT, A, undefined, 'uid-a');
    assert.equal(world.boats.get(A), undefined);
    world.server.stream.send(modified(boat('a', { version: 11 })));
    await settle();
    assert.equal(world.boats.get(A), undefined);
    world.server.stream.send(
      removed(boat('a', { version: 12 })),
      modified(boat('a', { version: 13, uid: 'next' })),
    );
    await settle();
    assert.deepEqual(world.names, ['a@13']);
    assert.deepEqual(world.taken(), ['update a@5>a@11', 'delete a@12', 'create a@13']);
  });

  it('runtime/I20: an answer that comes after newer news changes nothing', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.server.stream.send(modified(boat('a', { version: 12 })), removed(boat('a', { version: 13 })));
    await settle();
    world.cache.wrote(BOAT, boat('a', { version: 12 }));
    assert.deepEqual(world.names, []);
    world.cache.wrote(BOAT, boat('b', { version: 20, uid: 'gone' }));
    world.cache.deleted(BOAT, { namespace: 'sea', name: 'b' }, boat('b', { version: 20, uid: 'gone' }));
    world.cache.wrote(BOAT, boat('b', { version: 21, uid: 'gone' }));
    assert.deepEqual(world.names, []);
    world.cache.wrote(BOAT, boat('b', { version: 30, uid: 'next' }));
    world.cache.deleted(BOAT, { namespace: 'sea', name: 'b' }, boat('b', { version: 20, uid: 'old' }));
    assert.deepEqual(world.names, ['b@30']);
  });

  it('runtime/I20: does not freeze or share what the writer holds', async () => {
    await using world = new CacheWorld();
    await world.synced(10);
    const written = { ...boat('a', { version: 11 }), spec: { crew: 1 } };
    world.cache.wrote(BOAT, written);
    written.spec.crew = 2;
    assert.deepEqual({ ...world.boats.get(A) }['spec' as 'kind'], { crew: 1 });
  });

  it('runtime/I20: shows only what the selectors and namespaces of the informer let in', async () => {
    await using world = new CacheWorld({
      byKind: { 'boats.example.com': { labels: 'app=web', fields: 'metadata.name!=z', namespaces: ['sea'] } },
    });
    await world.synced(10, boat('a', { version: 5, labels: { app: 'web' } }));
    world.cache.wrote(BOAT, boat('a', { version: 11 }));
    world.cache.wrote(BOAT, boat('z', { version: 12, labels: { app: 'web' } }));
    world.cache.wrote(BOAT, boat('c', { version: 13, labels: { app: 'web' }, namespace: 'lake' }));
    world.cache.deleted(BOAT, { namespace: 'lake', name: 'c' }, undefined);
    assert.deepEqual(world.names, []);
  });

  it('runtime/I21: asks the server about a write that the watch does not show within a minute', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.wrote(BOAT, boat('a', { version: 11 }));
    world.server.onGet = () => boat('a', { version: 12 });
    await world.clock.advance(59_000);
    assert.deepEqual(world.server.gets, []);
    await world.clock.advance(1_000);
    assert.deepEqual(world.server.gets, ['a']);
    assert.deepEqual(world.names, ['a@12'], 'newer than the write');
    assert.deepEqual(world.taken(), [], 'the watch is behind, its event will come');
    world.server.stream.send(bookmark(20));
    await settle();
    await world.clock.advance(61_000);
    const changes = ['update a@5>a@11', 'update a@11>a@12'];
    assert.deepEqual(world.taken(), changes, 'the watch is past it: the events were lost, and readers saw both');
    await world.clock.advance(200_000);
    assert.equal(world.server.gets.length, 2);
  });

  it('runtime/I21: finds out that what was written is gone, and that what was deleted is not', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }), boat('b', { version: 6 }));
    world.cache.wrote(BOAT, boat('a', { version: 7 }));
    world.cache.deleted(BOAT, { namespace: 'sea', name: 'b' }, undefined);
    world.server.onGet = (name) => {
      if (name === 'a') throw failure(404, 'NotFound');
      return boat('b', { version: 9 });
    };
    world.server.stream.send(bookmark(20));
    await settle();
    await world.clock.advance(61_000);
    assert.deepEqual(world.names, ['b@9']);
    assert.deepEqual(world.taken(), ['update a@5>a@7', 'delete a@7?', 'update b@6>b@9']);
  });

  it('runtime/I21: keeps a write when the server cannot be asked, and asks again', async () => {
    await using world = new CacheWorld();
    await world.synced(10);
    world.cache.wrote(BOAT, boat('a', { version: 11 }));
    world.server.onGet = () => {
      throw failure(503, 'ServiceUnavailable');
    };
    await world.clock.advance(62_000);
    assert.deepEqual(world.names, ['a@11']);
    world.server.onGet = () => {
      throw failure(404, 'NotFound');
    };
    await world.clock.advance(5_000);
    assert.deepEqual(world.names, []);
    assert.ok(world.server.gets.length >= 2);
  });

  it('runtime/I22: shows nothing of it with eventual consistency', async () => {
    await using world = new CacheWorld({ consistency: 'eventual' });
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.wrote(BOAT, boat('a', { version: 11 }));
    world.cache.deleted(BOAT, A, undefined);
    assert.deepEqual(world.names, ['a@5']);
  });

  it('reliability/P24: a list that is older than an own write does not take it away, a newer one does', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.wrote(BOAT, boat('a', { version: 15 }));
    world.cache.wrote(BOAT, boat('b', { version: 30 }));
    world.server.stream.fail(failure(410, 'Expired'));
    await settle();
    world.server.stream.send(modified(boat('a', { version: 5 })), bookmark(14, true));
    await settle();
    assert.deepEqual(world.names, ['a@15', 'b@30']);
    world.server.stream.fail(failure(410, 'Expired'));
    await settle();
    await world.clock.advance(5_000);
    world.server.stream.send(modified(boat('a', { version: 15 })), bookmark(31, true));
    await settle();
    assert.deepEqual(world.names, ['a@15']);
    // b was seen by readers and is gone, though no watch showed it: without events nobody would make it again.
    assert.deepEqual(world.taken(), ['create b@30', 'delete b@30?', 'update a@5>a@15']);
  });

  it('reliability/P23: tells of every own write that readers saw, though the next list has only the last one', async () => {
    await using world = new CacheWorld();
    await world.synced(10, boat('a', { version: 5 }));
    world.cache.wrote(BOAT, boat('a', { version: 11, labels: { team: 'red' } }));
    world.cache.wrote(BOAT, boat('a', { version: 12, labels: { team: 'blue' } }));
    world.server.stream.fail(failure(410, 'Expired'));
    await settle();
    world.server.stream.send(modified(boat('a', { version: 12, labels: { team: 'blue' } })), bookmark(20, true));
    await settle();
    // Whoever counts the red ones may have counted this one.
    assert.deepEqual(world.taken(), ['update a@5>a@11', 'update a@11>a@12']);
  });

  it('a write before the informer starts makes a first list from memory at least as new', async () => {
    await using world = new CacheWorld();
    const { boats } = world;
    world.cache.wrote(BOAT, boat('a', { version: 77 }));
    world.server.onWatch = ({ sendInitialEvents }) => {
      if (sendInitialEvents === true) throw failure(422, 'Invalid');
    };
    boats.subscribe(() => {});
    await settle();
    assert.equal(world.server.lists[0]?.resourceVersion, '77');
    assert.equal(world.server.lists[0]?.resourceVersionMatch, 'NotOlderThan');
  });
});
